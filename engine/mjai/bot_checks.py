"""Checks of the messages of a bot: a parsed JSON join or reply, converted to canonical form.

The checks follow from `engine.mjai.schema`: types are strict (1 is not 1.0, true or "1"), tiles and north may be
spelled as in any dialect, unknown keys are ignored, and only the keys that decide the action are required.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from engine.common.error_text import error_text
from engine.mjai.connection import JOIN_DEFAULTS, JOIN_KEYS, Join
from engine.mjai.keys import REQUIRED, BadValue, Check, Key, show
from engine.mjai.messages import Message
from engine.mjai.schema import COMMON, REPLIES, REPLY_TYPES


class BadMessage(ValueError):  # noqa: N818 - names the message, not an error
    """A message that cannot be read. Its text is one printable line: what is wrong, where, and what is allowed."""


class _Field(NamedTuple):
    """A key of a message in the form used for checking."""

    name: str
    check: Check
    default: Any
    text: str


def _fields(keys: Iterable[Key]) -> list[_Field]:
    return [_Field(key.name, key.kind.check, key.default, key.text) for key in keys]


_JOIN = _fields(JOIN_KEYS)
# type as a bot may write it -> canonical type, keys
_REPLIES: dict[Any, tuple[str, list[_Field]]] = {
    name: (canonical, _fields((*COMMON, *REPLIES[canonical].keys))) for name, canonical in REPLY_TYPES.items()
}


def check_join(received: Message) -> Join:
    """Check a join message and return it. Raises BadMessage."""
    kind = received.get("type", REQUIRED)
    if kind != "join":
        raise BadMessage(f"join: type is {'missing' if kind is REQUIRED else show(kind)}; type must be join")
    read = _read(received, "join", _JOIN, {})
    join = Join(**(JOIN_DEFAULTS | read), given=frozenset(received.keys() & JOIN_DEFAULTS.keys()))
    if not join.name and not isinstance(join.resume, str):
        said = "join: name is missing; name must be {allowed}"
        raise BadMessage(error_text("name_missing", said, allowed=_JOIN[0].text))
    return join


def check_reply(received: Message) -> Message:
    """Return a bot's reply in a game in canonical form, with its ``ext_bot``. Raises BadMessage."""
    kind = received.get("type", REQUIRED)
    try:
        name, fields = _REPLIES[kind]
    except (KeyError, TypeError):
        found = "missing" if kind is REQUIRED else show(kind)
        text = "type is {given}; type must be one of {names}"
        raise BadMessage(error_text("type_wrong", text, given=found, names=", ".join(_REPLIES))) from None
    return _read(received, kind, fields, {"type": name})


def _read(received: Message, kind: str, fields: list[_Field], message: Message) -> Message:
    """Add the checked values of `fields` to `message`. Raises BadMessage for the first wrong value."""
    for name, check, default, text in fields:
        value = received.get(name, REQUIRED)
        if value is REQUIRED:
            if default is REQUIRED:
                said = "{message}: {key} is missing; {key} must be {allowed}"
                raise BadMessage(error_text("key_missing", said, message=kind, key=name, allowed=text))
            if default is not None:
                message[name] = default
        elif value is not None or default is not None:
            try:
                message[name] = check(value)
            except BadValue as error:
                said = "{message}: {key}{path} is {given}; {key} must be {allowed}"
                raise BadMessage(
                    error_text(
                        "key_wrong", said, message=kind, key=name, path=error.path, given=error.shown, allowed=text
                    )
                ) from None
    return message
