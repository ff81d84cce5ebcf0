"""The models of what is stored: one class a table.

The columns of a table follow from the fields of its model (`server.store.tables`), and the HTTP API sends the same
models, so a new stored field is declared here and nowhere else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, computed_field

from engine.rules import START_POINTS
from server.names import HOUSE_BOT_SUFFIX

WEAKENED = re.compile(rf"@-\d+{re.escape(HOUSE_BOT_SUFFIX)}")  # in the name of a house bot below full strength
Item = TypeVar("Item")
Seat = TypeVar("Seat")
ThreeSeats = Annotated[tuple[Seat, Seat, Seat], Field(description="seats 0 to 2")]


def check_printable(name: str) -> str:
    """A player's name. Raises ValueError for one that is not printable: databases do not keep every such character."""
    if not name.isprintable():
        raise ValueError(f"name {name!r} is not printable")
    return name


class Model(BaseModel):
    """Base class of the models. Times have a time zone; times read from the store are in UTC."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)


# Games ----------------------------------------------------------------------------------------------------------------


class SeatScore(Model):
    """A player of a game and its score."""

    name: Annotated[str, AfterValidator(check_printable)]
    house_bot: bool = Field(description="a bot run by the server itself")
    score: int


class SeatResult(SeatScore):
    """The result of a game for one seat."""

    start_score: int = Field(START_POINTS, description="score at the start of the game")
    rank: int = Field(description="1 to 3; ranks are never shared")
    points: float = Field(description="final points, uma and oka included")
    penalty: float = Field(description="points deducted for faults, if the room has a fault penalty")
    faults: int
    taken_over: bool = Field(description="a house bot played the seat at the end of the game")
    absent: bool = Field(
        False, description="the bot was not there when the game began: a house bot played all of it, without rating"
    )
    cut_off: bool = Field(
        False,
        description="the server lost the end of the game's journal in a crash, and the bot could not come back: "
        "the game does not count for its rating",
    )


class Play(Model):
    """What a player did in the rounds of a game or of many: counts and sums, from which statistics are computed."""

    rounds: int = 0
    wins: int = 0
    tsumos: int = Field(0, description="wins by tsumo")
    win_points: int = Field(0, description="value of the hands won, without honba and riichi sticks")
    win_turns: int = Field(0, description="sum of the turns of the wins: a win in the first turn counts 1")
    deal_ins: int = Field(0, description="rounds in which others won on a tile of this player")
    deal_in_points: int = Field(0, description="value, likewise, of what the others won; a double ron is added up")
    riichis: int = Field(0, description="rounds with an accepted riichi")
    calls: int = Field(0, description="rounds with an open meld")
    draws: int = Field(0, description="rounds nobody won, abortive draws included")
    exhaustive_draws: int = Field(0, description="draws by the end of the wall")
    draws_tenpai: int = Field(0, description="exhaustive draws with a tenpai hand")
    nukidora: int = Field(0, description="norths set aside")


Casual = Annotated[bool, Field(description="it does not count for ratings: its room is so, or a bot was absent")]


class GameInfo(Model):
    """What is known of a game from its start."""

    id: str = Field(description="32 hexadecimal digits; the same while the game is played and afterwards")
    room: str
    rules: str = Field(description="name of the preset")
    length: str = Field(description="east or hanchan")
    started: datetime


class StoredGame(GameInfo):
    """A finished game."""

    casual: Casual = False
    finished: datetime
    rounds: int
    decisions: int
    seats: ThreeSeats[SeatResult]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def status(self) -> Literal["finished"]:
        """Always "finished"."""
        return "finished"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def rated(self) -> bool:
        """Whether the game counts for ratings: false if one name had two seats, unless it is that of a house bot.

        Nor does a game count that was `casual` or began with unequal scores, or in which a house bot played below its
        full strength: every strength would be a new player, whose rating begins at the mean. It does not count for
        those that were `cut_off`.
        """
        connected = [seat.name for seat in self.seats if not seat.house_bot]
        even = len({seat.start_score for seat in self.seats}) == 1
        full = not any(seat.house_bot and WEAKENED.search(seat.name) for seat in self.seats)
        counts = not self.casual and even and full and any(not seat.cut_off for seat in self.seats)
        return counts and len(set(connected)) == len(connected) and len({seat.name for seat in self.seats}) > 1


class FinishedGame(StoredGame):
    """A game to be stored, with its record. The record has a table of its own: lists of games do not read it."""

    record: bytes = Field(repr=False, description=".mjson.gz")
    plays: ThreeSeats[Play] | None = Field(None, description="seats 0 to 2; None: not counted yet")
    seeded: bool = Field(False, description="its room has a seed, from which its walls follow")


# Players --------------------------------------------------------------------------------------------------------------


class Rating(Model):
    """Skill as estimated by OpenSkill's Plackett-Luce model."""

    mu: float
    sigma: float = Field(description="uncertainty of mu (one standard deviation)")
    ordinal: float = Field(description="mu - 3 sigma; players are ranked by it")


