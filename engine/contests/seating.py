"""Who sits where: every wall is played in each rotation of the seats, so that luck largely cancels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from engine.rules import N_SEATS
from engine.seeds import derive_seed

ROTATIONS = N_SEATS
SEATINGS = np.array(list(permutations(range(N_SEATS))), dtype=np.int8)  # without rotations, game i has i modulo 6


def seating(walls: Sequence[int]) -> np.ndarray:
    """The index of the player on each seat: int8[walls, ROTATIONS, seats].

    Over the three rotations of a wall every player has every seat once. With cyclic rotations alone, each would always
    have the same right-hand neighbour, so odd walls rotate in the opposite order: two walls have all six orders once.
    """
    wall, rotation, seat = np.ix_(np.asarray(walls), np.arange(ROTATIONS), np.arange(N_SEATS))
    direction = np.where(wall % 2 == 0, 1, -1)
    return ((rotation + direction * seat) % N_SEATS).astype(np.int8)


def wall_seed(seed: int, wall: int) -> int:
    """The 64-bit seed of a wall of the contest with that seed."""
    return derive_seed(seed, "wall", wall)
