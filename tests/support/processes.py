"""Programs that tests start beside themselves and interrupt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]


def wait_for(condition: Callable[[], object], seconds: float = 300, what: str = "change") -> None:
    """Wait until ``condition()`` is true, but not for ever; a cold cache may be filled first."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"no {what} within {seconds:g} s"
        time.sleep(0.02)


def start_group(*words: object, environment: Mapping[str, str] = os.environ, **options: Any) -> subprocess.Popen[Any]:
    """Start Python with arguments, in a process group of its own, as a terminal does.

    It handles Ctrl-C even if the shell has started this process with SIGINT ignored.
    """
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(
        [sys.executable, *map(str, words)],
        env={**environment, "PYTHONPATH": environment.get("PYTHONPATH", str(REPOSITORY))},
        cwd=REPOSITORY,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **(pipes | options),
    )


def group_is_gone(group: int) -> bool:
    """Whether no process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False
