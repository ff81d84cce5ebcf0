"""Many games in lock step, in arrays: policies are asked in batches, and the rules run compiled over all tables."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine import kernels
from engine.actions import action_name, actions_of
from engine.rules import TENHOU, Rules
from engine.table import ROUND_OVER, TABLE

# A policy answers views (an array of TABLE records, each blanked for its `viewer`) with one action number each.
Policy = Callable[[np.ndarray], np.ndarray]


class PolicyFault(ValueError):  # noqa: N818 - a fault of the policy, not of this program
    """A policy raised, or its answer is no legal action; it was asked about `seat` of `table`."""

    def __init__(self, policy: int, table: int, seat: int, what: str) -> None:
        super().__init__(f"policy {policy}, table {table}, seat {seat}: {what}")
        self.policy, self.table, self.seat, self.what = policy, table, seat, what


class Tables:
    """Games played together. `records` is the array of TABLE (live: read only).

    While a policy is asked about n views, the first n of `asked_tables` (int32) and `asked_seats` (int8) tell whose
    they are.
    """

    def __init__(self, seeds: Sequence[int] | np.ndarray, rules: Rules = TENHOU, batch: int = 2048) -> None:
        """Start one game for each 64-bit seed. A policy is asked for at most `batch` views at a time."""
        self._take(np.zeros(len(seeds) * TABLE.itemsize, dtype=np.uint8), rules, batch)
        self.records["rules"] = rules.packed()
        kernels.start_all(self.raw, np.asarray(seeds, dtype=np.uint64))

    @classmethod
    def going_on(cls, records: np.ndarray, rules: Rules, batch: int = 2048) -> Tables:
        """Go on with copies of the games `records` TABLE[n], which are played by `rules`."""
        tables = cls.__new__(cls)
        tables._take(np.ascontiguousarray(records).view(np.uint8).copy(), rules, batch)
        return tables

    def _take(self, raw: np.ndarray, rules: Rules, batch: int) -> None:
        """Play on the tables `raw` uint8[n * TABLE.itemsize]."""
        self.rules = rules
        self.raw = raw
        self.records: Any = raw.view(TABLE)
        capacity = min(2 * len(self.records), batch)  # at most two seats of a table are asked at once
        self.decisions = 0  # answers given so far
        self._views = np.zeros(capacity * TABLE.itemsize, dtype=np.uint8)
        self.asked_tables = np.zeros(capacity, dtype=np.int32)
        self.asked_seats = np.zeros(capacity, dtype=np.int8)

    def play(self, policies: Sequence[Policy], players: np.ndarray) -> Iterator[np.ndarray]:
        """Play all games to their ends.

        `players` int8[n, 3]: index into `policies` of who sits on each seat of each table. Yields the indices of the
        tables on which a round has just ended, before the next is dealt: read their logs then. Raises PolicyFault where
        a policy raises or its answer is not legal.
        """
        while True:
            decisions = self._ask_all(policies, players)
            ended = np.flatnonzero(self.records["phase"] == ROUND_OVER)
            if len(ended):
                yield ended
                kernels.proceed_all(self.raw)
            elif decisions == 0:
                return

    def play_round(self, policies: Sequence[Policy], players: np.ndarray) -> None:
        """Play every game to the end of its round; `players` and PolicyFault as in `play`."""
        while self._ask_all(policies, players):
            pass

    def _ask_all(self, policies: Sequence[Policy], players: np.ndarray) -> int:
        """Ask all policies; returns the number of decisions they made."""
        return sum(self._ask(index, policy, players) for index, policy in enumerate(policies))

    def _ask(self, index: int, policy: Policy, players: np.ndarray) -> int:
        """Ask one policy for all its seats; returns the number of decisions it made."""
        decisions = first = 0
        while first < len(self.records):
            n, first = kernels.collect(
                self.raw, players, index, first, self._views, self.asked_tables, self.asked_seats
            )
            if n:
                self._answer(index, policy, n)
            decisions += n
        self.decisions += decisions
        return decisions

    def _answer(self, index: int, policy: Policy, n: int) -> None:
        """Let one policy answer the first `n` collected views."""
        tables, seats = self.asked_tables[:n], self.asked_seats[:n]
        views = self._views[: n * TABLE.itemsize].view(TABLE)
        try:
            actions = np.asarray(policy(views))
        except Exception as error:
            culprit = first_raising(policy, views)
            raise PolicyFault(index, int(tables[culprit]), int(seats[culprit]), f"raised {describe(error)}") from error
        if actions.shape != (n,) or actions.dtype.kind not in "iu":
            what = f"answered {n} views with {actions.dtype}{list(actions.shape)}, not one action number each"
            raise PolicyFault(index, int(tables[0]), int(seats[0]), what)
        bad = kernels.answer_all(self.raw, tables, seats, actions.astype(np.int64, copy=False))
        if bad >= 0:
            table, seat = int(tables[bad]), int(seats[bad])
            raise PolicyFault(index, table, seat, self._complaint(table, seat, int(actions[bad])))

    def _complaint(self, table: int, seat: int, action: int) -> str:
        legal = actions_of(*self.records["legal"][table, seat].tolist())
        return f"may not {action_name(action)}; legal: {', '.join(map(action_name, legal))}"


def first_raising(policy: Policy, views: np.ndarray) -> int:
    """The first view at which `policy` raises when asked about it alone; 0 where only the whole batch fails."""
    for index in range(len(views)):
        try:
            policy(views[index : index + 1])
        except Exception:
            return index
    return 0


def describe(error: Exception) -> str:
    """An exception in one line: its type, what it says, and where it was raised."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said} ({Path(place.filename).name}, line {place.lineno})"
