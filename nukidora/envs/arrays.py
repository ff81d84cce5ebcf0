"""Arrays that are reused once nobody references them, as allocating memory costs more than filling it."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

KEPT = 3  # for this step, the previous step, and one in between


class Arrays:
    """Provides arrays of one shape and dtype with arbitrary contents."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self._shape, self._dtype = shape, np.dtype(dtype)
        # memory, and the array on it that was given out last. Views of an array keep that array, since its own memory
        # is no array.
        self._kept: list[tuple[bytearray, weakref.ref[np.ndarray]]] = []

    def __reduce__(self) -> Any:
        return Arrays, (self._shape, self._dtype)

    def take(self) -> np.ndarray:
        """Return an array that nobody references, neither directly nor through a view."""
        free = next((kept for kept in self._kept if kept[1]() is None), None)
        if free is not None:
            self._kept.remove(free)
        memory = bytearray(int(np.prod(self._shape)) * self._dtype.itemsize) if free is None else free[0]
        array = np.frombuffer(memory, dtype=self._dtype)
        self._kept = [*self._kept[-KEPT + 1 :], (memory, weakref.ref(array))]
        return array.reshape(self._shape)
