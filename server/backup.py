"""``python -m server backup`` and ``restore``: the database to a file and back.

SQLite is copied with its online backup API, PostgreSQL with pg_dump and pg_restore. The server may keep running during
a backup, but must be stopped for a restore.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from alembic.script import ScriptDirectory
from sqlalchemy import URL

from engine.common.files import SUFFIX
from engine.common.progress import Progress
from server.data_folder import exclusive_lock, make_folder
from server.game.journal import find_journals
from server.migrations import FOLDER
from server.settings import Settings
from server.store.database import PRIVATE, read_url

STEP = 4096  # pages of a SQLite database copied between two progress updates
TABLES = frozenset({"alembic_version", "games", "seats", "records", "players", "ratings", "rooms", "tokens"})
VERSION = re.compile(r"^COPY \S*alembic_version .*\n(\S+)$", re.MULTILINE)  # in the data that pg_restore prints
TABLE_DATA = re.compile(r" TABLE DATA \S+ (\S+) ")  # in the contents that pg_restore lists
NOT_OURS = "it is not a database of nukidora, or not all of one: give a file that the command backup wrote"


class BackupError(Exception):
    """A backup or restore was refused or has failed; the message is one line."""


def back_up(settings: Settings, file: Path) -> str:
    """Back the database up into a new file; return a message for the user. Raises BackupError, OSError."""
    url = read_url(settings.database_url)
    if file.exists():
        raise BackupError(f"{file} exists: name a new file")
    with new_file(file) as temporary:
        if url.get_backend_name() == "sqlite":
            source = Path(str(url.database))
            check_sqlite(source)
            copy_sqlite(source, temporary)
        else:
            run_postgresql(url, "pg_dump", "--format=custom", "--no-owner", f"--file={temporary}")
    return f"backed up to {file} ({file.stat().st_size / 1e6:,.1f} MB); games in play are not in it"


def restore(settings: Settings, file: Path) -> str:
    """Put a backup in place of the database; return a message for the user. Raises BackupError, OSError.

    An existing SQLite file is kept under another name; a PostgreSQL database must be empty.
    """
    url = read_url(settings.database_url)
    if not file.is_file():
        raise BackupError(f"{file}: there is no such file")
    make_folder(settings.data)
    with exclusive_lock(settings.data):
        if url.get_backend_name() == "sqlite":
            kept = restore_sqlite(file, Path(str(url.database)))
        else:
            restore_postgresql(file, url)
            kept = ""
    journals = len(list(find_journals(settings.data / "journal")))
    playing = f"; {journals} games in play go on then" if journals else ""
    return f"restored from {file}{kept}; start the server again{playing}; tokens revoked since are valid again"


def check_version(name: object, version: str | None) -> None:
    """Raise BackupError for a version that this program cannot read."""
    known = {script.revision for script in ScriptDirectory(str(FOLDER)).walk_revisions()}
    if version is None:
        raise BackupError(f"{name}: {NOT_OURS}")
    if version not in known:
        raise BackupError(f"{name} has version {version}, this program supports versions up to {max(known)}")


@contextmanager
def new_file(file: Path) -> Iterator[Path]:
    """Write a file via a temporary one next to it, which is removed if the block raises."""
    temporary = file.with_name(file.name + SUFFIX)
    try:
        temporary.unlink(missing_ok=True)  # of an earlier try, or another user's, who could read it
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))  # it contains hashes of tokens
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        if file.exists():
            raise BackupError(f"{file} exists: name a new file")
        temporary.rename(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


# SQLite ---------------------------------------------------------------------------------------------------------------


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into BackupError."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
            raise BackupError(f"{path}: {NOT_OURS}") from error
        raise BackupError(f"{path}: {error}") from error


def check_sqlite(path: Path) -> None:
    """Raise BackupError unless the file is a complete nukidora database of a supported version."""
    if not path.is_file():
        raise BackupError(f"{path}: there is no such database; name it with --data or the setting database")
    with sqlite_errors(path), closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables >= TABLES:
            raise BackupError(f"{path}: {NOT_OURS}")
        row = database.execute("SELECT version_num FROM alembic_version").fetchone()
    check_version(path, row and row[0])


def copy_sqlite(source: Path, target: Path) -> None:
    """Copy a database, which may be in use, into an empty file."""

    def show(_: int, remaining: int, total: int) -> None:
        progress.total = total
        progress.advance(total - remaining - progress.done)

    with (
        sqlite_errors(source),
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)) as reader,
        closing(sqlite3.connect(target, isolation_level=None)) as writer,
        Progress("pages copied", 1) as progress,
    ):
        # A single snapshot for the whole copy: otherwise each game stored meanwhile would restart the copy.
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        writer.execute("PRAGMA synchronous = OFF")  # `new_file` syncs the complete file
        reader.backup(writer, pages=STEP, progress=show)
        writer.execute("PRAGMA journal_mode = DELETE")  # everything in one file


def restore_sqlite(file: Path, path: Path) -> str:
    """Put a backup in place of a database, which is kept next to it; return a message that says where."""
    if path.exists() and path.samefile(file):
        raise BackupError(f"{file} is the database itself")
    check_sqlite(file)
    kept, aside = "", path.with_name(f"{path.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    copy = path.with_name(path.name + ".restored")
    with new_file(copy) as temporary:
        copy_sqlite(file, temporary)
        with sqlite_errors(file), closing(sqlite3.connect(temporary)) as database:
            if (found := database.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
                raise BackupError(f"{file}: {found.splitlines()[-1]}")
    for suffix in ("-wal", "-shm", ""):  # SQLite would apply a leftover log to the restored database
        old = Path(f"{path}{suffix}")
        if old.exists():
            old.chmod(PRIVATE)
            old.rename(f"{aside}{suffix}")
            kept = f"; the database that was there is {aside}"
    copy.rename(path)
    return kept


# PostgreSQL -----------------------------------------------------------------------------------------------------------


def run_postgresql(url: URL, program: str, *arguments: str, connect: bool = True) -> str:
    """Run one of PostgreSQL's programs and return its output. Raises BackupError with the last line of its stderr."""
    found = shutil.which(program)
    if found is None:
        raise BackupError(f"{program} is not installed: install PostgreSQL's client (Debian: postgresql-client)")
    given: dict[str, object] = {
        "PGHOST": url.host,
        "PGPORT": url.port,
        "PGUSER": url.username,
        "PGPASSWORD": url.password,
        "PGDATABASE": url.database,
        "PGSSLMODE": url.query.get("ssl"),
        "PGCONNECT_TIMEOUT": 10,
    }
    environment = os.environ | {name: str(value) for name, value in given.items() if value and connect}
    command = [found, *arguments]
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        reasons: Sequence[str] = [line for line in done.stderr.splitlines() if "error: " in line] or ["no reason given"]
        raise BackupError(f"{program}: {reasons[0].partition('error: ')[2] or reasons[0]}")
    return done.stdout


def restore_postgresql(file: Path, url: URL) -> None:
    """Restore a dump into an empty database, in one transaction."""
    tables = set(TABLE_DATA.findall(run_postgresql(url, "pg_restore", "--list", str(file), connect=False)))
    if not tables >= TABLES:
        raise BackupError(f"{file}: {NOT_OURS}")
    data = run_postgresql(
        url, "pg_restore", "--data-only", "--table=alembic_version", "--file=-", str(file), connect=False
    )
    version = VERSION.search(data)
    check_version(file, version and version[1])
    statement = "SELECT count(*) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    if int(run_postgresql(url, "psql", "--no-psqlrc", "--tuples-only", "--no-align", f"--command={statement}")):
        raise BackupError(
            f"database {url.database} is not empty: create an empty one, and name it in the setting database"
        )
    options = ("--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error")
    run_postgresql(url, "pg_restore", *options, f"--dbname={url.database}", str(file))
