"""Blocks: named groups of numbers in a row that a network reads. Their offsets follow from a table of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Block(NamedTuple):
    """A group of numbers in a row: its name, how many they are, and what they hold."""

    name: str
    n: int
    text: str


def offsets_of(blocks: Iterable[Block]) -> tuple[dict[str, int], int]:
    """The index of the first number of each block, and the number of all."""
    offsets, total = {}, 0
    for block in blocks:
        offsets[block.name] = total
        total += block.n
    return offsets, total
