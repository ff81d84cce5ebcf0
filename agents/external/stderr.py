"""The stderr of a bot that is a program, as reported when the bot has failed: in full, however long."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from functools import cache
from itertools import count
from pathlib import Path

MAX_LINES, MAX_TEXT = 12, 1000  # that are shown in the line of the failure; more goes into a file
LAST = 3  # lines shown of what is in the file
KEPT_FILES = 16  # of a process; then the oldest is replaced
_number = count()
_FILE = re.compile(r" \(whole, [\d,]+ lines: .*?\.txt\)")


def format_lines(lines: Sequence[str]) -> str:
    """Format lines for the end of a sentence, ``""`` if there are none; if they are many, the last ones and a file."""
    shown = [" ".join(line.split()) for line in lines]
    text = " | ".join(shown)
    if not lines:
        return ""
    if len(lines) <= MAX_LINES and len(text) <= MAX_TEXT:
        return f"; stderr: {text}"
    tail = " | ".join(shown[-LAST:])[-MAX_TEXT:]
    try:
        path = _folder() / f"{next(_number) % KEPT_FILES}.txt"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        return f"; end of stderr: {tail} (the whole could not be written: {error.strerror})"
    return f"; end of stderr: {tail} (whole, {len(lines):,} lines: {path})"


def without_file(text: str) -> str:
    """What `format_lines` returned, for files that others read: without the path of a file on this machine."""
    return _FILE.sub("", text)


@cache
def _folder() -> Path:
    """Return a folder of this process, private to its user, which stays when the process ends."""
    return Path(tempfile.mkdtemp(prefix="nukidora-stderr-"))
