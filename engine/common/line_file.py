"""The file of a long job, from which the same job goes on after an interruption: JSON objects, a line each."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from engine.common.files import naming
from engine.common.locks import lock

Entry = dict[str, Any]
DAMAGE = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)  # of a file that is read


class ResumeError(ValueError):
    """A file is of another job, or damaged: this job cannot go on from it."""


class LineFile:
    """An open file: the identity of the job, then an entry each time that some work is done.

    A last line that was cut off, as its process was killed, is dropped. No other process can open the file.
    """

    def __init__(self, path: Path, identity: Entry) -> None:
        """Open or create the file.

        Raises ResumeError if it is damaged or of a job with another `identity`, ValueError if another process has it
        open, and OSError.
        """
        self.path = path
        self._file = path.open("a+b")
        try:
            lock(self._file, path)  # before an incomplete line is dropped, which the other process may be writing
            self._check(identity)
        except BaseException:
            self._file.close()
            raise

    def _check(self, identity: Entry) -> None:
        """Check the identity, or write it; nothing is changed in a file that is not of this job."""
        self._file.seek(0)
        n_whole = sum(len(line) for line in self._file if line.endswith(b"\n"))
        self._file.seek(n_whole)
        begun = self._file.read()
        if n_whole and (what := differing(next(self._lines()), json.loads(_line(identity)))):
            raise ResumeError(
                f"{self.path} is of another job, with different {what}: run the same command as then, or delete it"
            )
        if not n_whole and not _line(identity).startswith(begun):
            raise self.damage_error()
        self._file.truncate(n_whole)
        if not n_whole:
            self.append(identity)

    def _lines(self) -> Iterator[Entry]:
        with self.path.open("rb") as file:
            for line in file:
                try:
                    parsed = json.loads(line)
                except (ValueError, RecursionError):
                    parsed = None
                if not isinstance(parsed, dict):
                    raise self.damage_error()
                yield parsed

    def entries(self) -> Iterator[Entry]:
        """All entries, one after another. Raises ResumeError for one that is damaged, and OSError."""
        lines = self._lines()
        next(lines)
        return lines

    def restore(self, take: Callable[[Entry], object]) -> None:
        """Call `take` with each entry; any error closes the file. Raises ResumeError for an entry it refuses."""
        try:
            for entry in self.entries():
                take(entry)
        except BaseException as error:
            self.close()
            if isinstance(error, DAMAGE):
                raise self.damage_error() from error
            raise

    def last(self, first: Entry) -> Entry:
        """Return the last entry, or `first` if there is none. Raises ResumeError if it has another form."""
        (entry,) = deque(chain([first], self.entries()), maxlen=1)
        if not _is_like(first, entry):
            raise self.damage_error()
        return entry

    def damage_error(self) -> ResumeError:
        """Return the error for a file that is damaged."""
        return ResumeError(f"{self.path} is damaged, or no checkpoint: delete it to begin anew, or name another file")

    def append(self, entry: Entry) -> None:
        """Write an entry. Raises OSError."""
        with naming(self.path):
            self._file.write(_line(entry))
            self._file.flush()

    def close(self) -> None:
        """Close the file: the job is interrupted, and the same job may go on."""
        self._file.close()

    def delete(self) -> None:
        """Delete the file: the job is done. Raises OSError."""
        self.close()
        self.path.unlink()


def _line(entry: Entry) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"


def differing(first: Entry, second: Entry) -> str:
    """The keys in which two identities differ, in words; "" if they are the same."""
    keys = sorted(key for key in first.keys() | second.keys() if first.get(key) != second.get(key))
    return ", ".join(key.replace("_", " ") for key in keys)


def _is_like(first: Any, entry: Any) -> bool:
    """Return whether an entry has the keys of another, values of the same types, and no negative counts."""
    if isinstance(first, dict):
        return isinstance(entry, dict) and all(_is_like(value, entry.get(key)) for key, value in first.items())
    return type(first) is type(entry) and entry >= 0
