"""The observer of the games of a chunk that counts the tallies, and how tallies are kept in little room."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence

import numpy as np

from arena.schedule import Game
from arena.tallies.names import N_TALLIES
from arena.tallies.rounds import tally_rounds
from engine.table import N_SEATS
from engine.tables import Tables

MAX_BYTES = 64 << 20  # of the tallies of a chunk


class TallyObserver:
    """Counts the rounds of ``games`` on ``tables``: an `arena.observers.GameObserver`."""

    def __init__(self, tables: Tables, games: Sequence[Game], parts: Sequence[int], tallies: np.ndarray) -> None:
        """Add to ``tallies``, int32[parts, bots, N_TALLIES]; ``parts``: the part to which each game is added."""
        self._tables = tables
        self._tallies = tallies.reshape(-1, N_TALLIES)
        self._rows = N_SEATS * np.array(parts, dtype=np.int64)[:, None] + [game.seats for game in games]
        self._behind = np.zeros((len(games), N_SEATS), dtype=np.bool_)

    def rounds_ended(self, tables: np.ndarray) -> None:
        """See GameObserver."""
        tally_rounds(self._tables.raw, tables, self._rows, self._behind, self._tallies)

    def games_ended(self) -> None:
        """See GameObserver."""


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
