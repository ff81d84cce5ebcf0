"""Strict check of a server's messages against the table of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.mjai.bot_messages import parse_reply
from engine.mjai.keys import BadValue, Key
from engine.mjai.kinds import ACTIONS
from engine.mjai.messages import dumps
from engine.mjai.schema import CAN_ACT, CONNECTION, EVENTS

Message = dict[str, Any]


def keys_of(kind: str) -> Sequence[Key]:
    """The keys of a type of message in the order of the table. Raises ValueError for a type of no server."""
    if kind in EVENTS:
        return (*EVENTS[kind].keys, CAN_ACT)
    if kind in CONNECTION and CONNECTION[kind].sender == "server":
        return CONNECTION[kind].keys
    raise ValueError(f"type {kind!r} is not written by a server")


def check_keys(message: Message) -> Sequence[Key]:
    """The keys that a message has. Raises ValueError unless they are those that a server writes, in their order."""
    keys = keys_of(message["type"])
    expected = ["type"] + [key.name for key in keys if key.name in message or key.default is not None]
    if list(message) != expected:
        raise ValueError(f"keys of {message['type']} are {list(message)}, not {expected}")
    return [key for key in keys if key.name in message]


def check_message(message: Message) -> None:
    """Raise ValueError, naming the key, unless a server writes such a message: its keys, their order, their values."""
    for key in check_keys(message):
        value = message[key.name]
        try:
            canonical = key.kind.check(value)
        except BadValue as error:
            raise ValueError(f"{message['type']}: {key.name} is {error.shown}") from None
        if canonical != value:
            raise ValueError(f"{message['type']}: {key.name} is {value}, canonical is {canonical}")
        if key.kind is ACTIONS and [parse_reply(dumps(action)) for action in value] != value:
            raise ValueError(f"{message['type']}: {key.name} has an action that is no canonical reply: {value}")
