"""Seeds for whoever plays many games from one."""

from __future__ import annotations

import hashlib

MAX_SEED = (1 << 64) - 1


def derived_seed(seed: int, use: str, index: int) -> int:
    """A 64-bit seed of its own for each use and index, the same on every machine; it does not tell `seed`."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {use} {index}".encode(), digest_size=8).digest(), "little")
