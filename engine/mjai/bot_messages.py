"""Parsing of a bot's messages, untrusted bytes, into canonical form. Needs pydantic_core, as the server does.

The checks of the parsed JSON are in `engine.mjai.bot_checks`.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from functools import lru_cache
from typing import NoReturn

from pydantic_core import from_json

from engine.common.error_text import ErrorText, error_text
from engine.mjai.bot_checks import BadMessage, check_join, check_reply
from engine.mjai.connection import Join
from engine.mjai.keys import show
from engine.mjai.messages import Message
from engine.mjai.schema import REQUESTS

NONE = frozenset({b'{"type":"none"}', b'{"type": "none"}'})  # most replies are one of these
SHORT = 128  # bytes; the replies up to this length are few: those used last are parsed once
REMEMBERED = 1024  # of them
_REQUEST = re.compile(f'"(?:{"|".join(sorted(REQUESTS))})"'.encode())  # few replies hold one of these
ONE_OBJECT = "send one JSON object a message, in UTF-8"
NOT_UTF8 = error_text("message_not_utf8", f"not UTF-8; {ONE_OBJECT}")


def parse_join(data: bytes | str, given: Message | None = None) -> Join:
    """Parse the join message of a bot; the keys `given` by the URL replace its own. Raises BadMessage."""
    join = check_join(_object(data) | (given or {}))
    _refuse_constants(data)
    return join


def parse_reply(data: bytes | str) -> Message:
    """Parse a bot's reply in a game into canonical form, with its ``ext_bot``. Raises BadMessage.

    The reply may be shared with other calls, so it must not be changed.
    """
    return _short_reply(data) if len(data) <= SHORT else _reply(data)


def _reply(data: bytes | str) -> Message:
    reply = check_reply(_object(data))
    _refuse_constants(data)
    return reply


_short_reply = lru_cache(REMEMBERED)(_reply)


def request_in(data: bytes) -> str:
    """The type of a message of `engine.mjai.schema.REQUESTS`; "" for any other message, which is a reply."""
    if _REQUEST.search(data) is None:
        return ""
    try:
        kind = _object(data).get("type")
    except BadMessage:  # `parse_reply` says so
        return ""
    return kind if isinstance(kind, str) and kind in REQUESTS else ""


def _object(data: bytes | str) -> Message:
    """Parse the JSON object in `data`, which may begin with a byte order mark. Raises BadMessage."""
    try:
        encoded = data.encode() if isinstance(data, str) else data
        received = from_json(encoded.removeprefix(BOM_UTF8))
    except UnicodeError:
        raise BadMessage(NOT_UTF8) from None
    except ValueError as error:
        raise BadMessage(_not_json(error)) from None
    if type(received) is not dict:
        text = "the message is {given}; it must be a JSON object with a type"
        raise BadMessage(error_text("message_no_object", text, given=show(received)))
    return received


def _refuse_constants(data: bytes | str) -> None:
    """Raise BadMessage for NaN and infinities, which are not JSON, under keys that are not read."""
    encoded = data.encode() if isinstance(data, str) else data
    if b"NaN" in encoded or b"Infinity" in encoded:  # in a text, or a constant
        try:
            json.loads(encoded, parse_constant=_refuse_constant)
        except ValueError as error:
            raise BadMessage(_not_json(error)) from None


def _not_json(error: ValueError) -> ErrorText:
    return error_text("message_not_json", f"not JSON ({{error}}); {ONE_OBJECT}", error=str(error))


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number there")
