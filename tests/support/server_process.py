"""A server in a process of its own, which a test can stop and continue."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
START_TIMEOUT = 400.0  # seconds: everything may have to be compiled, by one process
ADDRESSES = re.compile(r"mjsonp://127\.0\.0\.1:(\d+)/.* ws://127\.0\.0\.1:(\d+)/")


@dataclass(frozen=True)
class ServerProcess:
    """A server that is up; the `Address` of bots."""

    pid: int
    port: int
    mjai_port: int
    log: Path  # its stderr


@contextmanager
def server_process(folder: Path, *flags: str, environment: Mapping[str, str] | None = None) -> Iterator[ServerProcess]:
    """Run ``python -m server`` with its data in a folder, at free ports, while the block runs."""
    command = [sys.executable, "-m", "server", "--port", "0", "--mjai-port", "0", "--data", str(folder / "data")]
    log = folder / "log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [*command, *flags], cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=file, text=True,
            env={**os.environ, **(environment or {})},
        )  # fmt: skip
    too_long = threading.Timer(START_TIMEOUT, process.kill)
    too_long.start()
    try:
        assert process.stdout is not None
        found = None
        while found is None:
            line = process.stdout.readline()
            assert line, log.read_text()
            found = ADDRESSES.search(line)
        too_long.cancel()
        yield ServerProcess(process.pid, int(found[2]), int(found[1]), log)
    finally:
        too_long.cancel()
        process.kill()  # it may be stopped
        process.communicate()
