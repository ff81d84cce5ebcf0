"""The arena for Python callers."""

from __future__ import annotations


def play() -> None:
    """Play a match."""
    raise NotImplementedError
