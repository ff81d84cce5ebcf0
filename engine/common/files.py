"""Atomic file writes, and reading and writing of the files in a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from errno import EIO, EISDIR
from pathlib import Path
from typing import Any, BinaryIO

SUFFIX = ".tmp"  # of the file while it is being written
DEVICES = Path("/dev")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the name of the file that the block writes to an OSError without one, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno or EIO, error.strerror or str(error), str(path)) from error


@contextmanager
def write_atomically(path: Path) -> Iterator[BinaryIO]:
    """Write a file so that other processes see either its old or its complete new contents.

    The block writes to ``path`` + ``.tmp``, which replaces ``path`` when the block ends. If the block raises, ``path``
    stays as it was and the temporary file is deleted; a killed process may leave it behind. A device or pipe, such as
    ``/dev/stdout``, is written to. Raises OSError.
    """
    if path.is_dir():
        raise IsADirectoryError(EISDIR, "is a folder; name a file in it", str(path))
    if path.parent == DEVICES or (path.exists() and not path.is_file()):
        with naming(path), path.open("wb") as file:
            yield file
        return
    temporary = path.with_name(path.name + SUFFIX)
    try:
        file = temporary.open("wb")
    except IsADirectoryError:  # the name of the temporary file is taken
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        with naming(path), file:
            yield file
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)  # an interrupt may come just after it was renamed
        raise


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write a JSON object, in which the objects of a list or iterator have a line each, atomically. Raises OSError."""
    with write_atomically(path) as file:
        for number, (key, value) in enumerate(document.items()):
            file.write(f'{"," if number else "{"}\n"{key}": '.encode())
            file.writelines(part.encode() for part in _json_parts(value))
        file.write(b"\n}\n")


def _json_parts(value: Any) -> Iterator[str]:
    of_objects = isinstance(value, list) and all(isinstance(each, dict) for each in value)
    if not of_objects and not isinstance(value, Iterator):
        yield json.dumps(value)
        return
    yield "[\n"
    for number, each in enumerate(value):
        yield ",\n" * bool(number) + json.dumps(each, ensure_ascii=False)
    yield "\n]"


def contents(folder: Path) -> dict[str, bytes]:
    """Return the names and contents of all files in a folder. Raises OSError."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def write_contents(files: dict[str, bytes], folder: Path) -> None:
    """Write the files, in their order, each atomically. Raises OSError."""
    for name, data in files.items():
        with write_atomically(folder / name) as file:
            file.write(data)
