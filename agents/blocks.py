"""Blocks: named groups of numbers in a row that a network reads. Their offsets follow from a table of them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple


class Block(NamedTuple):
    """A group of numbers in a row: its name, how many they are, and what they hold."""

    name: str
    n: int
    text: str


def offsets_of(blocks: Sequence[Block]) -> tuple[Any, int]:
    """The index of the first number of each block, as a named tuple for compiled code, and the number of all."""
    *starts, total = accumulate((block.n for block in blocks), initial=0)
    of_names = namedtuple("of_names", [block.name for block in blocks])  # type: ignore[misc]
    return of_names(*starts), total
