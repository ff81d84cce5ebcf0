"""Names made unique."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def labels(names: Sequence[str]) -> list[str]:
    """Unique labels: the second ``random`` becomes ``random#2``."""
    counts: Counter[str] = Counter()
    unique = []
    for name in names:
        counts[name] += 1
        unique.append(name if counts[name] == 1 else f"{name}#{counts[name]}")
    return unique
