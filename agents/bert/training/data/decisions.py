"""Whose decisions are learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.table import N_SEATS

ALL, WINNERS, RANK, PLAYER = "all", "winners", "rank", "player"


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions of everybody, of those who finished at `rank` (1-3), or of the player of some name."""

    rank: int | None = None
    player: str | None = None

    def of(self, names: Sequence[str], placement: np.ndarray) -> np.ndarray:
        """bool[3]: the seats whose decisions count in a game of players with `names` that finished as `placement`."""
        if self.rank is not None:
            return np.asarray(placement == self.rank - 1)
        return np.array([self.player in (None, name) for name in names])


def parse(text: str) -> Decisions:
    """``all``, ``winners``, ``rank:N`` or ``player:NAME``. Raises ValueError for anything else."""
    kind, _, value = text.partition(":")
    if text == ALL:
        return Decisions()
    if text == WINNERS:
        return Decisions(rank=1)
    if kind == RANK and value in map(str, range(1, N_SEATS + 1)):
        return Decisions(rank=int(value))
    if kind == PLAYER and value:
        return Decisions(player=value)
    raise ValueError(f"whose decisions? {text!r} is none of all, winners, player:NAME, rank:1, rank:2, rank:3")
