"""Starting the server: addresses, data folder, and the errors if it cannot start."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import httpx
import pytest
from sqlalchemy import Engine, event

from server import storing
from server.addresses import listening
from server.running import running
from server.settings import Settings
from server.store import StoreError
from tests.support.read_only import ReadOnly
from tests.support.server_bots import Bot, play_all, serving, together
from tests.support.stored_records import the_game

SOMAXCONN = Path("/proc/sys/net/core/somaxconn")


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.journal")}  # others come and go


async def refusal(data: Path, **settings: Any) -> str:
    """The error, one line, with which the server does not start."""
    with pytest.raises((OSError, StoreError)) as error:
        async with running(Settings(**{"port": 0, "mjai_port": 0, "data": data} | settings)):
            pass
    assert str(error.value).isprintable()
    return str(error.value)


@pytest.mark.slow
async def test_a_second_server_in_the_same_folder_changes_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        bots = [Bot(server, name) for name in "abc"]
        questions = await together(*(bot.until(lambda message: message["type"] == "tsumo") for bot in bots))
        before = contents(tmp_path / "journal")
        said = await refusal(tmp_path)
        assert (
            said == f"data folder {tmp_path}: a server uses it; stop that server, or name another folder with --data "
            "(NUKIDORA_DATA)"
        )
        assert contents(tmp_path / "journal") == before
        await together(*(bot.answer(question) for bot, question in zip(bots, questions, strict=True)))
        await play_all(bots)
        await the_game(server)


@pytest.mark.slow
@pytest.mark.parametrize("port", ["port", "mjai_port"])
async def test_a_port_in_use_changes_nothing(tmp_path: Path, port: str) -> None:
    async with serving(tmp_path) as server:
        bots = [Bot(server, name) for name in "abc"]
        await together(*(bot.until(lambda message: message["type"] == "tsumo") for bot in bots))
    (journal,) = (tmp_path / "journal").iterdir()
    text = journal.read_text().replace(
        '"resume_timeout":30.0', '"resume_timeout":0.0'
    )  # a house bot would take over at once
    journal.write_text(text)
    with socket.create_server(("127.0.0.1", 0)) as other:
        number = other.getsockname()[1]
        said = await refusal(tmp_path, **{port: number})
    option = "--port (NUKIDORA_PORT)" if port == "port" else "--mjai-port (NUKIDORA_MJAI_PORT)"
    assert said == f"cannot listen on 127.0.0.1, port {number}: Address already in use; choose another with {option}"
    await asyncio.sleep(0.1)
    assert journal.read_text() == text


@needs_ipv6
async def test_an_address_that_cannot_be_listened_at_blames_no_port(tmp_path: Path) -> None:
    """The socket of an IPv6 address takes no IPv4 connections, so this one is none of it."""
    with pytest.raises(OSError, match=r"choose another with --host \(NUKIDORA_HOST\)$"):
        async with running(Settings(host="::ffff:127.0.0.1", port=0, mjai_port=0, data=tmp_path)):
            pass


@pytest.mark.slow
@needs_ipv6
@pytest.mark.parametrize("host", ["::1", "::", ""])
async def test_ipv6(tmp_path: Path, host: str) -> None:
    async with running(Settings(host=host, port=0, mjai_port=0, data=tmp_path)) as server:
        addresses = ["::1"] if host else ["::1", "127.0.0.1"]
        for address in addresses:
            url = f"http://[{address}]" if ":" in address else f"http://{address}"
            async with httpx.AsyncClient(trust_env=False, timeout=60) as http:
                assert (await http.get(f"{url}:{server.port}/healthz")).status_code == 200
            reader, writer = await asyncio.open_connection(address, server.mjai_port)
            assert b'"hello"' in await reader.readline()
            writer.close()


@needs_ipv6
def test_all_addresses_of_a_host_listen_on_the_same_port(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        (family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", address)
        for family, address in (
            (socket.AF_INET6, ("2001:db8::1", 0, 0, 0)),  # not an address of this machine
            (socket.AF_INET6, ("::1", 0, 0, 0)),
            (socket.AF_INET, ("127.0.0.1", 0)),
            (socket.AF_INET, ("127.0.0.1", 0)),
        )
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with listening("name", 0) as sockets:
        names = [bound.getsockname()[:2] for bound in sockets]
        assert [address for address, _ in names] == ["::1", "127.0.0.1"]
        assert len({port for _, port in names}) == 1
        assert names[0][1] > 0


@pytest.mark.skipif(
    not SOMAXCONN.is_file() or int(SOMAXCONN.read_text()) < 300, reason="the system lets fewer connections wait"
)
def test_hundreds_of_connections_may_wait_to_be_accepted() -> None:
    with ExitStack() as stack:
        (listener,) = stack.enter_context(listening("127.0.0.1", 0))
        for _ in range(300):
            stack.enter_context(socket.create_connection(listener.getsockname(), timeout=0.9))


# A database or journal that cannot be written -------------------------------------------------------------------------


async def test_a_database_that_is_read_only_stops_the_start(tmp_path: Path, read_only: ReadOnly) -> None:
    async with serving(tmp_path):
        pass
    read_only.on = True
    assert "attempt to write a readonly database; check that" in await refusal(tmp_path)


@pytest.mark.slow
async def test_a_postgresql_database_in_read_only_mode_stops_the_start(tmp_path: Path, postgres_url: str) -> None:
    async with running(Settings(data=tmp_path, port=0, mjai_port=0, database=postgres_url)):
        pass
    await make_read_only(postgres_url)
    said = await refusal(tmp_path, database=postgres_url)
    assert "cannot execute INSERT in a read-only transaction" in said


async def make_read_only(url: str) -> None:
    """Switch a PostgreSQL database to read-only mode, for connections made from now on."""
    connection = await asyncpg.connect(url)
    await connection.execute(f"ALTER DATABASE {url.rpartition('/')[2]} SET default_transaction_read_only = on")
    await connection.close()


async def test_a_full_sqlite_database_stops_the_start(tmp_path: Path) -> None:
    async with serving(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / "nukidora.db")) as database:
        database.execute("DELETE FROM checks")
        database.commit()

    def limit(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA max_page_count = 1")  # as many pages as there are
        cursor.close()

    event.listen(Engine, "connect", limit)
    try:
        fill(tmp_path / "nukidora.db")
        assert "database or disk is full" in await refusal(tmp_path)
    finally:
        event.remove(Engine, "connect", limit)


def fill(path: Path) -> None:
    """Leave no room in the pages of the table of checks, so that a row needs a new one."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("DROP TABLE checks")
        database.execute(f"CREATE TABLE checks (name TEXT PRIMARY KEY, written TEXT, x TEXT DEFAULT '{'x' * 9000}')")
        database.commit()


async def test_a_folder_where_no_journal_can_be_written_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "journal" / storing.PROBE).mkdir(parents=True)  # even root cannot write a folder as a file
    assert "Is a directory" in await refusal(tmp_path)


async def test_nobody_else_can_read_the_data_folder(tmp_path: Path) -> None:
    async with serving(tmp_path / "data"):
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0
