"""Bytes of a keyboard read as keys."""

from __future__ import annotations

import random

import pytest

from agents.console.keys import BACKSPACE, ENTER, ESCAPE, LEFT, RIGHT, KeyDecoder


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"12\r", ["1", "2", ENTER]),
        (b"\x1b[C\x1bOD\x7f\x0c", [RIGHT, LEFT, BACKSPACE]),  # Ctrl-L: whatever is read, the picture is drawn again
        (b"\x1b[15~\x1b[1;5A\x1b[<0;3;4Mq", ["q"]),  # function keys, and a mouse, mean nothing
        ("é長".encode(), ["é", "長"]),
        (b"\xff\x00a", ["a"]),
        (b"\x1bx", [ESCAPE, "x"]),
    ],
)
def test_keys_are_read_however_their_bytes_come(data: bytes, keys: list[str]) -> None:
    assert KeyDecoder().feed(data) == keys
    decoder = KeyDecoder()
    assert [key for byte in data for key in decoder.feed(bytes([byte]))] == keys


def test_escape_alone_is_a_key_once_nothing_follows() -> None:
    decoder = KeyDecoder()
    assert decoder.feed(b"\x1b") == []
    assert decoder.incomplete
    assert decoder.flush() == [ESCAPE]
    assert not decoder.incomplete


def test_any_bytes_are_read_without_an_error_and_none_is_kept_for_ever() -> None:
    chance = random.Random(0)
    for _ in range(300):
        decoder = KeyDecoder()
        decoder.feed(chance.randbytes(chance.randrange(40)) + b"\x1b"[: chance.randrange(2)])
        decoder.flush()
        assert not decoder.incomplete
        assert decoder.feed(b"7") == ["7"]
