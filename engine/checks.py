"""Checks of the numbers that callers pass from Python: one clear line for what is not accepted."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral

import numpy as np

from engine.seeds import MAX_SEED
from engine.table import N_SEATS

_SEED = "an integer from 0 to 2^64 - 1"
_SEAT = "0, 1 or 2"


def whole_number(value: object, what: str, accepted: str, greatest: int, least: int = 0) -> int:
    """`value` as an int from `least` to `greatest`; NumPy's integers are accepted, booleans are not.

    `what` and `accepted` describe the number in messages. Raises TypeError for what is no integer, ValueError for one
    out of range.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{what} must be {accepted}, not {value!r}")
    number = int(value)
    if not least <= number <= greatest:
        raise ValueError(f"{what} must be {accepted}, not {number}")
    return number


def checked_seat(seat: object) -> int:
    """`seat` as an int. Raises TypeError or ValueError if there is no such seat."""
    return whole_number(seat, "seat", _SEAT, N_SEATS - 1)


def checked_seed(seed: object) -> int:
    """`seed` as an int. Raises TypeError or ValueError if it is no seed."""
    return whole_number(seed, "seed", _SEED, MAX_SEED)


def checked_seeds(seeds: object) -> np.ndarray:
    """`seeds` as uint64[n]. Raises TypeError or ValueError if it holds anything else than seeds."""
    if not isinstance(seeds, Iterable) or isinstance(seeds, str):
        raise TypeError(f"seeds must be a sequence with a seed for each game, such as range(100), not {seeds!r}")
    array = seeds if isinstance(seeds, np.ndarray) else np.array([checked_seed(seed) for seed in seeds], dtype="u8")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"seeds must be one row of integers, not {array.dtype}{list(array.shape)}")
    if array.dtype.kind == "i" and len(array):
        checked_seed(array.min())
    return array.astype(np.uint64)
