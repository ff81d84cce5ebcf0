"""A database or a journal that cannot be written: it is noticed, no new games start, and games in play are not lost."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from server import storing
from server.limits import LIMITS, Limits
from server.running import Running, running
from server.settings import Settings
from server.store import FinishedGame, Store, StoreError
from server.store.database import read_url
from server.store.store import shielded
from tests.conftest import DATA
from tests.support.postgres import Cluster
from tests.support.read_only import ReadOnly
from tests.support.running_server import live
from tests.support.server_bots import Bot, connect_in_order, live_game, play_all, serving, together, until
from tests.support.stored_records import stored_games, the_game

REPOSITORY = DATA.parent.parent
NOT_STORED = "nothing can be stored, no new games start; see the server's log"
PATIENCE = 60.0  # seconds that a check may take where the database does not hang
SOON = Limits(store_retry=0.02, check_holds=0.0, check_timeout=PATIENCE)  # checks and tries are repeated at once


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The errors logged so far."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.slow
async def test_the_health_check_writes_and_is_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = asked = 0
    all_asked = asyncio.Event()
    check_writable, checked_problem = Store.check_writable, storing.Storing.checked_problem

    async def counting(store: Store) -> None:
        nonlocal written
        written += 1
        await all_asked.wait()
        await check_writable(store)

    async def asking(here: storing.Storing) -> str:
        nonlocal asked
        asked += 1
        if asked == 20:
            all_asked.set()
        return await checked_problem(here)

    async with live(tmp_path, limits=Limits(check_holds=60.0, check_timeout=PATIENCE)) as at:
        monkeypatch.setattr(Store, "check_writable", counting)
        monkeypatch.setattr(storing.Storing, "checked_problem", asking)
        assert await together(*(at.get("/healthz") for _ in range(20))) == [{"status": "ok"}] * 20
        assert written == 1
        for _ in range(20):
            await at.get("/healthz")
        assert written == 1, "a check holds for a while"


@pytest.mark.slow
async def test_a_database_that_hangs_is_noticed_and_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, answer = 0, asyncio.Event()

    async def hang(_: Store) -> None:
        nonlocal asked
        asked += 1
        await answer.wait()

    async with live(tmp_path, limits=Limits(store_retry=0.02, check_holds=60.0, check_timeout=0.1)) as at:
        monkeypatch.setattr(Store, "check_writable", hang)
        for _ in range(3):
            assert await at.refused(503, "GET", "/healthz") == NOT_STORED
        assert asked == 1
        answer.set()
        await until(lambda: not at.server.lobby.storing.problem)
        assert await at.get("/healthz") == {"status": "ok"}


@pytest.mark.slow
async def test_the_first_who_asks_is_told_that_a_database_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However late the check begins: as long as nothing is known, nobody is told that all is well."""
    run_check = storing.Storing._run_check

    async def late(here: storing.Storing) -> None:
        time.sleep(0.005)
        await run_check(here)

    async def hang(_: Store) -> None:
        await asyncio.Event().wait()

    async with live(tmp_path, limits=Limits(check_timeout=0.1)) as at:
        monkeypatch.setattr(storing.Storing, "_run_check", late)
        monkeypatch.setattr(Store, "check_writable", hang)
        assert await at.refused(503, "GET", "/healthz") == NOT_STORED


async def no_check_runs(server: Running) -> None:
    """Wait for the end of a check; one that began before the trouble could still say that all is well."""
    await until(lambda: not server.lobby.storing._check or server.lobby.storing._check.done())


async def wait_in(server: Running, bots: list[Bot], room: str) -> None:
    """Let bots wait in a room."""
    for number, bot in enumerate(bots, 1):
        await bot.connect()
        await until(lambda n=number: len(waiting_in(server, room)) == n)  # type: ignore[misc]


def waiting_in(server: Running, room: str) -> list[Any]:
    return server.lobby.rooms[room].waiting if room in server.lobby.rooms else []


@pytest.mark.slow
async def test_no_game_starts_while_the_database_is_read_only(
    tmp_path: Path, read_only: ReadOnly, caplog: pytest.LogCaptureFixture
) -> None:
    """Waiting bots keep waiting; their games start, and all are stored, once it can be written again."""
    async with live(tmp_path, limits=SOON) as at:
        server = at.server
        read_only.on = True
        assert await at.refused(503, "GET", "/healthz") == NOT_STORED
        bots = [Bot(server, name) for name in "abcdefg"]
        filled = Bot(server, "filled", room="fill+rule+rule")
        await wait_in(server, bots, "default")
        await wait_in(server, [filled], "fill+rule+rule")
        await asyncio.sleep(0.1)
        assert not server.lobby.games
        assert len(errors(caplog)) == 1
        assert "no new games start" in errors(caplog)[0]
        read_only.on = False
        await until(lambda: not waiting_in(server, "fill+rule+rule") and len(waiting_in(server, "default")) == 1)
        await play_all([*bots[:6], filled])
        assert [bot.errors for bot in [*bots, filled]] == [[]] * 8
        assert len(await stored_games(server)) == 3
        assert len(errors(caplog)) == 1
        await bots[6].leave()


