"""Compare a recorded event with the engine's, key by key, for the keys that the record has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.mjai.kinds import sort_tiles
from engine.mjai.messages import Message
from engine.mjai.schema import KEYS
from engine.records.model import describe_source

# Lists whose order differs between formats and is irrelevant.
_UNORDERED: dict[str, Callable[[Any], Any]] = {
    "hora_tehais": sort_tiles,
    "tehais": lambda hands: [sort_tiles(hand) for hand in hands],
    "yakus": lambda yakus: sorted(map(list, yakus)),
}
# Keys by which a message identifies an event.
_IDENTIFYING_KEYS = ("actor", "target", "pai", "consumed", "reason", "bakaze", "kyoku", "honba", "dora_marker")
_WHOLE_POINT_ERROR = 0.5


def differing_keys(recorded: Message, ours: Message) -> list[str]:
    """The keys in which a recorded event differs from ours; keys that the record lacks are not compared."""
    if recorded["type"] != ours["type"]:
        return ["type"]
    known = KEYS[recorded["type"]]
    return [
        key
        for key, value in recorded.items()
        if value != ours.get(key) and key in known and not _agrees(key, value, ours.get(key))
    ]


def describe_event(event: Message, keys: list[str] | None = None) -> str:
    """Return an event as text: its type and `keys`; by default, and if the type differs, the keys that identify it."""
    if keys is None or keys == ["type"]:
        keys = [key for key in _IDENTIFYING_KEYS if key in event]
    return describe_source(
        " ".join([event["type"], ", ".join(f"{key} {event.get(key, 'none')}" for key in keys)]).strip()
    )


def _agrees(key: str, recorded: Any, ours: Any) -> bool:
    """Whether two unequal values have the same meaning."""
    if ours is None:
        return False
    if key == "yakus":
        ours = _as_detailed(ours, recorded)
    if key == "points":
        return _is_rounded(recorded, ours)
    return key in _UNORDERED and bool(_UNORDERED[key](recorded) == _UNORDERED[key](ours))


def _as_detailed(ours: list[list[Any]], recorded: list[list[Any]]) -> list[list[Any]]:
    """Return our yaku, with nukidora counted as dora (as Tenhou does) unless the record lists them as nukidora."""
    han = dict(map(tuple, ours))  # only dragons occur twice, with one han each
    if "nukidora" not in han or any(name == "nukidora" for name, _ in recorded):
        return ours
    kept = [yaku for yaku in ours if yaku[0] not in ("dora", "nukidora")]
    return [*kept, ["dora", han.get("dora", 0) + han["nukidora"]]]


def _is_rounded(recorded: list[float], ours: list[float]) -> bool:
    """Return whether `recorded` are our final points rounded to integers, as in Tenhou's records until about 2018.

    All ranks but the first are rounded; the first gets the remainder, so that the sum is zero.
    """
    if any(points != int(points) for points in recorded) or sum(recorded) != 0:
        return False
    top = max(ours)
    pairs = zip(recorded, ours, strict=True)
    return all(abs(points - exact) <= _WHOLE_POINT_ERROR for points, exact in pairs if exact != top)
