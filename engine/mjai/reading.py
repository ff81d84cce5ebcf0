"""Conversion of messages of any dialect, from a server or a bot, to canonical form.

Reading is lenient: it accepts every name and spelling of every dialect, a padded fourth seat, and keys in any order,
and keeps unknown keys.
"""

from __future__ import annotations

from typing import Any

from engine.common.error_text import error_text
from engine.mjai.jansou import plain
from engine.mjai.keys import Read
from engine.mjai.messages import Message, make
from engine.mjai.schema import EVENTS, GAME_MESSAGES, KEY_ALIASES, NOT_OF_A_GAME, SEAT_KEYS, TYPE_ALIASES

# Key in any dialect -> its canonical name and the function that reads its value.
_READ: dict[str, tuple[str, Read]] = {
    key.name: (key.name, key.kind.read) for row in GAME_MESSAGES for key in row.keys if key.name not in SEAT_KEYS
}
_READ |= {alias: _READ[name] for alias, name in KEY_ALIASES.items()}
# Type -> keys to leave out, and values of keys that may be missing.
_UNREAD = {row.type: SEAT_KEYS | {"type", *row.unread} for row in EVENTS.values()}
_DEFAULTS: dict[str, Message] = {
    row.type: {key.name: key.default for key in row.keys if isinstance(key.default, str)} for row in EVENTS.values()
}


def canonical(message: Message) -> Message:
    """Convert a message of any dialect, from a server or a bot, to canonical form.

    Messages of a connection and ``none`` are returned unchanged. Keys for one seat (``possible_actions``, ``id``, …)
    are left out, unknown keys are kept. Accepts any JSON value, and raises no exception but ValueError.
    """
    try:
        return message if message["type"] in NOT_OF_A_GAME else canonical_event(message)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"no message of a game ({type(error).__name__}: {error})") from error


def canonical_event(message: Message) -> Message:
    """An event of a game in canonical form. Raises ValueError, KeyError, TypeError, AttributeError, OverflowError."""
    message = plain(message)
    kind: Any = TYPE_ALIASES.get(message["type"], message["type"])
    if kind not in EVENTS:
        raise ValueError(error_text("event_unknown", "unknown event type {kind}", kind=repr(kind)))
    unread = _UNREAD[kind]
    fields = dict(_DEFAULTS[kind])
    for key, value in message.items():
        if key not in unread:
            found = _READ.get(key)
            if found is None:
                fields[key] = value
            else:
                fields[found[0]] = found[1](found[0], value)
    return make(kind, **fields)
