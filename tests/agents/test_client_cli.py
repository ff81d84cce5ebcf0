"""The command line of the client: arguments, exit codes, signals."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agents.client.address import parse_url
from tests.support.external_bots import command, still_running
from tests.support.fake_server import (
    CAN_ACT,
    DISCARD,
    DRAW,
    END,
    START_GAME,
    START_KYOKU,
    Connection,
    FakeServer,
    says,
    serves,
)

# The command line ---------------------------------------------------------------------------------------------------


def start_client(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start the client as a child process."""
    return subprocess.Popen(
        [sys.executable, "-m", "agents.client", *arguments],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end_of(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr, without the notice that the rules are being compiled."""
    stdout, stderr = process.communicate(timeout=120)
    told = [line for line in stderr.splitlines(keepends=True) if not line.startswith("compiling the rules")]
    return process.returncode, stdout, "".join(told)


@pytest.mark.slow
def test_an_external_bot_plays_at_a_server(tmp_path: Path) -> None:
    with FakeServer(serves) as server:
        process = start_client("--exec", command(tmp_path, "event"), server.url, NUKIDORA_TOKEN="t0ken")
        ended = end_of(process)
    assert ended == (
        0,
        "game 1: against 1 and 2\n"
        "game 1: 2nd with 34,500 points (-5.5)\n"
        "played 1 game as tsumogiri_bot: 0 x 1st, 1 x 2nd, 0 x 3rd\n",
        "",
    )
    assert server.joins[0].items() >= {"name": "tsumogiri_bot", "token": "t0ken", "games": 1}.items()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_client_and_its_child_process(tmp_path: Path, number: signal.Signals, code: int) -> None:
    def serve(connection: Connection) -> None:
        connection.handshake()
        connection.send(START_GAME, START_KYOKU, DRAW | CAN_ACT)
        connection.receive()
        process.send_signal(number)
        with pytest.raises(ConnectionError):
            connection.receive()

    with FakeServer(serve) as server:
        process = start_client("--exec", command(tmp_path, "array"), "--framing", "array", server.url)
        assert end_of(process) == (code, "game 1: against 1 and 2\n", "")
    assert still_running(tmp_path) == []


def test_what_a_bot_said_on_stderr_follows_the_error_of_the_server(tmp_path: Path) -> None:
    bot = tmp_path / "wrong.py"
    bot.write_text(
        "import sys\nfor line in sys.stdin:\n    print('no idea', file=sys.stderr, flush=True)\n"
        '    print(\'{"type":"none"}\', flush=True)'
    )

    def serve(connection: Connection) -> None:
        connection.handshake()
        connection.send(START_GAME, START_KYOKU, DRAW | CAN_ACT)
        assert connection.receive() == {"type": "none"}
        connection.send({"type": "error", "message": "may not pass"})
        connection.send(DISCARD, {"type": "end_kyoku"}, END)

    with FakeServer(serve) as server:
        process = start_client("--exec", f"{sys.executable} {bot}", "--framing", "array", server.url)
        _, _, told = end_of(process)
    assert told == "agents.client: the server says: may not pass; stderr: no idea\n"


def test_a_rejection_prints_one_line_and_exits_with_1() -> None:
    with FakeServer(says("the token is not valid")) as server:
        ended = end_of(start_client("--exec", "cat", "--framing", "array", server.url))
    told = "agents.client: the server says: the token is not valid; give yours with --token or NUKIDORA_TOKEN\n"
    assert ended == (1, "", told)


def test_a_bot_that_exits_at_once_is_reported_with_its_stderr(tmp_path: Path) -> None:
    bot = tmp_path / "broken.py"
    bot.write_text("import sys; sys.exit('no model file')")
    process = start_client("--exec", f"{sys.executable} {bot}", "mjsonp://localhost:1/x")
    code, stdout, told = end_of(process)
    assert (code, stdout) == (1, "")
    assert re.fullmatch(
        r"agents.client: broken: failed the trial .*: it has exited \(exit code 1\); stderr: no model file\n", told
    )


@pytest.mark.parametrize(
    ("url", "full", "room", "dialect", "api"),
    [
        ("mjsonp://localhost/default", "mjsonp://localhost:11600/default", "default", "mjai3p", ""),
        ("mjsonp://[::1]/a+rule?dialect=kita", "mjsonp://[::1]:11600/a+rule?dialect=kita", "a+rule", "kita", ""),
        ("mjsonp://[::1]:5/solo+rule", "mjsonp://[::1]:5/solo+rule", "solo+rule", "mjai3p", ""),
        ("ws://host:80/mjai/room?dialect=kita", None, "room", "kita", "http://host:80"),
        ("wss://host/mjai/", "wss://host:443/mjai/", "default", "mjai3p", "https://host"),
    ],
)
def test_addresses_are_parsed(url: str, full: str | None, room: str, dialect: str, api: str) -> None:
    """The port of HTTP is in the address of a WebSocket, and is told by a server at another."""
    found = parse_url(url)
    assert (found.url, found.full, found.room, found.dialect, found.api(None)) == (url, full or url, room, dialect, api)
    assert f":{found.port}/" in found.full
    told = "http://[::1]:8001" if "::1" in url else "http://localhost:8001"
    assert found.api(8001) == (api or told)
