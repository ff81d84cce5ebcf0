"""Backup and restore of the database, under play, and what is refused."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from server.backup import BackupError, back_up, restore
from server.cli import main
from server.settings import Settings
from tests.conftest import DATA
from tests.support.postgres import PASSWORD, Cluster
from tests.support.server_bots import Bot, play_all, serving, until
from tests.support.stored_games import check_ratings, make_game, opened
from tests.support.stored_records import stored_games

REPOSITORY = DATA.parent.parent
# As ``python -m server``, but a backup gets no further than its first pages, however late the test looks.
STUCK = """
import sys, time
from engine.common.program import start
from server import backup

backup.Progress.advance = lambda *_: time.sleep(1000)
sys.exit(start("server.cli:main"))
"""


@pytest.fixture
def other_postgres_url(postgres_cluster: Cluster) -> Iterator[str]:
    """The URL of a second empty PostgreSQL database."""
    with postgres_cluster.database() as url:
        yield url


@pytest.mark.slow
async def test_a_backup_under_play_is_restored(tmp_path: Path, database_url: str, other_postgres_url: str) -> None:
    """The restored server has the games finished before the backup, their ratings, rooms and tokens."""
    sqlite = database_url.startswith("sqlite")
    database = "" if sqlite else database_url
    file, data = tmp_path / "backup", tmp_path / "data"
    settings = Settings(data=data, database=database)
    async with serving(data, database=database, seed=1) as server:
        store = server.lobby.store
        await store.add_token("boss", admin=True)
        await store.save_room("cup", {"length": "east"})
        bots = [Bot(server, name, games=0) for name in "abc"]
        playing = asyncio.create_task(play_all(bots))
        await until(lambda: server.lobby.metrics.games._value.get() >= 3)
        before = await stored_games(server)
        said = await asyncio.to_thread(back_up, settings, file)
        assert said.startswith(f"backed up to {file} (")
        n = server.lobby.metrics.games._value.get()
        await until(lambda: server.lobby.metrics.games._value.get() >= n + 2)
        with pytest.raises((BackupError, OSError), match="a server uses it; stop that server"):
            await asyncio.to_thread(restore, settings, file)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
    assert file.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in tmp_path.iterdir()} == {"backup", "data"}
    if not sqlite:
        with pytest.raises(BackupError, match="is not empty: create an empty one"):
            restore(settings, file)
        said = restore(Settings(data=data, database=other_postgres_url), file)
        await check_restored(data, other_postgres_url, {game.id for game in before})
    else:
        for suffix in ("-wal", "-shm"):
            (data / f"nukidora.db{suffix}").write_bytes(b"left behind")
        said = restore(settings, file)
        assert "; the database that was there is " in said
        assert not (data / "nukidora.db-wal").exists()
        await check_restored(data, "", {game.id for game in before})
    assert "games in play go on then" in said
    assert "tokens revoked since are valid again" in said


async def check_restored(data: Path, database: str, ids: set[str]) -> None:
    """Check what a server with a restored database has."""
    async with serving(data, database=database) as server:
        store = server.lobby.store
        found = {game.id for game in (await store.games(limit=500)).items}
        assert ids <= found
        assert await store.next_in_series("default") >= len(ids)
        assert [(token.name, token.admin) for token in await store.tokens()] == [("boss", True)]
        assert "cup" in server.lobby.rooms
        await check_ratings(store)
        await play_all([Bot(server, name) for name in "xyz"])


async def test_the_replaced_database_is_kept(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    async with opened(settings.database_url) as store:
        await store.save_game(make_game(seeded=True))
    back_up(settings, tmp_path / "backup")
    async with opened(settings.database_url) as store:
        await store.save_game(make_game(minute=1, seeded=True))
    (tmp_path / "nukidora.db").chmod(0o644)  # as an earlier version left it
    restore(settings, tmp_path / "backup")
    (kept,) = tmp_path.glob("nukidora.db.before-*")
    assert [path.stat().st_mode & 0o777 for path in (kept, tmp_path / "nukidora.db")] == [0o600] * 2
    for path, n_games in ((tmp_path / "nukidora.db", 1), (kept, 2), (tmp_path / "backup", 1)):
        async with opened(f"sqlite:///{path}") as store:
            assert len((await store.games()).items) == await store.next_in_series("default") == n_games


async def test_a_database_with_a_log_that_was_left_behind_is_replaced_whole(tmp_path: Path) -> None:
    """A killed server leaves its log; the restored database must not get the changes in it."""
    settings = Settings(data=tmp_path)
    async with opened(settings.database_url) as store:
        await store.save_game(make_game())
        back_up(settings, tmp_path / "backup")
        await store.save_game(make_game(minute=1))
        killed = {suffix: (tmp_path / f"nukidora.db{suffix}").read_bytes() for suffix in ("", "-wal", "-shm")}
    for suffix, content in killed.items():
        (tmp_path / f"nukidora.db{suffix}").write_bytes(content)
    restore(settings, tmp_path / "backup")
    (kept,) = (path for path in tmp_path.glob("nukidora.db.before-*") if path.suffix.endswith("Z"))
    for path, n_games in ((tmp_path / "nukidora.db", 1), (kept, 2)):
        async with opened(f"sqlite:///{path}") as store:
            assert len((await store.games()).items) == n_games


async def test_a_backup_is_private_whatever_was_left_behind(tmp_path: Path) -> None:
    """Its temporary file may be there already: left by an earlier backup, or put there by another user."""
    settings = Settings(data=tmp_path / "data")
    settings.data.mkdir()
    async with opened(settings.database_url):
        pass
    (tmp_path / "others").touch(0o666)
    for number, lay in enumerate((lambda path: path.touch(0o666), lambda path: path.symlink_to(tmp_path / "others"))):
        file = tmp_path / f"{number}.backup"
        lay(tmp_path / f"{number}.backup.tmp")
        back_up(settings, file)
        assert file.stat(follow_symlinks=False).st_mode & 0o777 == 0o600
    assert (tmp_path / "others").read_bytes() == b""


async def test_backups_that_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, file = Settings(data=tmp_path / "data"), tmp_path / "file"
    with pytest.raises(BackupError, match="there is no such database; name it with --data or the setting database"):
        back_up(settings, file)
    (tmp_path / "data").mkdir()
    async with opened(settings.database_url):
        pass
    file.write_text("mine")
    with pytest.raises(BackupError, match="file exists: name a new file"):
        back_up(settings, file)
    assert file.read_text() == "mine"
    with pytest.raises(OSError, match="No such file or directory"):
        back_up(settings, tmp_path / "missing" / "file")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackupError, match="pg_dump is not installed: install PostgreSQL's client"):
        back_up(Settings(database="postgresql://nobody@127.0.0.1/none"), tmp_path / "dump")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "file"]


async def test_files_that_are_not_restored(tmp_path: Path) -> None:
    """Nothing is changed."""
    settings, file = Settings(data=tmp_path / "data"), tmp_path / "file"
    (tmp_path / "data").mkdir()
    async with opened(settings.database_url) as store:
        await store.save_game(make_game())
    back_up(settings, tmp_path / "backup")
    whole = (tmp_path / "backup").read_bytes()
    before = (tmp_path / "data" / "nukidora.db").read_bytes()
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE games (title TEXT)")
    with closing(sqlite3.connect(tmp_path / "newer.db")) as newer:
        newer.deserialize(whole)
        newer.execute("UPDATE alembic_version SET version_num = '9999'")
        newer.commit()
        (tmp_path / "newer").write_bytes(newer.serialize())
    cases = (
        (None, "there is no such file"),
        (b"", "it is not a database of nukidora"),
        (b"junk" * 1000, "it is not a database of nukidora"),
        (whole[: len(whole) // 2], "malformed"),
        ((tmp_path / "other.db").read_bytes(), "it is not a database of nukidora"),
        ((tmp_path / "newer").read_bytes(), "has version 9999, this program supports versions up to"),
    )
    for content, said in cases:
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(BackupError, match=said) as error:
            restore(settings, file)
        assert str(error.value).isprintable()
    with pytest.raises(BackupError, match="is the database itself"):
        restore(settings, tmp_path / "data" / "nukidora.db")
    assert (tmp_path / "data" / "nukidora.db").read_bytes() == before
    assert {path.name for path in (tmp_path / "data").iterdir()} <= {
        "lock",
        "nukidora.db",
        "nukidora.db-shm",
        "nukidora.db-wal",
    }


async def test_dumps_that_are_not_restored(tmp_path: Path, other_postgres_url: str, postgres_url: str) -> None:
    """Of another version, of something else, and no dump at all."""
    settings = Settings(data=tmp_path / "data", database=postgres_url)
    (tmp_path / "junk").write_bytes(b"junk")
    with pytest.raises(BackupError, match="pg_restore: ") as error:
        restore(settings, tmp_path / "junk")
    assert PASSWORD not in str(error.value)
    back_up(settings, tmp_path / "empty")
    with pytest.raises(BackupError, match="it is not a database of nukidora"):
        restore(settings, tmp_path / "empty")
    async with opened(other_postgres_url) as store, store._connections.writing() as connection:
        await connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    back_up(Settings(database=other_postgres_url), tmp_path / "newer")
    with pytest.raises(BackupError, match="has version 9999"):
        restore(settings, tmp_path / "newer")
    with pytest.raises(BackupError, match="pg_dump: "):
        back_up(Settings(database=postgres_url + "x"), tmp_path / "missing")
    assert not (tmp_path / "missing").exists()
    async with opened(postgres_url):  # it is as empty as it was
        pass


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
async def test_an_interrupted_backup_leaves_no_half_file(tmp_path: Path, how: signal.Signals) -> None:
    async with opened(f"sqlite:///{tmp_path / 'nukidora.db'}") as store:
        await store.save_game(make_game(record=os.urandom(40_000_000)))
    command = [sys.executable, "-c", STUCK, "--data", str(tmp_path), "backup", str(tmp_path / "file")]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "file.tmp").exists() or (tmp_path / "file.tmp").stat().st_size < 1_000_000:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(how)
        _, err = process.communicate(timeout=30)
    assert process.returncode == (130 if how == signal.SIGINT else 143)
    assert "Traceback" not in err
    assert not list(tmp_path.glob("file*"))


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def create() -> None:
        async with opened(f"sqlite:///{tmp_path / 'nukidora.db'}"):
            pass

    asyncio.run(create())
    file = str(tmp_path / "file")
    assert main(["--data", str(tmp_path), "backup", file]) == 0
    assert main(["--data", str(tmp_path), "restore", file]) == 0
    assert capsys.readouterr().out.startswith(f"backed up to {file} (")
