"""What the client says if it cannot reach a server at all, or if the port speaks another protocol."""

from __future__ import annotations

import itertools
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from agents.client import first_connection, session
from agents.client import playing as client
from agents.client.address import Address, parse_url
from agents.client.connection import FatalConnectionError
from agents.client.first_connection import REQUEST
from agents.client.session import ClientSession
from tests.support.fake_server import PATIENCE, START_GAME, Connection, FakeServer, says, serves
from tests.support.scripted_bot import ScriptedBot

UNUSED_PORT = 1  # no program may listen there but root's, and none does


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the waits between attempts, and wait long for an answer that comes: the machine may be busy."""
    monkeypatch.setattr(client, "MIN_BACKOFF", 0.01)
    monkeypatch.setattr(client, "FIRST_CONNECTION", 0.2)
    monkeypatch.setattr(session, "HELLO_TIMEOUT", PATIENCE)
    monkeypatch.setattr(first_connection, "PROBE_TIMEOUT", PATIENCE)
    monkeypatch.setattr(first_connection, "ANSWER_TIMEOUT", PATIENCE)


@pytest.fixture
def _silent_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the waits for a greeting that does not come."""
    monkeypatch.setattr(session, "HELLO_TIMEOUT", 0.2)
    monkeypatch.setattr(first_connection, "PROBE_TIMEOUT", 0.2)


def session_at(address: Address, lines: list[str], games: int = 1, **join: Any) -> ClientSession:
    """A session that keeps what it prints."""
    keys = {"type": "join", "name": "me", "room": "room"} | join
    return ClientSession(ScriptedBot(), keys, games, lines.append, lines.append, address)


def refusal(url: str) -> str:
    """What the client says when it gives up."""
    address = parse_url(url)
    with pytest.raises(FatalConnectionError) as refused:
        client.play(address, session_at(address, []))
    return str(refused.value)


