"""Starting the server: addresses, data folder, and the errors if it cannot start."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest

from server import cli
from server.addresses import listening
from server.running import running
from server.settings import Settings
from tests.support.postgres import free_port
from tests.support.server_bots import Bot, play_all, serving, the_game, together


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


async def refusal(data: Path, **settings: Any) -> str:
    """The error, one line, with which the server does not start."""
    with pytest.raises(OSError, match=r"\w") as error:
        async with running(Settings(**{"port": 0, "mjai_port": 0, "data": data} | settings)):
            pass
    assert str(error.value).isprintable()
    return str(error.value)


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


@pytest.mark.parametrize("port", ["port", "mjai_port"])
def test_a_port_in_use_is_told_before_anything_is_compiled(
    tmp_path: Path, port: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    warmed: list[Settings] = []
    monkeypatch.setattr(cli, "warm_up", warmed.append)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = {"port": 0, "mjai_port": 0} | {port: taken.getsockname()[1]}
        flags = [f"--{name.replace('_', '-')}={number}" for name, number in ports.items()]
        with pytest.raises(SystemExit) as ended:
            cli.main([*flags, f"--data={tmp_path}"])
    assert ended.value.code == 2
    assert warmed == []
    assert f"Address already in use; choose another with --{port.replace('_', '-')}" in capsys.readouterr().err


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
@pytest.mark.parametrize("host", ["::1", "::", ""])
async def test_ipv6(tmp_path: Path, host: str) -> None:
    async with running(Settings(host=host, port=0, mjai_port=0, data=tmp_path)) as server:
        addresses = ["::1"] if host else ["::1", "127.0.0.1"]
        for address in addresses:
            url = f"http://[{address}]" if ":" in address else f"http://{address}"
            async with httpx.AsyncClient(trust_env=False) as http:
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


async def test_unknown_hosts_and_addresses_of_other_machines_are_refused(tmp_path: Path) -> None:
    for host in ("nobody.invalid", "two..dots"):
        assert (await refusal(tmp_path, host=host)).startswith(f"host {host!r} is not known (")
    port = free_port()
    said = await refusal(tmp_path, host="203.0.113.1", port=port)
    told = f"cannot listen on 203.0.113.1, port {port}: Cannot assign requested address"
    assert said == f"{told}; choose another with --host (NUKIDORA_HOST)"
