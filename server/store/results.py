"""What the store takes and gives back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Standing:
    """One seat at the end of a game. Raises ValueError for a name that no database keeps as it is."""

    name: str  # printable
    house: bool  # a house bot of the server
    score: int
    rank: int  # 1-3, no two seats alike
    points: float  # as of Rules.final_points
    penalty: float  # points deducted for faults, 0 where none are
    faults: int
    taken_over: bool  # a house bot played this seat to the end

    def __post_init__(self) -> None:
        if not self.name.isprintable():
            raise ValueError(f"name {self.name!r} is not printable")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Game:
    id: str  # UUID of the sitting, 32 hexadecimal digits
    room: str
    rules: str  # name of the preset
    length: str  # east or hanchan
    started: datetime  # aware
    finished: datetime  # aware
    rounds: int
    decisions: int
    seats: tuple[Standing, Standing, Standing]


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedGame(_Game):
    """A game to be stored."""

    record: bytes  # .mjson.gz


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGame(_Game):
    """A game that is stored; times are in UTC. Its record is asked for by itself."""

    rated: bool


@dataclass(frozen=True, slots=True)
class Rating:
    """Skill as OpenSkill's Plackett-Luce model estimates it."""

    mu: float
    sigma: float  # uncertainty of mu, one standard deviation
    ordinal: float  # mu - 3 sigma: what players are ordered by


@dataclass(frozen=True, slots=True)
class RatingPoint:
    """A player's rating after one game."""

    number: int  # 1 for the player's first rated game
    game: str
    finished: datetime
    rating: Rating


@dataclass(frozen=True, slots=True)
class StoredPlayer:
    """All games of a name, counted by seat: a game in which it sat twice counts as two."""

    name: str
    house: bool
    games: int
    rated_games: int
    places: tuple[int, int, int]  # how often first, second, third
    mean_rank: float
    mean_points: float  # penalties deducted
    faults: int
    rating: Rating
    first_seen: datetime  # start of the first game stored
    last_seen: datetime  # end of the latest game


@dataclass(frozen=True, slots=True)
class StoredRoom:
    """A room to be opened again when the server starts."""

    name: str
    settings: dict[str, Any]
    opened: datetime


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token, without its secret."""

    name: str
    admin: bool
    created: datetime


@dataclass(frozen=True, slots=True)
class TokenOwner:
    """Whose secret it is."""

    name: str
    admin: bool


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Part of a list; `next_cursor` asks for what follows, None where nothing does."""

    items: list[Item]
    next_cursor: str | None
