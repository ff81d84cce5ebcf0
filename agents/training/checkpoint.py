"""Reading what a run has saved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise ValueError, in one line, for any exception in the block, which reads `path`.

    torch, accelerate, NumPy and zipfile raise a dozen kinds for damaged files.
    """
    try:
        yield
    except Exception as error:
        reason = " ".join(str(error).split()) if isinstance(error, ValueError) else ""  # those of torch are long
        raise ValueError(
            f"{path}: damaged, or of another version ({reason or type(error).__name__}); delete it to begin again, or "
            "train in another folder"
        ) from error