@contextmanager
def http_server() -> Iterator[int]:
    """The port of a server that speaks HTTP and nothing else."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
    thread.join(PATIENCE)


@contextmanager
def accepting(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """The port of a server that treats every connection in that way, then closes it."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        while True:
            try:
                connected, _ = listener.accept()
            except OSError:
                return
            with connected:
                connected.settimeout(PATIENCE)
                with suppress(ConnectionError):  # a client may leave before it has read all
                    answer(connected)

    thread = Thread(target=run, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(PATIENCE)


def greet(connected: socket.socket) -> None:
    """What a mjai server does, over TCP, with a client that speaks HTTP."""
    connected.sendall(b'{"type":"hello","protocol":"mjsonp","protocol_version":3}\n')
    connected.recv(65_536)
    connected.sendall(b'{"type":"error","message":"not JSON"}\n')


@pytest.mark.parametrize("form", ["mjsonp://127.0.0.1:{}/x", "ws://127.0.0.1:{}/mjai/x", "wss://127.0.0.1:{}/mjai/x"])
def test_the_first_connection_is_given_up_where_nobody_listens(
    form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    looks = itertools.count()
    monkeypatch.setattr(client, "monotonic", lambda: next(looks) * 0.05)  # else a slow machine makes one attempt
    assert refusal(form.format(UNUSED_PORT)) == (
        f"nobody listens at 127.0.0.1:{UNUSED_PORT}: is the server running, and is this its address?"
    )
    assert "0.01 s" in capsys.readouterr().err


def test_an_unknown_host_is_given_up() -> None:
    assert refusal("mjsonp://nobody.invalid/x").startswith("no mjai server can be reached at nobody.invalid:11600 (")


@pytest.mark.usefixtures("_silent_at_first")
def test_mjai_over_tcp_at_the_port_of_http() -> None:
    with http_server() as port:
        assert refusal(f"mjsonp://127.0.0.1:{port}/room") == (
            f"127.0.0.1:{port} speaks HTTP: use ws://127.0.0.1:{port}/mjai/room, "
            "or the server's port of mjai over TCP (11600 by default)"
        )
        assert refusal(f"wss://127.0.0.1:{port}/mjai/room").startswith(f"127.0.0.1:{port} speaks HTTP without TLS: use")


@pytest.mark.parametrize("scheme", ["ws", "wss"])
def test_a_websocket_at_the_port_of_tcp(scheme: str) -> None:
    with accepting(greet) as port:
        told = refusal(f"{scheme}://127.0.0.1:{port}/mjai/room")
    assert told == f"127.0.0.1:{port} speaks mjai over TCP: use mjsonp://127.0.0.1:{port}/room"


def test_something_else_that_answers_is_given_up() -> None:
    with accepting(lambda connected: connected.sendall(b"SSH-2.0\r\n")) as port:
        assert refusal(f"mjsonp://127.0.0.1:{port}/x").startswith(
            f"no mjai server can be reached at 127.0.0.1:{port} ("
        )


@pytest.mark.usefixtures("_silent_at_first")
def test_a_silent_port_is_waited_for_because_an_arena_greets_later(monkeypatch: pytest.MonkeyPatch) -> None:
    def probed(connection: Connection) -> None:
        assert connection._socket.recv(100) == REQUEST

    def serve(connection: Connection) -> None:
        while not lines:
            time.sleep(0.01)
        serves(connection)

    lines: list[str] = []
    monkeypatch.setattr(first_connection, "ANSWER_TIMEOUT", 0.2)
    with FakeServer(serve, probed) as server:
        address = parse_url(server.url)
        client.play(address, session_at(address, lines))
    assert lines[0] == f"{server.url}: connected, and waiting for hello; an arena sends it when its game begins"
    assert lines[-1] == "game 1: 2nd with 34,500 points (-5.5)"


def test_a_server_that_has_answered_once_is_never_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "FIRST_CONNECTION", 0.0)
    full = says("full", early=True, retry=True)
    with FakeServer(full, *[Connection.handshake] * 3, serves) as server:
        address = parse_url(server.url)
        client.play(address, session_at(address, []))


def test_a_token_that_is_missing_is_told_how_to_give() -> None:
    for join, told in (({}, "; give yours with --token or NUKIDORA_TOKEN"), ({"token": "t"}, "")):
        with FakeServer(says("a token is needed")) as server:
            address = parse_url(server.url)
            started = session_at(address, [], **join)
            with pytest.raises(FatalConnectionError) as refused:
                client.play(address, started)
        assert str(refused.value) == f"the server says: a token is needed{told}"


def test_a_session_without_end_is_over_when_the_server_wants_no_more_games() -> None:
    def serve(connection: Connection) -> None:
        serves(connection)
        connection.send({"type": "error", "message": "all games are played"})

    for games, exits in ((0, True), (5, False)):
        lines: list[str] = []
        with FakeServer(serve) as server:
            address = parse_url(server.url)
            started = session_at(address, lines, games)
            if exits:
                client.play(address, started)
                assert lines[-1] == "the server says: all games are played"
            else:
                with pytest.raises(FatalConnectionError, match="all games are played"):
                    client.play(address, started)
            assert started.summary() == "played 1 game as me: 0 x 1st, 1 x 2nd, 0 x 3rd"


def test_the_record_is_told_where_the_server_names_the_game() -> None:
    lines: list[str] = []
    start = START_GAME | {"names": ["me", "a", "b"], "game": "f00", "http_port": 8123}
    with FakeServer(partial(serves, start=start)) as server:
        address = parse_url(server.url)
        played = session_at(address, lines)
        client.play(address, played)
    assert lines == [
        "game 1: against a and b, id f00",
        "game 1: 2nd with 34,500 points (-5.5); record: http://127.0.0.1:8123/api/games/f00/record",
    ]
    assert played.summary().endswith("; all games: http://127.0.0.1:8123/api/games?player=me")
    assert "game" not in played._bot.batches[0][0]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("127.0.0.1", str(UNUSED_PORT), "x"), "is a server of mjai there?"),
        ((), "usage: "),
        (("a", "b", "c"), "usage: "),
    ],
)
def test_the_example_says_in_one_line_why_it_cannot_play(arguments: tuple[str, ...], told: str) -> None:
    command = [sys.executable, "-m", "agents.client.example", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
    assert told in ended.stderr
