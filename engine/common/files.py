"""Atomic file writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

SUFFIX = ".tmp"  # of the file while it is being written


@contextmanager
def write_atomically(path: Path) -> Iterator[BinaryIO]:
    """Write a file that other processes see either as it was before, or complete.

    The block writes to ``path`` + ``.tmp``, which replaces ``path`` when the block ends. If the block raises, ``path``
    stays as it was and the temporary file is deleted; a killed process may leave it behind. Raises OSError.
    """
    temporary = path.with_name(path.name + SUFFIX)
    with temporary.open("wb") as file:
        try:
            yield file
        except BaseException:
            temporary.unlink()
            raise
    temporary.replace(path)
