"""The journal of a game in play: a file to restore the game from after the process has died.

One JSON object a line: the start of the game, then its entries. A line is passed to the operating system before any
message that follows from it is sent, so a killed process loses nothing; a power failure may lose the last seconds.
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
    """Appends to the journal of one game."""

    def __init__(self, path: Path) -> None:
        """Create the file, or open the one that exists. Raises OSError."""
        self.path = path
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._closed = False

    def append(self, entry: Entry) -> None:
        """Write a line. If that fails, an error is logged and nothing more is written; the game goes on."""
        if self._closed:
            return
        line = to_json(entry) + b"\n"
        try:
            self._closed = os.write(self._file, line) < len(line)
            reason = "a line was written in part"
        except OSError as error:
            self._closed, reason = True, str(error)
        if self._closed:
            log.error("journal not written, the game would not survive a restart", file=str(self.path), error=reason)

    def close(self) -> None:
        """Close the file, for `read_journal`; nothing is written any more."""
        self._closed = True  # the descriptor may belong to another file by the next append
        os.close(self._file)

    def remove(self) -> None:
        """Close and delete the file: the game is over and stored."""
        self.close()
        self.path.unlink(missing_ok=True)


def journal_path(folder: Path, game_id: str) -> Path:
    """The journal of a game."""
    return folder / (game_id + SUFFIX)


def read_journal(path: Path) -> list[Entry]:
    """The entries of a journal. A last line that was written in part is removed from the file.

    Raises JournalError.
    """
    data = path.read_bytes()
    complete = data[: data.rfind(b"\n") + 1]
    if len(complete) < len(data):
        os.truncate(path, len(complete))
    try:
        return [json.loads(line) for line in complete.splitlines()]
    except ValueError as error:
        raise JournalError(f"{path}: {error}") from error


def find_journals(folder: Path) -> Iterator[Path]:
    """The journals in a folder, oldest first."""
    yield from sorted(folder.glob("*" + SUFFIX), key=lambda path: (path.stat().st_mtime_ns, path.name))
