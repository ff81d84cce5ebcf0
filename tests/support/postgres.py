"""A real PostgreSQL for tests: a cluster of its own in a temporary folder, a fresh database for each test."""

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
# Waits until whoever holds its standard input lets go, by dying if need be; then stops the server, if it runs, and
# clears up, however long initdb goes on filling the folder.
GUARD = """
cat
if [ -e data/postmaster.pid ]; then "$0" stop --wait --pgdata=data --mode=fast; fi
stopped=$?
until rm -rf "$PWD"; do sleep 1; done
exit $stopped
"""
SPEED = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "16MB"}


def find_binaries() -> Path | None:
    """Folder of the newest PostgreSQL server's programs, where Debian puts them or on the PATH."""
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    newest_first = sorted(folders, key=lambda folder: float(folder.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    candidates = [*newest_first, *([Path(on_path).resolve().parent] if on_path else [])]
    return next(
        (folder for folder in candidates if (folder / "initdb").exists() and (folder / "pg_ctl").exists()), None
    )


def other_user() -> str | None:
    """Whom the cluster has to run as: PostgreSQL refuses root. None: whoever runs the tests."""
    return "postgres" if os.geteuid() == 0 else None


def reason_to_skip() -> str | None:
    """Why there can be no PostgreSQL here, None where there can be one."""
    if find_binaries() is None:
        return "no PostgreSQL server installed (Debian: apt-get install postgresql)"
    if other_user() and not any(entry.pw_name == other_user() for entry in pwd.getpwall()):
        return "PostgreSQL does not run as root and there is no user postgres"
    return None


def free_port() -> int:
    """A TCP port of the loopback address that nobody listens at now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Cluster:
    """A PostgreSQL server in `folder`, which its user owns."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        # In a session of its own the guard outlives an interrupt or a kill meant for the tests.
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
        """Exit status and output of one of PostgreSQL's programs."""
        process = self._popen([self._program(program), *arguments], stdin=subprocess.DEVNULL)
        output, _ = process.communicate(timeout=60)
        return process.returncode, output

    @staticmethod
    def _program(name: str) -> str:
        binaries = find_binaries()
        assert binaries is not None
        return str(binaries / name)

    def start(self) -> None:
        """Make the cluster and start its server. Raises RuntimeError with what PostgreSQL says."""
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
            # The server keeps what it inherits open: its output goes to the log, not into our pipe.
            status, _ = self._run("pg_ctl", "start", "--wait", "--pgdata=data", f"--log={log}", f"--options={options}")
            if not status:
                return
        raise RuntimeError(f"PostgreSQL does not start: {log.read_text()}")

    def stop(self) -> None:
        """Stop the server, whoever is connected, and remove its folder. Raises RuntimeError."""
        output, _ = self._guard.communicate(timeout=60)
        if self._guard.returncode:
            raise RuntimeError(f"PostgreSQL does not stop: {output}")

    def url(self, database: str = "postgres") -> str:
        """URL of a database of this cluster."""
        return f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    @contextmanager
    def database(self) -> Iterator[str]:
        """URL of an empty database that is dropped in the end."""
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
    # Not a folder of pytest's: those are closed to other users, and too long for a socket's path.
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
    """URL of an empty PostgreSQL database."""
    with postgres_cluster.database() as url:
        yield url
