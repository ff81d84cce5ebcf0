"""The bytes of a keyboard read as keys: characters, and names such as ``left``."""

from __future__ import annotations

import codecs
import re

LEFT, RIGHT, ENTER, BACKSPACE, ESCAPE = "left", "right", "enter", "backspace", "escape"
NAMES = {"\r": ENTER, "\n": ENTER, "\x7f": BACKSPACE, "\b": BACKSPACE, "\x1b": ESCAPE}
NAMES |= {"\x1b[C": RIGHT, "\x1b[D": LEFT, "\x1bOC": RIGHT, "\x1bOD": LEFT, "\x1bOM": ENTER}
# An escape sequence, the beginning of one, or a character.
KEY = re.compile(r"\x1b(?:\[[0-9;:<=>?]*[ -/]*[@-~]|O[ -~])|(?P<begun>\x1b(?:\[[0-9;:<=>?]*[ -/]*|O)?\Z)|.", re.DOTALL)


class KeyDecoder:
    """Turns bytes as they come into keys; a sequence or a character may come in parts."""

    def __init__(self) -> None:
        self._characters = codecs.getincrementaldecoder("utf-8")("ignore")
        self._begun = ""

    @property
    def incomplete(self) -> bool:
        """Whether the rest of a sequence is awaited, or nothing after the key Escape."""
        return bool(self._begun)

    def feed(self, data: bytes) -> list[str]:
        """Return the keys that `data` completes. Keys without a meaning are ignored."""
        found = list(KEY.finditer(self._begun + self._characters.decode(data)))
        self._begun = found.pop()[0] if found and found[-1]["begun"] else ""
        keys = [NAMES.get(key[0], key[0]) for key in found]
        return [key for key in keys if key.isprintable()]

    def flush(self) -> list[str]:
        """What an incomplete sequence is when nothing follows: the key Escape."""
        begun, self._begun = self._begun, ""
        return [ESCAPE] if begun else []
