"""The progress of a long job over records, in a file next to its output, from which the same command continues."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from engine.common.files import naming
from engine.common.locks import lock
from engine.records.archives import split_name

Entry = dict[str, Any]


class Journal:
    """A file of JSON lines: the identity of the job, then an entry each time that some work is completed.

    A line cut off because the process was killed is ignored. One process at a time has the file open.
    """

    def __init__(self, path: Path, identity: Entry) -> None:
        """Open or create the file. Raises ValueError if it is of a job with another `identity`, or open elsewhere.

        Also raises OSError.
        """
        self.path = path
        self.last: Entry | None = None  # the last entry; None if there is none
        self._file = path.open("a+b")
        try:
            lock(self._file, path)
            self._begin(json.dumps(identity).encode() + b"\n")
        except BaseException:
            self._file.close()
            raise

    def _begin(self, first: bytes) -> None:
        """Write the first line, or check it and all others."""
        self._file.seek(0)
        lines = self._file.read().splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):
            lines.pop()
            self._file.truncate(sum(map(len, lines)))
        if not lines:
            self._write(first)
        elif lines[0] != first:
            raise ValueError(
                f"{self.path} is of another job, or its files or program have changed: run the same command as then, "
                "or delete it"
            )
        try:
            for entry in self.entries():
                self.last = entry
        except (ValueError, RecursionError):
            raise self._damaged() from None

    def _damaged(self) -> ValueError:
        return ValueError(f"{self.path} is damaged: delete it to begin anew")

    def latest(self, first: Entry) -> Entry:
        """Return the last entry, or `first` if there is none. Raises ValueError if it is not of the form of `first`."""
        if self.last is None:
            return first
        if not _is_like(first, self.last):
            raise self._damaged()
        return self.last

    def add(self, entry: Entry) -> None:
        """Append an entry."""
        self._write(json.dumps(entry).encode() + b"\n")
        self.last = entry

    def _write(self, line: bytes) -> None:
        with naming(self.path):
            self._file.write(line)
            self._file.flush()

    def entries(self) -> Iterator[Entry]:
        """All entries, one after another."""
        with self.path.open(encoding="utf-8") as file:
            file.readline()
            for line in file:
                yield json.loads(line)

    def remove(self) -> None:
        """Delete the file: the job is done."""
        self._file.close()
        self.path.unlink()


def _is_like(first: Any, entry: Any) -> bool:
    """Return whether an entry has the keys of another, values of the same types, and no negative counts."""
    if isinstance(first, dict):
        return isinstance(entry, dict) and all(_is_like(value, entry.get(key)) for key, value in first.items())
    return type(first) is type(entry) and entry >= 0


def digest_of(paths: Sequence[Path]) -> str:
    """Return a hash of the files at `paths`: their names, sizes and modification times."""
    found = blake2b(digest_size=8)
    for path in paths:
        status = split_name(path)[0].stat()
        found.update(f"{path.resolve()}\0{status.st_size}\0{status.st_mtime_ns}\0".encode(errors="surrogateescape"))
    return found.hexdigest()
