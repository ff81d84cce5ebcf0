"""The bytes of a keyboard read as keys: characters, and names such as ``left``."""

from __future__ import annotations

import re

LEFT, RIGHT, ENTER, BACKSPACE, ESCAPE, REDRAW = "left", "right", "enter", "backspace", "escape", "redraw"
CONTROLS = {"\r": ENTER, "\n": ENTER, "\x7f": BACKSPACE, "\b": BACKSPACE, "\x0c": REDRAW, "\x1b": ESCAPE}
SEQUENCES = {b"\x1b[C": RIGHT, b"\x1b[D": LEFT, b"\x1bOC": RIGHT, b"\x1bOD": LEFT, b"\x1bOM": ENTER}
SEQUENCE = re.compile(rb"\x1b(?:\[[0-9;:<=>?]*[ -/]*[@-~]|O[ -~])")
BEGUN = re.compile(rb"\x1b(?:\[[0-9;:<=>?]*[ -/]*|O)?")  # a sequence whose end has not come yet
LONGEST_CHARACTER = 4  # bytes in UTF-8


class KeyDecoder:
    """Turns bytes as they come into keys; a sequence or a character may come in parts."""

    def __init__(self) -> None:
        self._unread = b""

    @property
    def incomplete(self) -> bool:
        """Whether bytes wait for others: the rest of a sequence, or nothing after the key Escape."""
        return bool(self._unread)

    def feed(self, data: bytes) -> list[str]:
        """Return the keys that `data` completes. Escape sequences without a meaning are ignored."""
        unread, keys = self._unread + data, []
        while unread:
            if found := SEQUENCE.match(unread):
                keys.append(SEQUENCES.get(found[0], ""))
                unread = unread[found.end() :]
            elif BEGUN.fullmatch(unread):
                break
            else:
                character, size = first_character(unread)
                if not size:
                    break
                keys.append(CONTROLS.get(character, character if character.isprintable() else ""))
                unread = unread[size:]
        self._unread = unread
        return [key for key in keys if key]

    def flush(self) -> list[str]:
        """What an incomplete sequence is when nothing follows: the key Escape, if it begins as one."""
        unread, self._unread = self._unread, b""
        return [ESCAPE] if unread.startswith(b"\x1b") else []


def first_character(data: bytes) -> tuple[str, int]:
    """The first character of UTF-8 and its bytes: "" if it is not UTF-8; 0 bytes if it is incomplete."""
    for size in range(1, LONGEST_CHARACTER + 1):
        try:
            return data[:size].decode(), size
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                return "", 1
            if len(data) < size:
                return "", 0
    return "", 1
