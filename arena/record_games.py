"""The games of players, counted from records; their statistics are computed as those of bots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arena.bot_games import N_COUNTS, BotGames, count_rounds
from arena.parquet_rows import WHERE_IN_RECORDS, rows_of_rounds
from arena.tallies.counts import N_TALLIES, add_rounds
from arena.tallies.observer import pack, unpack
from engine import table_kernels
from engine.common.options import printable
from engine.records.filters import THREE_PLAYERS
from engine.records.model import GameRecord, RecordError
from engine.records.replay import Replay
from engine.records.stream import Item, select_record
from engine.records.validate import unreadable
from engine.statistics.rounds import ROUND, add_round
from engine.table import GAME_OVER, N_SEATS, TABLE

NO_TALLIES = np.zeros((N_SEATS, N_TALLIES), dtype=np.int32)
NO_ROUNDS = np.zeros((0, N_SEATS), dtype=ROUND)


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """A game of a record, by seats.

    ``record``: its name. ``names``: of the players; ``""`` if somebody else played part of the game for one, or the
    record has no name. ``counts``: int32[seats, N_COUNTS]. ``points``: final points in thousands.
    """

    record: str
    names: list[str]
    counts: np.ndarray
    placements: list[int]
    points: list[float]


@dataclass(frozen=True, slots=True)
class Counted:
    """The outcome of a record: its game, or why it is not counted; neither for a game of four.

    ``tallies``: int32[seats, N_TALLIES]. ``rounds``: ROUND[rounds, seats], if they are wanted.
    """

    game: RecordedGame | None = None
    tallies: np.ndarray = field(default_factory=lambda: NO_TALLIES)
    rounds: np.ndarray = field(default_factory=lambda: NO_ROUNDS)
    fault: str = ""
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The game, without its rounds, as a line of a journal."""
        assert self.game is not None
        game = self.game
        kept = {"record": game.record, "names": game.names, "placements": game.placements, "points": game.points}
        return kept | {"counts": game.counts.tolist(), "tallies": pack(self.tallies)}

    @classmethod
    def of_json(cls, kept: dict[str, Any]) -> Counted:
        """Parse a line of a journal. Raises ValueError, LookupError, TypeError or OverflowError if it holds no game."""
        counts = np.array(kept["counts"], dtype=np.int32).reshape(N_SEATS, N_COUNTS)
        record, names = printable(kept["record"]), [printable(name) for name in kept["names"]]
        placements, points = [int(place) for place in kept["placements"]], [float(each) for each in kept["points"]]
        if not len(names) == len(placements) == len(points) == N_SEATS:
            raise ValueError("a game has three seats")
        return cls(RecordedGame(record, names, counts, placements, points), unpack(kept["tallies"])[0])


def count_item(item: Item, with_rounds: bool) -> Counted:
    """Count the game of one record; ``with_rounds``: they are wanted, too."""
    try:
        record = select_record(item, THREE_PLAYERS)
        return Counted() if record is None else count_record(record, item.name, with_rounds)
    except RecordError as error:
        return Counted(fault=unreadable(error, item.name).faults[0])


def count_record(record: GameRecord, name: str, with_rounds: bool = False) -> Counted:
    """Count a game; ``name`` stands for it in messages. Raises RecordError."""
    record.source = name
    last = np.zeros(TABLE.itemsize, dtype=np.uint8)
    of_game = [NO_ROUNDS]

    def round_over(table: np.ndarray) -> None:
        add_round(of_game, table)
        last[:] = table

    replay = Replay(record, round_over=round_over)
    if mismatches := replay.check():
        return Counted(fault=str(mismatches[0]), notes=record.notes)
    if replay.n_rounds == 0 or table_kernels.next_round(last, 0) != GAME_OVER:
        raise RecordError(name, "end of the game", "the game is not over, so there are no placements")
    rounds = np.concatenate(of_game)
    if np.count_nonzero(rounds["final_place"]) > N_SEATS:  # as some did in March 2009
        raise RecordError(name, "end of the game", "the game continues after its end by the rules")
    scores, zeros = last.view(TABLE)["seat"]["score"], np.zeros(len(rounds), dtype=np.int64)
    counts, tallies = count_rounds(rounds, zeros, scores), NO_TALLIES.copy()
    add_rounds(rounds, zeros, np.broadcast_to(np.arange(N_SEATS), rounds.shape), tallies)
    known = record.events[0].get("names") or []
    names = [printable(str(name)) for name in [*known, "", "", ""][:N_SEATS]]
    for seat in range(N_SEATS):
        if record.describe_handover(seat):
            names[seat] = ""
    placements, points = replay.rules.ranks(scores[0].tolist()), replay.rules.final_points(scores[0].tolist())
    game = RecordedGame(printable(name), names, counts[0], placements, points)
    return Counted(game, tallies, rounds if with_rounds else NO_ROUNDS, notes=record.notes)


class Players:
    """The games of all players, as they are counted.

    ``games``: all of them. ``numbers``: the players by name, numbered in the order of their first games.
    """

    def __init__(self) -> None:
        self.games: list[RecordedGame] = []
        self.numbers: dict[str, int] = {}
        self._seats: list[list[tuple[int, int]]] = []  # of each player: indices of its games, and its seats
        self._tallies: list[np.ndarray] = []  # of each player: int64[N_TALLIES]

    def add(self, counted: Counted) -> None:
        """Add a game to those of its players."""
        game = counted.game
        assert game is not None
        for seat, name in enumerate(game.names):
            if name:
                number = self.numbers.setdefault(name, len(self.numbers))
                if number == len(self._seats):
                    self._seats.append([])
                    self._tallies.append(np.zeros(N_TALLIES, dtype=np.int64))
                self._seats[number].append((len(self.games), seat))
                self._tallies[number] += counted.tallies[seat]
        self.games.append(game)

    def by_games(self) -> list[str]:
        """The names of the players, those with the most games first."""
        return sorted(self.numbers, key=lambda name: (-len(self._seats[self.numbers[name]]), name))

    def numbers_of(self, game: RecordedGame) -> list[int]:
        """The number of the player at each seat, -1 for a seat without a name."""
        return [self.numbers.get(name, -1) for name in game.names]

    def games_of(self, names: Iterable[str], label: str) -> BotGames:
        """Merge the games of some players, all of whom have played."""
        numbers = [self.numbers[name] for name in names]
        at = [(self.games[index], seat) for number in numbers for index, seat in self._seats[number]]
        rows = [(seat, game.counts[seat], game.placements[seat], game.points[seat]) for game, seat in at]
        seats, counts, placements, points = (np.array(column)[:, None] for column in zip(*rows, strict=True))
        tallies = np.sum([self._tallies[number] for number in numbers], axis=0)
        return BotGames(label, counts, placements, points, seats=seats, tallies=tallies)

    def rows_of(self, first: int, counted: Sequence[Counted]) -> np.ndarray:
        """The rows of the rounds of the games from ``first`` on, for `arena.parquet`."""
        rows = []
        for number, each in enumerate(counted, first):
            assert each.game is not None
            players, rounds = self.numbers_of(each.game), np.arange(len(each.rounds))[:, None]
            rows.append(rows_of_rounds(each.rounds, WHERE_IN_RECORDS, game=number, round=rounds, player=players))
        return np.concatenate(rows)
