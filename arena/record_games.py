"""The games of players, counted from records; their statistics are computed as those of bots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arena.bot_games import N_COUNTS, SCORE, BotGames, count_rounds
from arena.tallies.names import N_TALLIES, block
from arena.tallies.observer import pack, unpack
from arena.tallies.rounds import tally_rounds
from engine import table_kernels
from engine.common.options import printable
from engine.records.filters import Filters
from engine.records.model import GameRecord, RecordError
from engine.records.replay import Replay
from engine.records.stream import Item, select_record
from engine.records.validate import unreadable
from engine.table import GAME_OVER, N_SEATS, TABLE


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """A game of a record, by seats.

    ``names``: of the players; ``""`` if somebody else played part of the game for one, or the record has no name.
    ``counts``: int32[seats, N_COUNTS], ``tallies``: int32[seats, N_TALLIES]. ``points``: final points in thousands.
    """

    names: list[str]
    counts: np.ndarray
    tallies: np.ndarray
    placements: list[int]
    points: list[float]

    def as_json(self) -> dict[str, Any]:
        """The game as a line of a journal."""
        kept = {"names": self.names, "placements": self.placements, "points": self.points}
        return kept | {"counts": self.counts.tolist(), "tallies": pack(self.tallies)}

    @classmethod
    def of_json(cls, kept: dict[str, Any]) -> RecordedGame:
        """Parse a line of a journal. Raises ValueError, LookupError, TypeError or OverflowError if it holds no game."""
        counts = np.array(kept["counts"], dtype=np.int32).reshape(N_SEATS, N_COUNTS)
        names = [printable(name) for name in kept["names"]]
        placements, points = [int(place) for place in kept["placements"]], [float(each) for each in kept["points"]]
        if not len(names) == len(placements) == len(points) == N_SEATS:
            raise ValueError("a game has three seats")
        return cls(names, counts, unpack(kept["tallies"])[0], placements, points)


@dataclass(frozen=True, slots=True)
class Counted:
    """The outcome of a record: its game, or why it is not counted; neither if filters leave it out."""

    game: RecordedGame | None = None
    fault: str = ""
    notes: list[str] = field(default_factory=list)


def count_item(item: Item, filters: Filters) -> Counted:
    """Count the game of one record."""
    try:
        record = select_record(item, filters)
        return Counted() if record is None else count_record(record, item.name)
    except RecordError as error:
        return Counted(fault=unreadable(error, item.name).faults[0])


def count_record(record: GameRecord, name: str) -> Counted:
    """Count a game; ``name`` stands for it in messages. Raises RecordError."""
    record.source = name
    counts = np.zeros((1, N_SEATS, N_COUNTS), dtype=np.int32)
    tallies = np.zeros((N_SEATS, N_TALLIES), dtype=np.int32)
    behind = np.zeros((1, N_SEATS), dtype=np.bool_)
    last = np.zeros(TABLE.itemsize, dtype=np.uint8)
    ended, rows = np.zeros(1, dtype=np.int64), np.arange(N_SEATS, dtype=np.int64)[None]

    def round_over(table: np.ndarray) -> None:
        count_rounds(table, ended, counts)
        tally_rounds(table, ended, rows, behind, tallies)
        last[:] = table

    replay = Replay(record, round_over=round_over)
    if mismatches := replay.check():
        return Counted(fault=str(mismatches[0]), notes=record.notes)
    if replay.n_rounds == 0 or table_kernels.next_round(last, 0) != GAME_OVER:
        raise RecordError(name, "end of the game", "the game is not over, so there are no placements")
    if block(tallies, "games_by_places").sum() > N_SEATS:  # as some did in March 2009
        raise RecordError(name, "end of the game", "the game continues after its end by the rules")
    scores = last.view(TABLE)["seat"]["score"][0].tolist()
    counts[0, :, SCORE] = scores
    known = record.events[0].get("names") or []
    names = [printable(str(name)) for name in [*known, "", "", ""][:N_SEATS]]
    for seat in range(N_SEATS):
        if record.describe_handover(seat):
            names[seat] = ""
    points = replay.rules.final_points(scores)
    game = RecordedGame(names, counts[0], tallies, replay.rules.ranks(scores), points)
    return Counted(game, notes=record.notes)


class Players:
    """The games of all players, as they are counted."""

    def __init__(self) -> None:
        self._games: dict[str, list[tuple[int, np.ndarray, int, float]]] = {}  # seat, counts, placement, points
        self._tallies: dict[str, np.ndarray] = {}  # int64[N_TALLIES]

    def add(self, game: RecordedGame) -> None:
        """Add a game to those of its players."""
        for seat, name in enumerate(game.names):
            if name:
                row = seat, game.counts[seat], game.placements[seat], game.points[seat]
                self._games.setdefault(name, []).append(row)
                self._tallies.setdefault(name, np.zeros(N_TALLIES, dtype=np.int64))
                self._tallies[name] += game.tallies[seat]

    def by_games(self) -> list[str]:
        """The names of the players, those with the most games first."""
        return sorted(self._games, key=lambda name: (-len(self._games[name]), name))

    def games_of(self, names: Iterable[str], label: str) -> BotGames:
        """Merge the games of some players, all of whom have played."""
        names = list(names)
        rows = [row for name in names for row in self._games[name]]
        seats, counts, placements, points = (np.array(column)[:, None] for column in zip(*rows, strict=True))
        tallies = np.sum([self._tallies[name] for name in names], axis=0)
        return BotGames(label, counts, placements, points, seats=seats, tallies=tallies)
