"""The journal of a game in play: enough to go on after the process has died, written before anybody is told.

One file a game, one JSON object a line: the header, then what happened. A line reaches the operating system before the
next message goes out, so the death of the process loses nothing; a machine that loses power may lose the last seconds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import structlog
from pydantic_core import to_json

SUFFIX = ".journal"
Entry = dict[str, Any]
log = structlog.get_logger("server.journal")


class JournalError(Exception):
    """A journal that cannot be read: one line with the file and what is wrong with it."""


class Journal:
    """Appends to one game's file."""

    def __init__(self, folder: Path, game: str) -> None:
        """Open the journal of a game, new or found. Raises OSError."""
        self.path = folder / (game + SUFFIX)
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._broken = False

    def append(self, entry: Entry) -> None:
        """Add a line. Where that fails the game goes on without a journal, as far as it is written."""
        if self._broken:
            return
        line = to_json(entry) + b"\n"
        try:
            self._broken = os.write(self._file, line) < len(line)
            reason = "it was cut short"
        except OSError as error:
            self._broken, reason = True, str(error)
        if self._broken:
            log.error("journal not written, the game would not survive a restart", file=str(self.path), error=reason)

    def close(self) -> None:
        """Leave the file as it is, for `read`; nothing is added any more."""
        self._broken = True  # its number may be another file's by the time somebody tries
        os.close(self._file)

    def remove(self) -> None:
        """The game is over and stored."""
        self.close()
        self.path.unlink(missing_ok=True)


def read(path: Path) -> list[Entry]:
    """The entries of a journal. A last line cut short by the death of the process is cut off the file.

    Raises JournalError.
    """
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        os.truncate(path, len(whole))
    try:
        return [json.loads(line) for line in whole.splitlines()]
    except ValueError as error:
        raise JournalError(f"{path}: {error}") from error


def find(folder: Path) -> Iterator[Path]:
    """The journals in a folder, oldest first."""
    yield from sorted(folder.glob("*" + SUFFIX), key=lambda path: (path.stat().st_mtime_ns, path.name))
