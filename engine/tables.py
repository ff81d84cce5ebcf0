"""Many games in lock step, in arrays: policies are asked in batches, and the rules run compiled over all tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from engine import entries
from engine.actions import ACTION_NAMES, actions_of
from engine.game import IllegalAction
from engine.rules import TENHOU, Rules
from engine.table import ROUND_OVER, TABLE

# A policy answers views (an array of TABLE records, each blanked for its `viewer`) with one action number each.
Policy = Callable[[np.ndarray], np.ndarray]


class Tables:
    """Games played together. `records` is the array of TABLE (live: read only)."""

    def __init__(self, seeds: Sequence[int] | np.ndarray, rules: Rules = TENHOU, batch: int = 2048) -> None:
        """Start one game for each 64-bit seed. A policy is asked for at most `batch` views at a time."""
        n = len(seeds)
        self.rules = rules
        self.raw = np.zeros(n * TABLE.itemsize, dtype=np.uint8)
        self.records: Any = self.raw.view(TABLE)
        self.records["rules"] = rules.packed()
        capacity = min(2 * n, batch)  # at most two seats of a table are asked at once
        self._views = np.zeros(capacity * TABLE.itemsize, dtype=np.uint8)
        self._asked_tables = np.zeros(capacity, dtype=np.int32)
        self._asked_seats = np.zeros(capacity, dtype=np.int8)
        entries.start_all(self.raw, np.asarray(seeds, dtype=np.uint64))

    def play(self, policies: Sequence[Policy], players: np.ndarray) -> Iterator[np.ndarray]:
        """Play all games to their ends.

        `players` int8[n, 3]: index into `policies` of who sits on each seat of each table. Yields the indices of the
        tables on which a round has just ended, before the next is dealt: read their logs then. Raises IllegalAction for
        a policy's illegal answer, naming table, seat and what was legal.
        """
        while True:
            decisions = sum(self._ask(index, policy, players) for index, policy in enumerate(policies))
            ended = np.flatnonzero(self.records["phase"] == ROUND_OVER)
            if len(ended):
                yield ended
                entries.proceed_all(self.raw)
            elif decisions == 0:
                return

    def _ask(self, index: int, policy: Policy, players: np.ndarray) -> int:
        """Ask one policy for all its seats; returns the number of decisions it made."""
        decisions = first = 0
        while first < len(self.records):
            n, first = entries.collect(
                self.raw, players, index, first, self._views, self._asked_tables, self._asked_seats
            )
            if n:
                self._answer(index, policy, n)
            decisions += n
        return decisions

    def _answer(self, index: int, policy: Policy, n: int) -> None:
        """Let one policy answer the first `n` collected views."""
        tables, seats = self._asked_tables[:n], self._asked_seats[:n]
        actions = np.asarray(policy(self._views[: n * TABLE.itemsize].view(TABLE)))
        if actions.shape != (n,):
            raise ValueError(f"policy {index} answered {n} views with an array of shape {actions.shape}, not ({n},)")
        bad = entries.answer_all(self.raw, tables, seats, actions)
        if bad >= 0:
            raise IllegalAction(self._complaint(index, int(tables[bad]), int(seats[bad]), int(actions[bad])))

    def _complaint(self, index: int, table: int, seat: int, action: int) -> str:
        low, high = self.records["legal"][table, seat].tolist()
        name = ACTION_NAMES[action] if 0 <= action < len(ACTION_NAMES) else str(action)
        menu = ", ".join(ACTION_NAMES[legal] for legal in actions_of(low, high))
        return f"policy {index}, table {table}, seat {seat}: may not {name}; legal: {menu}"
