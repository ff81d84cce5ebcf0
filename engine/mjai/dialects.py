"""Conversion of canonical messages (dialect mjai3p) to the dialects of other families of bots.

- ``mjai3p``: the three-player Ruby server and its bots; records.
- ``libriichi3p``: Mortal-family engines: libriichi's ``Event``, with a padded fourth seat.
- ``kita``: RiichiEnv (0.4.11) and jansou: north is ``kita``, every kan names a ``pai``, keys in alphabetical order.

`engine.mjai.schema` defines which keys a dialect writes, and under which names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.mjai.connection import DEFAULT_DIALECT, DIALECTS
from engine.mjai.keys import Scope
from engine.mjai.messages import Message
from engine.mjai.schema import CAN_ACT, COMPUTED, DIALECT_ROWS, EVENTS, Dialect, EventMessage

__all__ = ["DIALECTS", "write"]

Value = Callable[[Message], Any]  # the value to write for a canonical message; None leaves the key out


def _renamed(name: str) -> Value:
    return lambda message: name


def _canonical(key: str) -> Value:
    return lambda message: message.get(key)


def _padded(key: str, padding: Any) -> Value:
    def value(message: Message) -> list[Any] | None:
        seats = message.get(key)
        return None if seats is None else [*seats, padding]

    return value


def _reds_first(message: Message) -> list[str] | None:
    consumed: list[str] | None = message.get("consumed")
    return None if consumed is None else consumed[::-1]


def _reason(reasons: dict[str, str]) -> Value:
    def value(message: Message) -> str | None:
        reason = message.get("reason")
        return reasons.get(reason, reason) if reason else None

    return value


def _first_consumed(message: Message) -> str:
    """Return the first tile of a concealed kan, which RiichiEnv also names by a tile."""
    tile: str = message["consumed"][-1]
    return tile


def _by_tsumo(message: Message) -> bool | None:
    """Return True for a win by tsumo; RiichiEnv omits ``tsumo`` for other wins."""
    return True if message.get("target") == message["actor"] else None


# Keys that kita adds to an event.
_COMPUTED: dict[tuple[str, str], Value] = {
    ("ankan", "pai"): _first_consumed,
    ("hora", "tsumo"): _by_tsumo,
    ("ryukyoku", "actor"): _canonical("actor"),
}


def _value(row: EventMessage, key: str, dialect: Dialect) -> Value | None:
    """Return the function that converts the value of a canonical key; None if it is written unchanged."""
    if key == "type":
        return _renamed(dialect.types[row.type]) if row.type in dialect.types else None
    if (row.type, key) in _COMPUTED:
        return _COMPUTED[row.type, key]
    padding = next((of.kind.padding for of in row.keys if of.name == key), None)
    if dialect.four_seats and padding is not None:
        return _padded(key, padding)
    if key == "consumed" and dialect.reds_first:
        return _reds_first
    if key == "reason" and dialect.reasons:
        return _reason(dict(dialect.reasons))
    return _canonical(key) if key in dialect.keys else None


def _plan(row: EventMessage, dialect: Dialect) -> list[tuple[str, Value | None]]:
    """Return the keys that a dialect writes, in order, with their values. Keys of the connection come last."""
    keys: str | None = getattr(row, dialect.name)
    game = [key.name for key in row.keys if key.scope is Scope.RECORD] if keys is None else keys.split()
    pairs = [(dialect.keys.get(key, key), _value(row, key, dialect)) for key in ("type", *game)]
    if dialect.sorted_keys:
        pairs.sort(key=lambda pair: pair[0])
    return pairs + [(key.name, None) for key in (*row.keys, CAN_ACT) if key.scope is Scope.CONNECTION]


# dialect -> canonical type -> (key written, its value or None for the canonical one)
_PLANS: dict[str, dict[str, list[tuple[str, Value | None]]]] = {
    dialect.name: {row.type: _plan(row, dialect) for row in EVENTS.values()} if name != DEFAULT_DIALECT else {}
    for name, dialect in DIALECT_ROWS.items()
}


def write(message: Message, dialect: str) -> Message:
    """Convert a canonical message to `dialect`, one of `DIALECTS`. Messages that are not events are returned unchanged.

    `message` is not changed; the result may share its values, and may be `message` itself.
    """
    plan = _PLANS[dialect].get(message["type"])
    if plan is None:
        return message
    return {
        key: found
        for key, value in plan
        if (found := message.get(key) if value is None else value(message)) is not None
    }


if _COMPUTED.keys() != COMPUTED:
    raise ImportError(f"keys that kita adds: the table has {sorted(COMPUTED)}, here are {sorted(_COMPUTED)}")
