"""Names made unique."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count


def labels(names: Sequence[str]) -> list[str]:
    """Unique labels: the second ``random`` becomes ``random#2``, or the next that is free."""
    unique: list[str] = []
    for name in names:
        numbered = chain([name], (f"{name}#{n}" for n in count(2)))
        unique.append(next(label for label in numbered if label not in unique))
    return unique
