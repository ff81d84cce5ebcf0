"""Many games in lockstep: policies answer batches of views, and compiled code runs the rules over all tables."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

# Importing these two registers how a table is shown.
import engine.svg
import engine.text  # noqa: F401
from engine import kernels
from engine.actions import action_name, actions_of
from engine.checks import check_scores, check_seed, whole_number
from engine.rules import EVEN_SCORES, TENHOU, Rules, rules_named
from engine.table import GAME_OVER, N_SEATS, ROUND_OVER, TABLE, packed_rules, raw_bytes
from engine.tenhou_walls import TenhouWalls

MAX_ASKED = 2  # seats of a table that are asked at once

# views TABLE[n], each blanked for its `viewer` -> actions, any integer dtype [n]
Policy = Callable[[np.ndarray], np.ndarray]


class PolicyFault(ValueError):  # noqa: N818 - a fault of the policy, not of this program
    """A policy raised an exception or returned no legal action when asked for `seat` of `table`."""

    def __init__(self, policy: int, table: int, seat: int, what: str) -> None:
        super().__init__(f"policy {policy}, table {table}, seat {seat}: {what}")
        self.policy, self.table, self.seat, self.what = policy, table, seat, what


class BadAnswer(ValueError):  # noqa: N818 - as above
    """A policy's own one-line explanation of what is wrong with an answer, complete without further context."""


