"""The data folder of a server: created for one user, and used by one server at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


def make_folder(folder: Path) -> None:
    """Create the data folder, accessible only to this user, as it contains hashes of tokens and secrets.

    Raises OSError with one line that names the setting.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise unusable(folder, str(error.strerror)) from None


def unusable(folder: Path, why: str) -> OSError:
    """Return the error for a data folder that cannot be used."""
    mend = "make it writable for this user, or name another folder with --data (NUKIDORA_DATA)"
    return OSError(f"data folder {folder}: {why}; {mend}")


@contextmanager
def exclusive_lock(folder: Path) -> Iterator[None]:
    """Lock the folder while the block runs, or until the process dies. Raises OSError if a server uses it."""
    try:
        lock = (folder / "lock").open("ab")
    except OSError as error:
        raise unusable(folder, str(error.strerror)) from None
    with lock:
        try:
            if sys.platform == "win32":  # untested
                msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            mend = "stop that server, or name another folder with --data (NUKIDORA_DATA)"
            raise OSError(f"data folder {folder}: a server uses it; {mend}") from None
        yield
