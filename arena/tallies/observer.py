"""The observer of the games of a chunk that keeps their rounds, and how tallies are kept in little room."""

from __future__ import annotations

import base64
import zlib

import numpy as np

from arena.tallies.counts import N_TALLIES
from engine.statistics.rounds import ROUND, rounds_of
from engine.table import N_SEATS
from engine.tables import Tables

MAX_BYTES = 64 << 20  # of the tallies of a chunk


class RoundObserver:
    """Keeps what happens in the rounds on some tables: an `arena.observers.GameObserver`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._rows = [np.zeros((0, N_SEATS), dtype=ROUND)]
        self._games = [np.zeros(0, dtype=np.int64)]

    def rounds_ended(self, tables: np.ndarray) -> None:
        """Keep the rows of these rounds."""
        self._rows.append(rounds_of(self._tables.raw, tables))
        self._games.append(tables.copy())

    def games_ended(self) -> None:
        """Do nothing: every round is kept."""

    def rounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows of all rounds, ROUND[rounds, seats], and the table of each, int64[rounds]; as the rounds ended."""
        return np.concatenate(self._rows), np.concatenate(self._games)


def pack(tallies: np.ndarray) -> str:
    """Return tallies int32[parts, bots, N_TALLIES], most of which are zero, as a short text."""
    return base64.b85encode(zlib.compress(np.ascontiguousarray(tallies, dtype="<i4").tobytes())).decode("ascii")


def unpack(text: str) -> np.ndarray:
    """Return the tallies in such a text, read-only. Raises ValueError for any other text."""
    try:
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(base64.b85decode(text), MAX_BYTES)
    except zlib.error as error:
        raise ValueError(f"not packed tallies: {error}") from None
    if not unpacking.eof:
        raise ValueError("not packed tallies: cut off, or too many")
    return np.frombuffer(data, dtype="<i4").reshape(-1, N_SEATS, N_TALLIES)
