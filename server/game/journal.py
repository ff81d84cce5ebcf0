"""The journal of a game in play: a file to restore the game from after the process has died.

One JSON object a line: the start of the game, then its entries. A line is passed to the operating system before any
message that follows from it is sent, so a killed process loses nothing; a power failure may lose the last seconds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import structlog
from pydantic_core import to_json

SUFFIX = ".journal"
BROKEN = ".broken"
Entry = dict[str, Any]
log = structlog.get_logger("server.game")


class JournalError(Exception):
    """A journal that cannot be read: one line with the file and what is wrong with it."""


class Journal:
    """Appends to the journal of one game."""

    def __init__(self, path: Path, on_failure: Callable[[Path, str], None]) -> None:
        """Create the file, or open the one that exists. Raises OSError.

        `on_failure` is called with the file and the reason, once, when a line cannot be written.
        """
        self.path = path
        self._on_failure = on_failure
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._closed = False

    def append(self, entry: Entry) -> None:
        """Write a line. If that fails, nothing more is written; the game goes on, but would not survive a restart."""
        if self._closed:
            return
        line = to_json(entry) + b"\n"
        try:
            self._closed = os.write(self._file, line) < len(line)
            reason = "a line was written in part"
        except OSError as error:
            self._closed, reason = True, str(error.strerror)
        if self._closed:
            self._on_failure(self.path, reason)

    def close(self) -> None:
        """Close the file, for `read_journal`; nothing is written any more. May be called again."""
        self._closed = True  # the descriptor may belong to another file by the next append
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def delete(path: Path) -> None:
    """Delete a journal that is no longer needed; if that fails, it is logged."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        log.error("journal cannot be deleted", file=str(path), error=error.strerror)


def set_aside(path: Path) -> None:
    """Rename a journal that cannot be used; it is kept for whoever looks for the reason."""
    path.rename(path.with_suffix(BROKEN))


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
