"""A lock on a file that only one process at a time may write."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, Any

if sys.platform != "win32":
    import fcntl


def lock(file: IO[Any], path: Path) -> None:
    """Lock the open file at ``path`` until it is closed. Raises ValueError if another process has locked it.

    Does nothing where files have no locks: on Windows, and on some network file systems.
    """
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(f"another process is writing {path}: wait for it, or name another file to write") from None
    except OSError:  # of the file system
        pass
