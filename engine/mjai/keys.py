"""Keys of messages, kinds of values, and the kinds for numbers and texts.

A kind checks the value of a key in a bot's message (strict types, any spelling of a tile) and reads the value from any
dialect (liberal types). Both return the canonical value. Command lines use the kinds here to check names and rooms
without importing numba; the kinds of a game are in `engine.mjai.kinds`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import Any

from engine.common.error_text import error_text
from engine.rules import N_SEATS

Message = dict[str, Any]
Check = Callable[[Any], Any]
Read = Callable[[str, Any], Any]

MAX_COUNT = 2**31 - 1
MAX_SHOWN = 60  # characters of a bot's value in an error message


class BadValue(ValueError):  # noqa: N818 - names the value, not an error
    """A value that is not allowed for its key. `shown` is the shortened printable value, `path` its location."""

    def __init__(self, value: Any, path: str = "", shown: str = "") -> None:
        self.shown = shown or show(value)
        self.path = path
        super().__init__(self.shown)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of value. `name` is its name in docs/protocol.md.

    `check(value)` returns the canonical value or raises BadValue; `read(key, value)` does so for a message of any
    dialect, and may raise ValueError, TypeError or AttributeError. `padding` is the entry for a fourth seat in lists of
    seats, in dialects that have one.
    """

    name: str
    check: Check
    read: Read = lambda key, value: value
    padding: Any = None


REQUIRED: Any = object()  # the default of a required key


class Scope(Enum):
    """The recipients of a key of an event, and whether records keep it."""

    RECORD = "record"  # everybody; kept in records
    SEAT = "seat"  # the seat that gets the message; not in records
    CONNECTION = "connection"  # as SEAT, and written last, in every dialect


class Visibility(Enum):
    """Which seats see the value of a key of an event."""

    ALL = "all"
    ACTOR = "actor"  # others get ``?``
    OWNER = "owner"  # of a list of hands, each seat gets its own; the others are ``?``
    RECEIVER = "receiver"  # the value is the seat that gets the message


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a message. `text` describes the values allowed.

    `default` is `REQUIRED` for a required key, None for one that may be missing or null, else the value of a missing
    key.
    """

    name: str
    kind: Kind
    text: str = ""
    default: Any = REQUIRED
    scope: Scope = Scope.RECORD
    visibility: Visibility = Visibility.ALL


def show(value: Any) -> str:
    """Return a value of a bot's message as at most `MAX_SHOWN` printable characters."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int | float):
        return "a huge number" if 10**12 <= abs(value) < inf else json.dumps(value)
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list) and not (len(value) <= 4 and all(isinstance(entry, str) for entry in value)):
        return f"a list of {len(value)}"
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


# Checks ---------------------------------------------------------------------------------------------------------------


def integer(low: int, high: int) -> Check:
    """Return a check for an integer from `low` to `high`; 1.0 and true are not integers."""

    def check(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise BadValue(value)
        return value

    return check


def instance(*types: type) -> Check:
    """Return a check for a value whose type is one of `types`."""

    def check(value: Any) -> Any:
        if type(value) not in types:
            raise BadValue(value)
        return value

    return check


def choice(*values: str) -> Check:
    """Return a check for one of the texts `values`."""

    def check(value: Any) -> str:
        if type(value) is not str or value not in values:
            raise BadValue(value)
        return value

    return check


def text(low: int, high: int) -> Check:
    """Return a check for a text of `low` to `high` characters."""

    def check(value: Any) -> str:
        if type(value) is not str or not low <= len(value) <= high:
            raise BadValue(value)
        return value

    return check


def list_of(check_entry: Check, low: int = 0, high: int = MAX_COUNT) -> Check:
    """Return a check for a list of `low` to `high` entries."""

    def check(value: Any) -> list[Any]:
        if type(value) is not list or len(value) > high:
            raise BadValue(value)
        entries = []
        for index, entry in enumerate(value):
            try:
                entries.append(check_entry(entry))
            except BadValue as error:
                raise BadValue(entry, f"[{index}]{error.path}", error.shown) from None
        if len(entries) < low:
            raise BadValue(value)
        return entries

    return check


# Kinds ----------------------------------------------------------------------------------------------------------------


def read_seat(key: str, value: Any) -> Any:
    """A seat."""
    if value not in range(N_SEATS):
        raise ValueError(f"{key} {value!r}: there are three seats, 0 to 2")
    return value


def read_count(key: str, value: Any) -> Any:
    """A count, or None. Nothing else refuses a value of a key that replaying a round does not need."""
    if value is not None and (type(value) is not int or not 0 <= value <= MAX_COUNT):
        what = "{key} is {given}, not an integer from 0 on"
        raise ValueError(error_text("no_count", what, key=key, given=show(value)))
    return value


def whole(value: Any) -> Any:
    """A whole number as an integer: some programs write points as 35000.0; another value is returned unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


SEAT = Kind("seat", integer(0, N_SEATS - 1), read_seat)
COUNT = Kind("count", integer(0, MAX_COUNT), read_count)
INTEGER = Kind("integer", instance(int), lambda key, value: whole(value))
BOOL = Kind("bool", instance(bool))
TEXT = Kind("text", instance(str))
