"""Mahjong Soul's native records in binary form, as its server sends them: protobuf, read by the package ms-api.

`document_of` returns the JSON that `engine.records.majsoul` reads. Needs the extra ``archive``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError, Message
from ms import protocol_pb2 as protocol

from engine.records.majsoul import Fields

PACKAGE = ".lq."  # of the names of messages
DETAILS = f"{PACKAGE}GameDetailRecords"
MAX_RECORDS = 100_000  # of a game, which has about 3,000; an empty one takes two bytes in a file, hundreds in memory
RESPONSE, FRAME_HEAD = 3, 3  # first byte of a WebSocket frame that answers a request; bytes before its message


def document_of(data: bytes) -> Fields:
    """Decode a response to ``fetchGameRecord``, with or without the header of its frame, or just its ``data``.

    ``data`` alone has no names and no rules. Raises ValueError if the bytes are not such a record.
    """
    if data[:1] == bytes([RESPONSE]):
        data = _wrapped(data[FRAME_HEAD:]).data
    response = _parsed(protocol.ResGameRecord, data)
    wrapped = _wrapped(response.data) if response is not None else None
    if response is None or wrapped is None or wrapped.name != DETAILS:
        response, wrapped = None, _wrapped(data)
    if wrapped.name != DETAILS:
        raise ValueError(f"a binary record of Mahjong Soul without {DETAILS}")
    details = _parsed(protocol.GameDetailRecords, wrapped.data)
    if details is None:
        raise ValueError("a binary record of Mahjong Soul that is cut off or damaged: fetch it again")
    head = {} if response is None else {"head": _fields(response.head)}
    return head | {"records": list(_records(details))}


def _records(details: Any) -> Iterator[Fields]:
    """Yield the records of a game with their names; types added by later versions of the game have no fields."""
    found = details.records or [action.result for action in details.actions if action.result]
    if len(found) > MAX_RECORDS:
        raise ValueError(f"a binary record of Mahjong Soul with {len(found):,} records: no game has as many")
    for data in found:
        wrapped = _wrapped(data)
        kind = getattr(protocol, wrapped.name.removeprefix(PACKAGE), None)
        message = _parsed(kind, wrapped.data) if isinstance(kind, type) and issubclass(kind, Message) else None
        yield {"name": wrapped.name, "data": {} if message is None else _fields(message)}


def _wrapped(data: bytes) -> Any:
    """Decode the ``Wrapper`` in `data`: a name and the bytes of a message. Raises ValueError."""
    wrapped = _parsed(protocol.Wrapper, data)
    if wrapped is None:
        raise ValueError("a binary record of Mahjong Soul that is cut off or damaged: fetch it again")
    return wrapped


def _parsed(kind: Any, data: bytes) -> Any:
    """Return the message of that kind in `data`, or None."""
    try:
        return kind.FromString(data)
    except DecodeError:
        return None


def _fields(message: Message) -> Fields:
    fields: Fields = MessageToDict(message, preserving_proto_field_name=True)
    return fields
