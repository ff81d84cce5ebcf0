"""Tasks for `server.worker`, which its process imports; some of them stand for reviews, and ignore of what."""

from __future__ import annotations

import json
import os
import resource
import time
from pathlib import Path

from server.worker import Progress


def about(progress: Progress) -> bytes:
    """What the process is."""
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    return json.dumps({"pid": os.getpid(), "nice": os.getpriority(os.PRIO_PROCESS, 0), "memory": limit}).encode()


def count(progress: Progress, *, to: int) -> bytes:
    """Report progress."""
    for number in range(1, to + 1):
        progress(number, to)
    return b"done"


def wait_for(progress: Progress, *, file: Path, **_: object) -> bytes:
    """Compute until there is a file."""
    progress(0, 1)
    while not file.exists():
        sum(range(10_000))
    return b"done"


def fail(progress: Progress, *, error: Exception) -> bytes:
    """Raise."""
    raise error


def crash(progress: Progress, **_: object) -> bytes:
    """End at once."""
    os._exit(3)


def need_memory(progress: Progress) -> bytes:
    """Ask for more than there is."""
    return b"x" * (1 << 40)


def found_nothing(progress: Progress, **_: object) -> bytes:
    """Return what stands for no result."""
    return b""


def sleep(progress: Progress, **_: object) -> bytes:
    """Take for ever."""
    time.sleep(1000)
    return b""
