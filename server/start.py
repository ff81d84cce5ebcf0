"""How a game began: all that is needed to play it again from its journal."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from server.journal import Entry
from server.settings import RoomSettings


@dataclass(frozen=True, slots=True)
class Player:
    """Who a seat was given to. `house` is a house bot's spec, "" for a guest."""

    name: str
    house: str = ""
    games: int = 1  # games a guest still stays for, this one included; 0: no end
    secret_hash: str = ""  # of what a guest comes back with
    dialect: str = "mjai3p"  # of a guest, as is `reply`; see `engine.mjai.connection.Join`
    reply: str = "always"


@dataclass(frozen=True, slots=True)
class Start:
    """The first line of a journal."""

    id: str
    room: str
    settings: RoomSettings
    seed: int
    started: datetime
    players: tuple[Player, Player, Player]

    @property
    def names(self) -> tuple[str, str, str]:
        """The names of the three players."""
        first, second, third = self.players
        return first.name, second.name, third.name

    def entry(self) -> Entry:
        """As a line of the journal."""
        players = [asdict(player) for player in self.players]
        return {
            "id": self.id,
            "room": self.room,
            "settings": self.settings.model_dump(mode="json"),
            "seed": self.seed,
            "started": self.started.isoformat(),
            "players": players,
        }

    @classmethod
    def read(cls, entry: Entry) -> Start:
        """From a line of the journal. Raises ValueError, KeyError or TypeError for something else."""
        first, second, third = (Player(**player) for player in entry["players"])
        return cls(
            entry["id"],
            entry["room"],
            RoomSettings(**entry["settings"]),
            entry["seed"],
            datetime.fromisoformat(entry["started"]).astimezone(UTC),
            (first, second, third),
        )
