"""The client as a program: its arguments, exit codes, interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agents.client import __main__ as client
from agents.client.connection import parse_url
from tests.support.external_bots import command, still_running
from tests.support.fake_server import ASKS, DRAW, KYOKU, START, Call, FakeServer, play_game

# The command line ---------------------------------------------------------------------------------------------------


def start_client(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """The client in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "agents.client", *arguments],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def without_notice(stderr: str) -> str:
    """What was printed, but that something had to be compiled."""
    return "".join(line for line in stderr.splitlines(keepends=True) if not line.startswith("compiling the rules"))


def test_a_foreign_bot_plays_at_a_server(tmp_path: Path) -> None:
    joins = []

    def serve(call: Call) -> None:
        joins.append(call.welcome())
        play_game(call)

    with FakeServer(serve) as server:
        process = start_client("--exec", command(tmp_path, "event"), server.url, NUKIDORA_TOKEN="t0ken")
        stdout, stderr = process.communicate(timeout=120)
    assert (process.returncode, stdout, without_notice(stderr)) == (0, "game 1: 2nd with 34,500 points (-5.5)\n", "")
    assert joins[0]["name"] == "tsumogiri_bot"
    assert joins[0]["token"] == "t0ken"
    assert joins[0]["games"] == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_client_and_child(tmp_path: Path, number: signal.Signals, code: int) -> None:
    def serve(call: Call) -> None:
        call.welcome()
        call.send(START, KYOKU, DRAW | ASKS)
        call.receive()
        process.send_signal(number)
        with pytest.raises(ConnectionError):
            call.receive()

    with FakeServer(serve) as server:
        process = start_client("--exec", command(tmp_path, "array"), "--framing", "array", server.url)
        stdout, stderr = process.communicate(timeout=120)
    assert (process.returncode, stdout, without_notice(stderr)) == (code, "", "")
    assert still_running(tmp_path) == []


def test_a_refusal_is_one_line_and_exit_code_1() -> None:
    def refuse(call: Call) -> None:
        call.welcome()
        call.send({"type": "error", "message": "the token is not valid"})

    with FakeServer(refuse) as server:
        process = start_client("--exec", "cat", "--framing", "array", server.url)
        stdout, stderr = process.communicate(timeout=120)
    assert (process.returncode, stdout) == (1, "")
    assert without_notice(stderr) == "agents.client: the server says: the token is not valid\n"


def test_a_bot_that_ends_at_once_is_named_with_its_last_words(tmp_path: Path) -> None:
    bot = tmp_path / "broken.py"
    bot.write_text("import sys; sys.exit('no model file')")
    process = start_client("--exec", f"{sys.executable} {bot}", "mjsonp://localhost:1/x")
    stdout, stderr = process.communicate(timeout=120)
    assert (process.returncode, stdout) == (1, "")
    assert without_notice(stderr) == "agents.client: broken: has ended (exit code 1); stderr: no model file\n"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["mjsonp://localhost/x"], "name a bot or give --exec"),
        (["rule", "--exec", "cat", "mjsonp://localhost/x"], "name a bot or give --exec"),
        (["ruel", "mjsonp://localhost/x"], "unknown bot 'ruel'"),
        (["rule", "http://localhost/x"], "'http://localhost/x' is no address of a room, like mjsonp://"),
        (["rule", "mjsonp://localhost:99999/x"], "'mjsonp://localhost:99999/x'"),
        (["rule", "mjsonp://localhost/a%20b"], "the name of a room is made of"),
        (["rule", "mjsonp://localhost/a/b"], "the name of a room is made of"),
        (["rule", "mjsonp://localhost/x?dialect=ruby"], "dialect must be one of mjai3p, libriichi3p, kita"),
        (["--exec", "no-such-program x", "mjsonp://localhost/x"], "there is no program 'no-such-program'"),
        (["rule", "--framing", "array", "mjsonp://localhost/x"], "--framing is for --exec only"),
        (["rule", "--games", "-1", "mjsonp://localhost/x"], "'-1' is not a non-negative integer"),
        (["rule", "--dialect", "ruby", "mjsonp://localhost/x"], "invalid choice: 'ruby'"),
    ],
)
def test_a_bad_argument_is_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], what: str) -> None:
    with pytest.raises(SystemExit) as ended:
        client.main(arguments)
    assert ended.value.code == 2
    printed = capsys.readouterr().err
    assert printed.startswith("agents.client: ")
    assert what in printed
    assert printed.count("\n") == 1


@pytest.mark.parametrize(
    ("url", "port", "room", "dialect"),
    [
        ("mjsonp://localhost/default", 11600, "default", "mjai3p"),
        ("mjsonp://[::1]:5/solo+rule+efficiency?dialect=kita", 5, "solo+rule+efficiency", "kita"),
        ("ws://host:8000/mjai/room?dialect=libriichi3p", 8000, "room", "libriichi3p"),
        ("wss://host/mjai/", 443, "default", "mjai3p"),
    ],
)
def test_urls(url: str, port: int, room: str, dialect: str) -> None:
    found = parse_url(url)
    assert (found.port, found.room, found.dialect, found.url) == (port, room, dialect, url)
