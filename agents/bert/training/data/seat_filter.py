"""Whose decisions become training samples (option ``--decisions``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agents.bert.options import ALL
from engine.table import N_SEATS

WINNERS, RANK, PLAYER = "winners", "rank", "player"


@dataclass(frozen=True, slots=True)
class SeatFilter:
    """Chooses seats of a finished game: all, those that finished at `rank` (1-3), or those of the player `player`."""

    rank: int | None = None
    player: str | None = None

    def seats(self, names: Sequence[str], placement: np.ndarray) -> np.ndarray:
        """bool[3]: the chosen seats of a game between `names`, by seat; `placement` int[3] is 0 for the first."""
        if self.rank is not None:
            return np.asarray(placement == self.rank - 1)
        return np.array([self.player in (None, name) for name in names])


def parse_seat_filter(text: str) -> SeatFilter:
    """``all``, ``winners``, ``rank:N`` or ``player:NAME``. Raises ValueError for anything else."""
    kind, _, value = text.partition(":")
    if text == ALL:
        return SeatFilter()
    if text == WINNERS:
        return SeatFilter(rank=1)
    if kind == RANK and value in map(str, range(1, N_SEATS + 1)):
        return SeatFilter(rank=int(value))
    if kind == PLAYER and value:
        return SeatFilter(player=value)
    raise ValueError(f"{text!r} is not one of all, winners, player:NAME, rank:1, rank:2, rank:3")
