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
    play_game,
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


def without_compile_notice(stderr: str) -> str:
    """`stderr` without the notice that the rules are being compiled."""
    return "".join(line for line in stderr.splitlines(keepends=True) if not line.startswith("compiling the rules"))


@pytest.mark.slow
def test_an_external_bot_plays_at_a_server(tmp_path: Path) -> None:
    joins = []

    def serve(connection: Connection) -> None:
        joins.append(connection.handshake())
        play_game(connection)

    with FakeServer(serve) as server:
        process = start_client("--exec", command(tmp_path, "event"), server.url, NUKIDORA_TOKEN="t0ken")
        stdout, stderr = process.communicate(timeout=120)
    assert (process.returncode, stdout, without_compile_notice(stderr)) == (
        0,
        "game 1: against 1 and 2\n"
        "game 1: 2nd with 34,500 points (-5.5)\n"
        "played 1 game as tsumogiri_bot: 0 x 1st, 1 x 2nd, 0 x 3rd\n",
        "",
    )
    assert joins[0]["name"] == "tsumogiri_bot"
    assert joins[0]["token"] == "t0ken"
    assert joins[0]["games"] == 1


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
        stdout, stderr = process.communicate(timeout=120)
    assert (process.returncode, stdout, without_compile_notice(stderr)) == (code, "game 1: against 1 and 2\n", "")
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
        _, stderr = process.communicate(timeout=120)
    assert without_compile_notice(stderr) == "agents.client: the server says: may not pass; stderr: no idea\n"


def test_a_rejection_prints_one_line_and_exits_with_1() -> None:
    def reject(connection: Connection) -> None:
        connection.handshake()
        connection.send({"type": "error", "message": "the token is not valid"})

    with FakeServer(reject) as server:
        process = start_client("--exec", "cat", "--framing", "array", server.url)
        stdout, stderr = process.communicate(timeout=120)
    assert (process.returncode, stdout) == (1, "")
    assert without_compile_notice(stderr) == (
        "agents.client: the server says: the token is not valid; give yours with --token or NUKIDORA_TOKEN\n"
    )


def test_a_bot_that_exits_at_once_is_reported_with_its_stderr(tmp_path: Path) -> None:
    bot = tmp_path / "broken.py"
    bot.write_text("import sys; sys.exit('no model file')")
    process = start_client("--exec", f"{sys.executable} {bot}", "mjsonp://localhost:1/x")
    stdout, stderr = process.communicate(timeout=120)
    assert (process.returncode, stdout) == (1, "")
    assert re.fullmatch(
        r"agents.client: broken: failed the trial .*: it has exited \(exit code 1\); stderr: no model file\n",
        without_compile_notice(stderr),
    )


@pytest.mark.parametrize(
    ("url", "port", "room", "dialect"),
    [
        ("mjsonp://localhost/default", 11600, "default", "mjai3p"),
        ("mjsonp://[::1]:5/solo+rule+efficiency?dialect=kita", 5, "solo+rule+efficiency", "kita"),
        ("ws://host:8000/mjai/room?dialect=libriichi3p", 8000, "room", "libriichi3p"),
        ("wss://host/mjai/", 443, "default", "mjai3p"),
    ],
)
def test_addresses_are_parsed(url: str, port: int, room: str, dialect: str) -> None:
    found = parse_url(url)
    assert (found.port, found.room, found.dialect, found.url) == (port, room, dialect, url)