class RatingPoint(Model):
    """A player's rating after one game."""

    number: int = Field(description="1 for the player's first rated game")
    game_id: str
    finished: datetime
    rating: Rating


class PlayerStats(Model):
    """Totals of a player over all finished games. A game in which the name had two seats counts twice.

    Games in which a house bot played for it from the start do not count; where there are no others, the means are null.
    """

    name: str
    house_bot: bool = Field(description="a bot run by the server itself")
    games: int = 0
    rated_games: int = 0
    firsts: int = 0
    seconds: int = 0
    thirds: int = 0
    points: float = Field(0.0, description="sum of final points, penalties deducted")
    faults: int = 0
    rating: Rating
    first_seen: datetime = Field(description="start of the first game")
    last_seen: datetime = Field(description="end of the latest game")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def mean_rank(self) -> float | None:
        """Mean rank, 1 to 3."""
        return mean(self.firsts + 2 * self.seconds + 3 * self.thirds, self.games)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def mean_points(self) -> float | None:
        """Final points per game, penalties deducted."""
        return mean(self.points, self.games)


def mean(total: float, number: int) -> float | None:
    """A mean; None of nothing."""
    return total / number if number else None


def per(total: str, number: str, text: str) -> Any:
    """A computed field, which is not stored: the mean of two counts of `Play`, by their names."""

    def compute(self: PlayerStatistics) -> float | None:
        return mean(getattr(self.play, total), getattr(self.play, number))

    return computed_field(description=text)(property(compute))


class PlayerStatistics(Model):
    """How a player finished and played some games, with the counts behind all rates.

    A game in which the name had two seats counts twice. Rates are shares of 1, null where there is nothing to divide
    by; their definitions are those of the arena.
    """

    name: str
    games: int
    firsts: int
    seconds: int
    thirds: int
    busts: int = Field(description="games finished with a score below zero")
    score: int = Field(description="sum of the scores at the end of the games")
    play: Play

    @computed_field  # type: ignore[prop-decorator]
    @property
    def mean_rank(self) -> float | None:
        """Mean rank, 1 to 3."""
        return mean(self.firsts + 2 * self.seconds + 3 * self.thirds, self.games)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def mean_score(self) -> float | None:
        """Mean score at the end of a game."""
        return mean(self.score, self.games)

    win_rate: ClassVar = per("wins", "rounds", "Share of rounds won.")
    tsumo_share: ClassVar = per("tsumos", "wins", "Share of the wins that are by tsumo.")
    mean_win_points: ClassVar = per(
        "win_points", "wins", "Mean value of the hands won, without honba and riichi sticks."
    )
    mean_win_turn: ClassVar = per("win_turns", "wins", "Mean turn of the wins.")
    deal_in_rate: ClassVar = per("deal_ins", "rounds", "Share of rounds in which others won on a tile of this player.")
    mean_deal_in_points: ClassVar = per(
        "deal_in_points",
        "deal_ins",
        "Mean value of what others won on a tile of this player, without honba and riichi sticks.",
    )
    riichi_rate: ClassVar = per("riichis", "rounds", "Share of rounds with an accepted riichi.")
    call_rate: ClassVar = per("calls", "rounds", "Share of rounds with an open meld.")
    draw_rate: ClassVar = per("draws", "rounds", "Share of rounds nobody won.")
    draw_tenpai_rate: ClassVar = per(
        "draws_tenpai", "exhaustive_draws", "Share of the exhaustive draws with a tenpai hand."
    )
    nukidora_per_round: ClassVar = per("nukidora", "rounds", "Norths set aside per round.")


class Opponent(Model):
    """The games of two players at one table. A game in which a name had two seats counts for each of them."""

    name: str = Field(description="of the opponent")
    house_bot: bool = Field(description="a bot run by the server itself")
    games: int
    better: int = Field(description="games that the player finished before the opponent")
    rank_difference: int = Field(description="sum of the player's ranks minus that of the opponent's")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def mean_rank_difference(self) -> float:
        """Mean rank of the player minus that of the opponent; below zero, the player is the better one."""
        return self.rank_difference / self.games


# Rooms and tokens -----------------------------------------------------------------------------------------------------


class StoredRoom(Model):
    """A room that is opened again when the server starts."""

    name: str
    settings: dict[str, Any]
    opened: datetime
    games: int = Field(0, description="that were begun there since then and stored, those deleted meanwhile included")


class StoredTournament(Model):
    """A tournament, without its result."""

    name: str
    id: str = Field(description="32 hexadecimal digits, from which the ids of its games follow")
    settings: dict[str, Any]
    plan: dict[str, Any]
    status: str
    created: datetime
    games: int = Field(description="of its schedule; 0 before it has begun")
    played: int = Field(description="of them that count, once it is over")


class StoredToken(Model):
    """A token without its secret."""

    name: str
    admin: bool
    created: datetime


# Lists ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """A page of a list. `next_cursor` requests the next page; None on the last page."""

    items: list[Item]
    next_cursor: str | None
