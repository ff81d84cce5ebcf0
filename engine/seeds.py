"""Derived seeds: many independent seeds from one."""

from __future__ import annotations

import hashlib

MAX_SEED = (1 << 64) - 1


def derive_seed(seed: int, use: str, index: int) -> int:
    """A 64-bit seed for each `use` and `index`, the same on every machine; `seed` cannot be computed from it."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {use} {index}".encode(), digest_size=8).digest(), "little")
