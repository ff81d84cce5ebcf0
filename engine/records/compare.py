"""A recorded event beside the one the rules give, compared key by key in the detail the record has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.mjai.messages import KEYS, Event, sort_tiles

# The order of these lists differs from format to format and means nothing.
_UNORDERED: dict[str, Callable[[Any], Any]] = {
    "hora_tehais": sort_tiles,
    "tehais": lambda hands: [sort_tiles(hand) for hand in hands],
    "yakus": lambda yakus: sorted(map(list, yakus)),
}
# What names an event in a message, if it has it.
_NAMING = ("actor", "target", "pai", "consumed", "reason", "bakaze", "kyoku", "honba", "dora_marker")
_WHOLE_POINT_ERROR = 0.5


def differing_keys(recorded: Event, ours: Event) -> list[str]:
    """The keys in which a recorded event differs from ours; a key absent in the record is not compared."""
    if recorded["type"] != ours["type"]:
        return ["type"]
    known = KEYS[recorded["type"]]
    return [
        key
        for key, value in recorded.items()
        if value != ours.get(key) and key in known and not _agrees(key, value, ours.get(key))
    ]


def words(event: Event, keys: list[str] | None = None) -> str:
    """An event in words: its type and `keys`, by default (and where the type itself differs) those that name it."""
    if keys is None or keys == ["type"]:
        keys = [key for key in _NAMING if key in event]
    return " ".join([event["type"], ", ".join(f"{key} {event.get(key, 'none')}" for key in keys)]).strip()


def _agrees(key: str, recorded: Any, ours: Any) -> bool:
    """Whether two unequal values mean the same."""
    if ours is None:
        return False
    if key == "yakus":
        ours = _as_detailed(ours, recorded)
    if key == "points":
        return _is_rounded(recorded, ours)
    return key in _UNORDERED and bool(_UNORDERED[key](recorded) == _UNORDERED[key](ours))


def _as_detailed(ours: list[list[Any]], recorded: list[list[Any]]) -> list[list[Any]]:
    """Our yaku with laid norths counted as dora where the record lists none by themselves, as Tenhou does."""
    han = dict(map(tuple, ours))  # only dragons occur twice, each worth one
    if "nukidora" not in han or any(name == "nukidora" for name, _ in recorded):
        return ours
    kept = [yaku for yaku in ours if yaku[0] not in ("dora", "nukidora")]
    return [*kept, ["dora", han.get("dora", 0) + han["nukidora"]]]


def _is_rounded(recorded: list[float], ours: list[float]) -> bool:
    """Whether `recorded` are our final points in whole numbers, as Tenhou gave them until about 2018.

    All but the top are rounded; the top gets what the others lose.
    """
    if any(points != int(points) for points in recorded) or sum(recorded) != 0:
        return False
    top = max(ours)
    pairs = zip(recorded, ours, strict=True)
    return all(abs(points - exact) <= _WHOLE_POINT_ERROR for points, exact in pairs if exact != top)
