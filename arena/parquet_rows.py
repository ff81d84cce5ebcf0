"""Rows of numbers for Parquet files: what happened in each round and at each decision.

Rows are NumPy records, which travel to the parent with the other results of a chunk; `arena.parquet` names what the
numbers mean, and writes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arena.schedule import Game
from engine.actions import MASK_WORDS
from engine.statistics.rounds import ROUND
from engine.table import N_SEATS
from engine.tables import Policy, Tables

WHERE = [("wall", "i4"), ("rotation", "i1"), ("round", "i2"), ("seat", "i1"), ("bot", "i1")]
WHERE_IN_RECORDS = [("game", "i4"), ("round", "i2"), ("seat", "i1"), ("player", "i4")]  # no player: -1
DECISION = np.dtype([
    *WHERE, ("phase", "i1"), ("turn", "i1"), ("draws_left", "i1"), ("shanten", "i1"), ("n_legal", "i1"),
    ("action", "i1"),
])  # fmt: skip


def rows_of_rounds(rows: np.ndarray, where: list[tuple[str, str]], **values: Any) -> np.ndarray:
    """Rows ROUND[rounds, seats] in one line, each with the fields of ``where``.

    ``values``: of these fields, for each round, as [rounds, 1], or for each seat, as [rounds, seats].
    """
    placed = np.zeros(rows.shape, dtype=np.dtype([*where, *ROUND.descr]))
    for name in ROUND.names or ():
        placed[name] = rows[name]
    for name, value in (values | {"seat": np.arange(N_SEATS)}).items():
        placed[name] = value
    return placed.reshape(-1)


class RowCollector:
    """Collects the rows of some games: an `arena.observers.GameObserver`.

    ``kinds``: ``rounds``, a row for each round and seat, and perhaps ``decisions``, one for each answer.
    """

    def __init__(self, games: Sequence[Game], tables: Tables, kinds: Sequence[str]) -> None:
        self._kinds = kinds
        self._tables = tables
        self._walls = np.array([game.wall for game in games])
        self._rotations = np.array([game.rotation for game in games])
        self._seats = np.array([game.seats for game in games])
        self._round = np.zeros(len(games), dtype=np.int16)  # the number of the round of each table
        self._decisions = [np.zeros(0, dtype=DECISION)]

    def rounds_ended(self, tables: np.ndarray) -> None:
        """Count the round of each of these tables."""
        self._round[tables] += 1

    def games_ended(self) -> None:
        """Do nothing: `rows` puts the rows together."""

    def rows(self, rounds: np.ndarray, tables: np.ndarray) -> dict[str, np.ndarray]:
        """All rows by their kinds; those of a game in the order of play.

        ``rounds``, ``tables``: the rounds of the games, see `arena.tallies.observer.RoundObserver.rounds`.
        """
        order = np.argsort(tables, kind="stable")
        tables = tables[order]
        numbers = np.arange(len(tables)) - np.searchsorted(tables, tables)
        where = {"wall": self._walls[tables], "rotation": self._rotations[tables], "round": numbers}
        by_round = {name: values[:, None] for name, values in where.items()}
        placed = rows_of_rounds(rounds[order], WHERE, bot=self._seats[tables], **by_round)
        every = {"rounds": placed, "decisions": np.concatenate(self._decisions)}
        return {kind: every[kind] for kind in self._kinds}

    def watched(self, policies: list[Policy]) -> list[Policy]:
        """Return the policies, with their answers recorded as rows if these are wanted."""
        return [self._watched(policy) for policy in policies] if "decisions" in self._kinds else policies

    def _watched(self, policy: Policy) -> Policy:
        def act(views: np.ndarray) -> np.ndarray:
            actions = np.asarray(policy(views))
            if actions.shape == views.shape:  # any other answer is a fault, which `Tables` reports
                self._decide(views, actions)
            return actions

        return act

    def _decide(self, views: np.ndarray, actions: np.ndarray) -> None:
        n = len(views)
        rows, seats = np.zeros(n, dtype=DECISION), self._tables.asked_seats[:n]
        self._place(rows, self._tables.asked_tables[:n], seats)
        every, own = np.arange(n), views["seat"]
        rows["phase"], rows["draws_left"], rows["action"] = views["phase"], views["live_left"], actions
        rows["turn"] = own["n_river"][every, seats] + 1
        rows["shanten"] = own["shanten"][every, seats]
        legal = views["legal"][every, seats].reshape(n, MASK_WORDS)
        rows["n_legal"] = np.bitwise_count(legal).sum(axis=1)
        self._decisions.append(rows)

    def _place(self, rows: np.ndarray, tables: np.ndarray, seats: np.ndarray) -> None:
        """Write which game, seat and bot the rows belong to; ``tables`` and ``seats``: of each row."""
        rows["wall"], rows["rotation"], rows["round"] = (
            of_table[tables] for of_table in (self._walls, self._rotations, self._round)
        )
        rows["seat"] = seats
        rows["bot"] = self._seats[tables, seats]


def in_order(rows: Sequence[np.ndarray]) -> np.ndarray:
    """All of some rows, game by game in the order of the schedule; the rows of a game keep their order."""
    every = np.concatenate(rows)
    return every[np.lexsort((every["rotation"], every["wall"]))]
