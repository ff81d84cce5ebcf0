"""A hash of the sources of packages, which shows whether a run is resumed by the same version of a program."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
KINDS = ("*.py", "*.npz")


@cache
def digest_of_sources(*packages: str) -> str:
    """Return a hash of all sources and tables of these packages of ours, independent of their location."""
    digest = hashlib.sha256()
    for package in packages:
        for path in sorted(path for kind in KINDS for path in (ROOT / package).rglob(kind)):
            digest.update(f"{path.relative_to(ROOT).as_posix()} ".encode() + path.read_bytes())
    return digest.hexdigest()[:16]