class Tables:
    """Games played in lockstep. `records` is the live array TABLE[n], read-only.

    While a policy is called with n views, the first n entries of `asked_tables` int32[:] and `asked_seats` int8[:] are
    the table and seat of each view.

    Examples:
        >>> def first_legal(views):  # a policy: TABLE[n] -> one action number for each view
        ...     return np.array([actions_of(*view.legal[view.viewer])[0] for view in views])
        >>> tables = Tables(seeds=range(4))
        >>> rounds = [len(ended) for ended in tables.play([first_legal], np.zeros((4, 3), dtype=np.int8))]
        >>> tables.records["seat"]["score"].sum(axis=1)
        array([105000, 105000, 105000, 105000])
    """

    def __init__(
        self,
        seeds: Iterable[int] | np.ndarray,
        rules: Rules | str = TENHOU,
        batch: int = 2048,
        scores: Sequence[int] | np.ndarray = EVEN_SCORES,
        walls: Sequence[TenhouWalls] = (),
    ) -> None:
        """Start one game for each 64-bit seed; `rules`: a Rules object or the name of a preset.

        A policy is called with at most `batch` views at a time. `scores`: the starting scores, int[3] for all games or
        int[n, 3], see `engine.checks.check_scores`. `walls`: the walls of each game, instead of walls shuffled from its
        seed; with red fives if `rules` have them. Raises TypeError or ValueError with a one-line message for invalid
        seeds, rules, batch or scores.
        """
        checked, rules = _check_seeds(seeds), rules_named(rules)
        self._set_up(np.zeros(len(checked) * TABLE.itemsize, dtype=np.uint8), rules, batch)
        self.records["rules"] = packed_rules(rules)
        self.records["seat"]["score"] = _scores_of_games(scores, len(checked))
        if walls and len(walls) != len(checked):
            raise ValueError(f"{len(walls)} games have walls, and {len(checked)} have seeds: give each game both")
        self._walls += walls
        self._lay_walls(range(len(walls)))
        kernels.start_games(self.raw, checked)

    @classmethod
    def from_records(cls, records: np.ndarray, rules: Rules, batch: int = 2048) -> Tables:
        """Continue copies of the games `records` TABLE[n] under `rules`; later walls are shuffled."""
        tables = cls.__new__(cls)
        tables._set_up(raw_bytes(records).copy(), rules, batch)
        return tables

    def __repr__(self) -> str:
        over = int((self.records["phase"] == GAME_OVER).sum())
        return (
            f"<Tables: {len(self.records)} games by {self.rules.name} rules, {over} over, {self.decisions} decisions>"
        )

    def _set_up(self, raw: np.ndarray, rules: Rules, batch: int) -> None:
        """Use the tables in the buffer `raw` uint8[n * TABLE.itemsize]."""
        batch = whole_number(batch, "batch", f"a number of views from {MAX_ASKED} on", sys.maxsize, MAX_ASKED)
        self.rules = rules
        self.raw = raw
        self.records: Any = raw.view(TABLE)
        capacity = min(MAX_ASKED * len(self.records), batch)
        self.decisions = 0  # actions applied so far
        self._walls: list[TenhouWalls] = []
        self._views = np.zeros(capacity * TABLE.itemsize, dtype=np.uint8)
        self.asked_tables = np.zeros(capacity, dtype=np.int32)
        self.asked_seats = np.zeros(capacity, dtype=np.int8)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for `copy.deepcopy` and `pickle`, without `records`, which shares the memory of `raw`."""
        return {name: value for name, value in vars(self).items() if name != "records"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.records = self.raw.view(TABLE)

    def play(self, policies: Sequence[Policy | None], players: np.ndarray) -> Iterator[np.ndarray]:
        """Play all games to the end.

        `players` int8[n, 3]: for each seat of each table the index into `policies`. A policy that is None is not asked:
        games are played until they are over or wait only for its seats. Yields the indices int64[:] of the tables whose
        round has just ended, before the next round is dealt; read their logs then. Raises PolicyFault if a policy
        raises or returns an action that is not legal, TypeError or ValueError for policies or `players` that do not fit
        the tables.
        """
        players = self._check_players(policies, players)
        while True:
            decisions = self._ask_all(policies, players)
            ended = np.flatnonzero(self.records["phase"] == ROUND_OVER)
            if len(ended):
                yield ended
                self._next_rounds(ended)
            elif decisions == 0:
                return

    def _next_rounds(self, ended: np.ndarray) -> None:
        """Begin the next rounds of the games `ended` int64[:]; those that are over keep the wall of their last one."""
        if not self._walls:
            kernels.next_rounds(self.raw)
            return
        last = self.records["wall"][ended]
        self._lay_walls(ended.tolist())
        kernels.next_rounds(self.raw)
        over = self.records["phase"][ended] == GAME_OVER
        self.records["wall"][ended[over]], self.records["wall_given"][ended[over]] = last[over], 0

    def _lay_walls(self, games: Iterable[int]) -> None:
        """Lay the wall of the next round of each of `games`."""
        for game in games:
            self.records["wall"][game], self.records["wall_given"][game] = next(self._walls[game]).tiles, 1

    def play_round(self, policies: Sequence[Policy], players: np.ndarray) -> None:
        """Play every game to the end of its current round; arguments and errors as in `play`."""
        players = self._check_players(policies, players)
        while self._ask_all(policies, players):
            pass

    def _check_players(self, policies: Sequence[Policy | None], players: np.ndarray) -> np.ndarray:
        """`players` as int8[n, 3]. Raises TypeError or ValueError if it or the policies are of the wrong kind."""
        if not isinstance(policies, Sequence) or not all(each is None or callable(each) for each in policies):
            raise TypeError(f"policies must be a sequence of functions from views to actions, not {policies!r}")
        players, expected = np.asarray(players), (len(self.records), N_SEATS)
        if players.shape != expected or players.dtype.kind not in "iu":
            given = f"{players.dtype}{list(players.shape)}"
            raise ValueError(f"players must be integers{list(expected)}, a policy's index for each seat, not {given}")
        if players.size and not 0 <= players.min() <= players.max() < len(policies):
            raise ValueError(f"players must be 0 to {len(policies) - 1}, the indices of the policies given")
        return np.ascontiguousarray(players, dtype=np.int8)

    def _ask_all(self, policies: Sequence[Policy | None], players: np.ndarray) -> int:
        """Ask every policy once; returns the number of decisions."""
        return sum(self._ask(index, policy, players) for index, policy in enumerate(policies) if policy is not None)

    def _ask(self, index: int, policy: Policy, players: np.ndarray) -> int:
        """Ask one policy for all its seats; returns the number of decisions."""
        decisions = first = 0
        while first < len(self.records):
            n, first = kernels.collect_views(
                self.raw, players, index, first, self._views, self.asked_tables, self.asked_seats
            )
            if n:
                self._answer(index, policy, n)
            decisions += n
        self.decisions += decisions
        return decisions

    def _answer(self, index: int, policy: Policy, n: int) -> None:
        """Ask one policy for the first `n` collected views and apply its actions."""
        tables, seats = self.asked_tables[:n], self.asked_seats[:n]
        views = self._views[: n * TABLE.itemsize].view(TABLE)
        try:
            answer = policy(views)
            actions = np.asarray(answer)
        except (Exception, SystemExit) as error:
            culprit = first_raising(policy, views)
            what = str(error) if isinstance(error, BadAnswer) else f"raised {describe(error)}"
            raise PolicyFault(index, int(tables[culprit]), int(seats[culprit]), what) from error
        try:
            check_answer(answer, n)
        except BadAnswer as error:
            raise PolicyFault(index, int(tables[0]), int(seats[0]), str(error)) from None
        bad = kernels.apply_actions(self.raw, tables, seats, np.ascontiguousarray(actions, dtype=np.int64))
        if bad >= 0:
            table, seat = int(tables[bad]), int(seats[bad])
            raise PolicyFault(index, table, seat, self._why_illegal(table, seat, int(actions[bad])))

    def _why_illegal(self, table: int, seat: int, action: int) -> str:
        legal = actions_of(*self.records["legal"][table, seat].tolist())
        return f"may not {action_name(action)}; legal: {', '.join(map(action_name, legal))}"


def check_answer(answer: object, n: int) -> np.ndarray:
    """The answer of a policy to `n` views as integers[n], not checked to be legal. Raises BadAnswer for anything else.

    What numpy raises for an answer that is no array passes.
    """
    actions = np.asarray(answer)
    if actions.shape != (n,) or actions.dtype.kind not in "iu":
        given = "None (is a return missing?)" if answer is None else f"{actions.dtype}{list(actions.shape)}"
        raise BadAnswer(f"answered {n} view{'s' * (n > 1)} with {given}, not one action number each")
    return actions


def _scores_of_games(scores: Sequence[int] | np.ndarray, n: int) -> np.ndarray:
    """The starting scores of `n` games: int64[n, 3]. Raises TypeError or ValueError for anything else."""
    if not isinstance(scores, np.ndarray) or scores.ndim < 2:
        return np.tile(check_scores(scores), (n, 1))
    if scores.shape != (n, N_SEATS):
        raise ValueError(f"scores must be int[3], or int{[n, N_SEATS]} for each game, not {list(scores.shape)}")
    for row in np.unique(scores, axis=0):
        check_scores(row)
    return scores.astype(np.int64)


def _check_seeds(seeds: object) -> np.ndarray:
    """Return `seeds` as uint64[n]. Raises TypeError or ValueError if it holds anything but seeds."""
    if not isinstance(seeds, Iterable) or isinstance(seeds, str):
        raise TypeError(f"seeds must be a sequence with a seed for each game, such as range(100), not {seeds!r}")
    array = seeds if isinstance(seeds, np.ndarray) else np.array([check_seed(seed) for seed in seeds], dtype="u8")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"seeds must be one row of integers, not {array.dtype}{list(array.shape)}")
    if array.dtype.kind == "i" and len(array):
        check_seed(array.min())
    return array.astype(np.uint64)


def first_raising(policy: Policy, views: np.ndarray) -> int:
    """Return the index of the first view for which `policy` raises when called with it alone; 0 if there is none."""
    for index in range(len(views)):
        try:
            policy(views[index : index + 1])
        except (Exception, SystemExit):
            return index
    return 0


def describe(error: BaseException) -> str:
    """An exception in one line: type, message, and where it was raised."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text} ({Path(frame.filename).name}, line {frame.lineno})"
