"""A real PostgreSQL server for tests: a cluster in a temporary folder, and an empty database for each test."""

from __future__ import annotations

import asyncio
import itertools
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest

USER = "nukidora"
PASSWORD = secrets.token_urlsafe(12)
START_ATTEMPTS = 5  # another process may take the port that was free a moment ago
# Waits for the end of its standard input, which also comes if the tests die; then stops the server, if it runs, and
# removes the folder, retrying while initdb still writes to it.
GUARD = """
cat
if [ -e data/postmaster.pid ]; then "$0" stop --wait --pgdata=data --mode=fast; fi
stopped=$?
until rm -rf "$PWD"; do sleep 1; done
exit $stopped
"""
SPEED = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "16MB"}


def find_binaries() -> Path | None:
    """Folder with the programs of the newest PostgreSQL server, in Debian's location or on the PATH."""
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    newest_first = sorted(folders, key=lambda folder: float(folder.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    candidates = [*newest_first, *([Path(on_path).resolve().parent] if on_path else [])]
    return next(
        (folder for folder in candidates if (folder / "initdb").exists() and (folder / "pg_ctl").exists()), None
    )


def other_user() -> str | None:
    """The user that the cluster runs as, since PostgreSQL refuses root. None: the user who runs the tests."""
    return "postgres" if os.geteuid() == 0 else None


def reason_to_skip() -> str | None:
    """Why PostgreSQL cannot run here; None if it can."""
    if find_binaries() is None:
        return "no PostgreSQL server installed (Debian: apt-get install postgresql)"
    if other_user() and not any(entry.pw_name == other_user() for entry in pwd.getpwall()):
        return "PostgreSQL does not run as root and there is no user postgres"
    return None


def free_port() -> int:
    """A free TCP port of the loopback address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Cluster:
    """A PostgreSQL server in `folder`, which must belong to the server's user."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        # In its own session, the guard survives an interrupt or a kill of the tests.
        guard = ["sh", "-c", GUARD, self._program("pg_ctl")]
        self._guard = self._popen(guard, stdin=subprocess.PIPE, start_new_session=True)
        self._numbers = itertools.count(1)

    def _popen(self, command: list[str], **options: Any) -> subprocess.Popen[str]:
        user = other_user()
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env={"PATH": os.defpath, "LC_ALL": "C", "HOME": str(self.folder)},
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **options,
        )

    def _run(self, program: str, *arguments: str) -> tuple[int, str]:
        """Run one of PostgreSQL's programs; returns its exit status and output."""
        process = self._popen([self._program(program), *arguments], stdin=subprocess.DEVNULL)
        output, _ = process.communicate(timeout=60)
        return process.returncode, output

    @staticmethod
    def _program(name: str) -> str:
        binaries = find_binaries()
        assert binaries is not None
        return str(binaries / name)

    def start(self) -> None:
        """Create the cluster and start its server. Raises RuntimeError with PostgreSQL's output."""
        password = self.folder / "password"
        password.write_text(PASSWORD)
        status, output = self._run(
            "initdb",
            *("--pgdata=data", "--no-sync", f"--username={USER}", f"--pwfile={password}"),
            *("--auth-host=scram-sha-256", "--auth-local=trust", "--encoding=UTF8", "--locale=C.UTF-8"),
        )
        if status:
            raise RuntimeError(f"initdb failed: {output}")
        log = self.folder / "log"
        settings = SPEED | {"listen_addresses": "127.0.0.1", "unix_socket_directories": str(self.folder)}
        for _ in range(START_ATTEMPTS):
            self.port = free_port()
            options = " ".join(f"-c {name}={value}" for name, value in (settings | {"port": str(self.port)}).items())
            # The server would keep an inherited pipe open, so its output goes to the log.
            status, _ = self._run("pg_ctl", "start", "--wait", "--pgdata=data", f"--log={log}", f"--options={options}")
            if not status:
                return
        raise RuntimeError(f"PostgreSQL does not start: {log.read_text()}")

    def stop(self) -> None:
        """Stop the server, disconnect all clients and remove its folder. Raises RuntimeError."""
        output, _ = self._guard.communicate(timeout=60)
        if self._guard.returncode:
            raise RuntimeError(f"PostgreSQL does not stop: {output}")

    def url(self, database: str = "postgres") -> str:
        """The URL of a database of this cluster."""
        return f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def processes(self) -> list[int]:
        """The ids of the server's process and of its children."""
        parent = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        return [parent, *map(int, children)]

    @contextmanager
    def database(self) -> Iterator[str]:
        """The URL of an empty database, dropped at the end of the block."""
        name = f"test{next(self._numbers)}"
        asyncio.run(self._execute(f"CREATE DATABASE {name}"))
        yield self.url(name)
        asyncio.run(self._execute(f"DROP DATABASE {name} WITH (FORCE)"))

    async def _execute(self, statement: str) -> None:
        connection = await asyncpg.connect(self.url())
        await connection.execute(statement)
        await connection.close()


@pytest.fixture(scope="session")
def postgres_cluster() -> Iterator[Cluster]:
    """A running PostgreSQL server."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    # Not pytest's tmp_path: other users cannot read it, and its path is too long for a socket.
    folder = Path(tempfile.mkdtemp(prefix="nukidora-pg-"))
    if user := other_user():
        shutil.chown(folder, user, user)
    cluster = Cluster(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def postgres_url(postgres_cluster: Cluster) -> Iterator[str]:
    """The URL of an empty PostgreSQL database."""
    with postgres_cluster.database() as url:
        yield url