@pytest.mark.slow
async def test_held_games_of_a_room_with_few_games_left(tmp_path: Path, read_only: ReadOnly) -> None:
    """The first three play the last game; the room closes, and the others are told."""
    async with live(tmp_path, limits=SOON, games=1) as at:
        read_only.on = True
        await at.refused(503, "GET", "/healthz")
        bots = [Bot(at.server, name) for name in "abcd"]
        await wait_in(at.server, bots, "default")
        read_only.on = False
        await play_all(bots)
        assert [bool(bot.games) for bot in bots] == [True, True, True, False]
        assert "all its games have started" in bots[3].errors[0]


@pytest.mark.slow
async def test_a_game_that_ends_while_the_database_is_read_only(
    tmp_path: Path, read_only: ReadOnly, caplog: pytest.LogCaptureFixture
) -> None:
    """It is played to its end and stored later; meanwhile the health check fails and no game starts."""
    async with live(tmp_path, limits=SOON) as at:
        server = at.server
        waiting = server.lobby.metrics.waiting_to_be_stored._value
        bots = [Bot(server, name) for name in "abc"]
        await connect_in_order(server, bots)
        await until(lambda: len(server.lobby.games) == 1)
        await no_check_runs(server)
        read_only.on = True
        await together(*(bot.until(lambda _: live_game(server).engine.over) for bot in bots))
        await until(lambda: bool(server.lobby.storing.problem))
        assert waiting.get() == 1
        assert "nukidora_games_waiting_to_be_stored 1.0" in (await at.http.get("/metrics")).text
        assert await at.refused(503, "GET", "/healthz") == NOT_STORED
        others = [Bot(server, name) for name in "xyz"]
        await wait_in(server, others, "default")
        await asyncio.sleep(0.1)
        assert len(server.lobby.games) == 1
        read_only.on = False
        await play_all([*bots, *others])
        assert len(await stored_games(server)) == 2
        assert waiting.get() == 0
        assert len(errors(caplog)) == 1, "one line, whatever fails"


