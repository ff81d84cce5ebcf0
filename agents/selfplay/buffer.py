"""The replay buffer: the last games of self-play, a ring in one memory-mapped file that survives the process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from agents.selfplay.games import GAME


class Buffer:
    """A ring of `capacity` GAME records in the file `path`. What was never written takes no room on most disks.

    How many games were ever added is not in the file: a run keeps it with its weights, so that both fit together.
    """

    def __init__(self, path: Path, capacity: int, added: int = 0) -> None:
        """Open the file, or make an empty one if it is missing or `added` is 0.

        Raises ValueError, in one line, if the file is not that of such a buffer or cannot be made.
        """
        size = capacity * GAME.itemsize
        added = added if path.exists() else 0
        self.capacity = capacity
        self.added = added
        if added and path.stat().st_size != size:
            raise ValueError(
                f"{path}: has {path.stat().st_size:,} bytes, a buffer of {capacity:,} games {size:,}; give --buffer as "
                "the run began with, or delete the file, to go on with an empty buffer"
            )
        try:
            self._games: Any = np.memmap(path, dtype=GAME, mode="r+" if added else "w+", shape=(capacity,))
        except OSError as error:
            raise ValueError(f"{path}: {error.strerror}") from None

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, games: np.ndarray) -> None:
        """Add `games` GAME[n], in place of the oldest."""
        kept = games[-self.capacity :]
        first = self.added + len(games) - len(kept)
        self._games[(first + np.arange(len(kept))) % self.capacity] = kept
        self.added += len(games)

    def draw(self, n: int, generator: np.random.Generator) -> np.ndarray:
        """`n` games at random, GAME[n], copied; all have the same chance, and one may come twice."""
        return np.array(self._games[generator.integers(len(self), size=n)])

    def flush(self) -> None:
        """Write what was added to the disk. Raises OSError."""
        self._games.flush()
