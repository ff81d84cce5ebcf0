"""``python -m server`` as a process of its own, and what can be seen of it from outside."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]  # `tests.conftest` would import numba
SAMPLE_EVERY = 0.05  # seconds between two looks at the memory
START_TIMEOUT = 400.0  # seconds: everything may have to be compiled, by one process
STOP_TIMEOUT = 30.0
PORTS = re.compile(r"mjsonp://[^:]+:(\d+)/\S+ or ws://[^:]+:(\d+)/")


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a server listens on 127.0.0.1; see `tests.support.raw_connections.Address`."""

    port: int  # HTTP and WebSocket
    mjai_port: int


@dataclass
class ServerProgram:
    """A running server."""

    process: subprocess.Popen[str]
    ports: Ports
    log: Path
    said: list[str] = field(default_factory=list)  # on its standard output

    def log_lines(self) -> list[str]:
        """Everything that it has logged."""
        return self.log.read_text(errors="replace").splitlines()

    @property
    def memory(self) -> int:
        """Resident bytes."""
        fields = Path(f"/proc/{self.process.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")

    @property
    def descriptors(self) -> int:
        """Open files and sockets."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    @property
    def cpu(self) -> float:
        """Seconds of processor time used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @contextmanager
    def peak_memory(self) -> Iterator[list[int]]:
        """Look at the memory again and again while the block runs; the list holds what was seen."""
        seen = [self.memory]
        with repeating(lambda: seen.append(self.memory), SAMPLE_EVERY):
            yield seen


@contextmanager
def repeating(act: Callable[[], None], every: float) -> Iterator[None]:
    """Call `act` in a thread, every so many seconds, while the block runs."""
    stop = threading.Event()

    def loop() -> None:
        while not stop.wait(every):
            act()

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def server_program(
    folder: Path,
    *flags: str,
    descriptors: int | None = None,
    environment: Mapping[str, str] | None = None,
    **settings: object,
) -> Iterator[ServerProgram]:
    """A server with its data and log in `folder`, at free ports, otherwise with the settings that it has by default.

    `descriptors`: how many files and sockets it may open, as by ``ulimit -n``; `environment`: variables to change;
    `settings`: others of the server, such as ``length="east"``.
    """
    command = [sys.executable, "-m", "server", "--port", "0", "--mjai-port", "0", "--data", str(folder / "data")]
    limit = f"ulimit -n {descriptors}; " if descriptors else ""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["sh", "-c", limit + 'exec "$@"', "sh", *command, *flags], cwd=REPOSITORY, text=True,
            env={**os.environ, **(environment or {}), **variables(**settings)}, stdout=subprocess.PIPE, stderr=log,
            start_new_session=True,  # Ctrl-C is for whoever started it
        )  # fmt: skip
    starting = threading.Timer(START_TIMEOUT, process.kill)
    starting.start()
    assert process.stdout is not None
    try:
        found = None
        while found is None:
            line = process.stdout.readline()
            assert line, (folder / "log").read_text()
            found = PORTS.search(line)
        starting.cancel()
        yield ServerProgram(process, Ports(port=int(found[2]), mjai_port=int(found[1])), folder / "log")
    finally:
        starting.cancel()
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise


def variables(**settings: object) -> dict[str, str]:
    """The environment variables of settings of a server."""
    return {f"NUKIDORA_{name.upper()}": str(value) for name, value in settings.items()}


def add_token(folder: Path, name: str, *flags: str) -> str:
    """A new token for a name, which a `server_program` in the same folder knows; `flags`: such as ``--admin``."""
    command = [sys.executable, "-m", "server", "token", "add", name, *flags, "--data", str(folder / "data")]
    return subprocess.run(command, cwd=REPOSITORY, check=True, text=True, capture_output=True).stdout.strip()


def may_open(descriptors: int) -> bool:
    """Raise this process's own limit of open files, if it is lower; whether that was possible."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < descriptors <= hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, hard))
    return max(soft, hard) >= descriptors