@pytest.mark.slow
async def test_no_game_starts_without_a_journal(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Bots keep waiting, with one line in the log for all of them."""
    async with serving(tmp_path, limits=SOON) as server:
        (tmp_path / "journal").rmdir()
        bots = [Bot(server, name) for name in "abcdef"]
        await wait_in(server, bots, "default")
        await until(lambda: bool(server.lobby.storing.problem))
        assert not server.lobby.games
        (tmp_path / "journal").mkdir()
        await play_all(bots)
        assert len(await stored_games(server)) == 2
        assert len(errors(caplog)) == 1


@pytest.mark.slow
async def test_a_disk_that_is_full_for_all_journals_is_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The games in play go on, and are stored."""
    full, write, write_probe = False, os.write, storing.write_probe

    def full_disk(file: int, data: bytes) -> int:
        if full and Path(f"/proc/self/fd/{file}").readlink().suffix == ".journal":
            raise OSError(28, "No space left on device")
        return write(file, data)

    def full_probe(folder: Path) -> None:
        if full:
            raise OSError(28, "No space left on device")
        write_probe(folder)

    monkeypatch.setattr(os, "write", full_disk)
    monkeypatch.setattr(storing, "write_probe", full_probe)
    async with serving(tmp_path, limits=SOON) as server:
        bots = [Bot(server, f"{room}{name}", room=room) for room in "xyz" for name in "abc"]
        questions = await together(*(bot.until(lambda message: message["type"] == "tsumo") for bot in bots))
        await no_check_runs(server)
        full = True
        await together(*(bot.answer(question) for bot, question in zip(bots, questions, strict=True)))
        await play_all(bots)
        assert len(await stored_games(server)) == 3
        assert len(errors(caplog)) == 1
        assert "No space left on device" in errors(caplog)[0]
        full = False
        await play_all([Bot(server, name) for name in "abc"])


@pytest.mark.slow
async def test_a_game_that_cannot_be_stored_at_all_ends_for_its_bots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its journal is set aside; it holds up nobody else."""

    def broken(_: object) -> FinishedGame:
        raise ZeroDivisionError

    async with live(tmp_path, limits=SOON) as at:
        monkeypatch.setattr("server.lobby.make_finished_game", broken)
        bots = [Bot(at.server, name) for name in "abc"]
        await play_all(bots)
        assert [bot.ended for bot in bots] == [True] * 3
        assert not await stored_games(at.server)
        assert [path.suffix for path in (tmp_path / "journal").iterdir()] == [".broken"]
        assert "journal is set aside" in errors(caplog)[0]
        assert await at.get("/healthz") == {"status": "ok"}
        assert at.server.lobby.metrics.playing._value.get() == 0
        monkeypatch.undo()
        await play_all([Bot(at.server, name) for name in "abc"])
        await the_game(at.server)


async def test_a_write_that_fails_after_its_caller_is_cancelled_is_no_stray_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(Store):
        @shielded
        async def write(self) -> None:
            await asyncio.sleep(0.05)
            raise StoreError("database is locked")

    store = Failing(read_url(f"sqlite:///{tmp_path / 'never opened'}"), LIMITS)
    caller = asyncio.create_task(store.write())
    await until(lambda: bool(store._connections._pending))
    caller.cancel()
    await until(lambda: not store._connections._pending)
    gc.collect()
    assert errors(caplog) == []


@pytest.mark.slow
@pytest.mark.parametrize("write", ["check", "save"])
async def test_stopping_while_a_write_hangs(tmp_path: Path, write: str, caplog: pytest.LogCaptureFixture) -> None:
    """Another process holds SQLite's lock: no stray traceback, and the server stops in time."""
    limits = replace(SOON, lock_timeout=0.5)
    with closing(sqlite3.connect(tmp_path / "nukidora.db", isolation_level=None)) as other:
        async with asyncio.timeout(None) as stopping, serving(tmp_path, limits=limits) as server:
            if write == "check":
                other.execute("BEGIN IMMEDIATE")
                server.lobby.storing.check()
            else:
                bots = [Bot(server, name, resume=True) for name in "abc"]
                await connect_in_order(server, bots)
                await until(lambda: len(server.lobby.games) == 1)
                other.execute("BEGIN IMMEDIATE")
                await together(*(bot.until(lambda _: live_game(server).engine.over) for bot in bots))
            await asyncio.sleep(0.1)
            stopping.reschedule(asyncio.get_running_loop().time() + 20)
    gc.collect()  # a task whose exception nobody has seen says so now
    assert [line for line in errors(caplog) if "nothing can be stored" not in line] == []


HASTY = replace(SOON, check_timeout=1.0)


@contextmanager
def stopped(cluster: Cluster) -> Iterator[None]:
    """Stop all processes of a PostgreSQL server during the block, as SIGSTOP does."""
    processes = cluster.processes()
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


@pytest.mark.slow
async def test_a_postgresql_server_that_hangs(
    tmp_path: Path, postgres_cluster: Cluster, postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The game in play is played to its end and stored later; nothing stray is logged."""
    async with live(tmp_path, limits=HASTY, database=postgres_url) as at:
        bots = [Bot(at.server, name) for name in "abc"]
        await connect_in_order(at.server, bots)
        await until(lambda: len(at.server.lobby.games) == 1)
        with stopped(postgres_cluster):
            assert await at.refused(503, "GET", "/healthz") == NOT_STORED
            await together(*(bot.until(lambda _: live_game(at.server).engine.over) for bot in bots))
        await play_all(bots)
        await the_game(at.server)
        await until(lambda: not at.server.lobby.storing.problem)
    gc.collect()
    assert [line for line in errors(caplog) if "nothing can be stored" not in line] == []


@pytest.mark.slow
async def test_stopping_while_a_postgresql_server_hangs(
    tmp_path: Path, postgres_cluster: Cluster, postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(data=tmp_path, port=0, mjai_port=0, database=postgres_url)
    with ExitStack() as stack:
        async with asyncio.timeout(60), running(settings, limits=HASTY) as server:
            await asyncio.gather(*(server.lobby.storing._store.players() for _ in range(4)))  # four connections
            stack.enter_context(stopped(postgres_cluster))
            server.lobby.storing.check()
            await until(lambda: bool(server.lobby.storing.problem))
    gc.collect()
    assert [line for line in errors(caplog) if "nothing can be stored" not in line] == []


# As ``python -m server``, with a limit on the size of each file: SQLite cannot enlarge its log.
LIMITED = """
import resource, sys
from engine.common.program import start
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
sys.exit(start('tests.support.patient_server:main'))
"""


@pytest.mark.slow
def test_a_disk_that_fills_up(tmp_path: Path) -> None:
    """A real one, as far as SQLite can tell: the health check notices."""
    command = [sys.executable, "-c", LIMITED, "--port", "0", "--mjai-port", "0", "--data", str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(6)]
        (pages,) = re.findall(r"pages +(\S+)", "".join(lines))
        status = 200
        with httpx.Client(trust_env=False, timeout=PATIENCE) as http:
            assert http.get(f"{pages}/healthz").status_code == 200
            path = tmp_path / "nukidora.db"
            with closing(sqlite3.connect(path)) as reader, closing(sqlite3.connect(path)) as writer:
                reader.execute("BEGIN")
                reader.execute("SELECT * FROM games").fetchall()  # from now on the log can only grow
                writer.execute("INSERT INTO checks VALUES (?, '2026-01-01')", ["x" * 400_000])
                writer.commit()
                deadline = time.monotonic() + 30
                while status == 200 and time.monotonic() < deadline:
                    time.sleep(0.5)
                    status = http.get(f"{pages}/healthz").status_code
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert status == 503
    assert err.count("no new games start") == 1
    assert "Traceback" not in err
    assert process.returncode == 0
