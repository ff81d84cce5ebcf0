"""How a game starts: everything needed to play it again from its journal."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from engine.mjai.connection import DIALECT, REPLY_MODE
from engine.mjai.keys import BOOL, COUNT, INTEGER, TEXT
from engine.rules import START_POINTS, Scores
from server.game.journal import Entry
from server.settings import RoomSettings
from server.stored_settings import restore_settings


@dataclass(frozen=True, slots=True)
class Player:
    """Who plays a seat: a connected bot, or a house bot from the start."""

    name: str
    house: str = ""  # spec of the house bot; "": a connected bot
    games: int = 1  # games a connected bot still stays for, this one included; 0: no limit
    secret_hash: str = ""  # SHA-256 of the secret that a connected bot may resume the game with
    dialect: str = "mjai3p"  # of a connected bot, as is `reply`; see `engine.mjai.connection.Join`
    reply: str = "always"
    score: int = START_POINTS  # at the start of the game
    absent: bool = False  # a bot that was not there when the game began: the house bot plays all of it


# Field of a player -> what it may be.
LAYOUT = "tenhou"  # of walls, `engine.table`: a game cannot go on with another, for its seed would deal other tiles
PLAYER = {
    "name": TEXT,
    "house": TEXT,
    "games": COUNT,
    "secret_hash": TEXT,
    "dialect": DIALECT,
    "reply": REPLY_MODE,
    "score": COUNT,
    "absent": BOOL,
}


@dataclass(frozen=True, slots=True)
class GameStart:
    """The first line of a journal."""

    id: str  # UUID, 32 hexadecimal digits
    room: str
    settings: RoomSettings
    seed: int  # of the walls, 64 bits
    started: datetime  # UTC
    players: tuple[Player, Player, Player]
    exhibition: bool = False  # played to be watched: neither stored, nor restored after a restart

    @property
    def names(self) -> tuple[str, str, str]:
        """The names of the three players."""
        first, second, third = self.players
        return first.name, second.name, third.name

    @property
    def scores(self) -> Scores:
        """What the three players start with."""
        first, second, third = self.players
        return first.score, second.score, third.score

    def entry(self) -> Entry:
        """As a line of the journal."""
        players = [asdict(player) for player in self.players]
        return {
            "id": self.id,
            "room": self.room,
            "settings": asdict(self.settings),
            "seed": self.seed,
            "layout": LAYOUT,
            "started": self.started.isoformat(),
            "players": players,
            "exhibition": self.exhibition,
        }

    @classmethod
    def read(cls, entry: Entry) -> GameStart:
        """From a line of the journal. Raises ValueError, KeyError, TypeError or OverflowError for anything else."""
        if entry.get("layout") != LAYOUT:
            raise ValueError("the game was begun with another version, which deals other walls for its seed")
        first, second, third = (
            Player(**{key: PLAYER[key].check(value) for key, value in player.items()}) for player in entry["players"]
        )
        if not all(player.name.isprintable() for player in (first, second, third)):
            raise ValueError("the name of a player is not printable")
        settings = restore_settings(entry["settings"])
        if sorted(settings.scores) != sorted(player.score for player in (first, second, third)):
            raise ValueError("the players start with other scores than the room's")
        return cls(
            TEXT.check(entry["id"]),
            TEXT.check(entry["room"]),
            settings,
            INTEGER.check(entry["seed"]),
            datetime.fromisoformat(entry["started"]).astimezone(UTC),
            (first, second, third),
            BOOL.check(entry.get("exhibition", False)),  # older journals have no exhibitions
        )
