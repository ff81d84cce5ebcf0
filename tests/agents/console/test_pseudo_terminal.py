"""Whole games in a pseudo-terminal: keys only, another size, Ctrl-Z and Ctrl-C, a lost connection, hostile texts."""

from __future__ import annotations

import asyncio
import os
import re
import termios
from pathlib import Path
from threading import Event

import pytest

from engine.records.files import read_records
from engine.records.replay import Replay
from tests.support.fake_server import (
    CAN_ACT,
    DISCARD,
    DRAW,
    END,
    SECOND_DRAW,
    START_GAME,
    START_KYOKU,
    Connection,
    FakeServer,
)
from tests.support.fake_server import PATIENCE as LONG
from tests.support.pseudo_terminal import TerminalProgram
from tests.support.server_bots import serving

MODULE = "agents.console"
BOTS = ("--bots", "tsumogiri,tsumogiri", "--length", "east", "--pause", "0", "--seed", "3")
LEAVES = b"\x1b[?1049l"  # the alternate screen
KNOWN = re.compile(rb"\x1b\[(?:[0-9;]*[mHK]|\?25[hl]|\?1049[hl])")
COLOURS = re.compile(rb"\x1b\[[0-9;]*(?:3[0-7]|38;5;\d+|4[0-7])[0-9;]*m")


def assert_restored(terminal: TerminalProgram) -> None:
    assert termios.tcgetattr(terminal.tty) == terminal.modes_before
    assert terminal.raw.count(LEAVES) >= 1
    assert terminal.raw.rindex(b"\x1b[?25h") > terminal.raw.rindex(b"\x1b[?25l")
    assert terminal.raw.rindex(LEAVES) > terminal.raw.rindex(b"\x1b[?1049h")


@pytest.mark.slow
def test_a_whole_game_is_played_with_keys_only_while_the_terminal_changes_its_size(tmp_path: Path) -> None:
    record = tmp_path / "game.mjson"
    with TerminalProgram(MODULE, *BOTS, "--save", str(record), columns=80, lines=24) as terminal:
        terminal.until("c unseen")
        terminal.press("c")
        terminal.until("unseen: 93 tiles")
        terminal.press("\x1b")  # Escape, as any key, closes it
        terminal.until("c unseen")
        terminal.press("?")
        terminal.until("how many tiles of each kind")
        terminal.screen.reset()
        terminal.press("\x0c")  # Ctrl-L draws it again
        terminal.until("how many tiles of each kind")
        terminal.press("?")
        for columns, lines in ((60, 20), (30, 8), (120, 30), (62, 17)):
            terminal.resize(columns, lines)
            terminal.until("too small" if columns == 30 else lambda text, width=columns: "─" * width in text)
        terminal.until("your move")
        assert terminal.play() == 0
        assert COLOURS.search(terminal.raw)
        assert_restored(terminal)
        assert "the game is over" in terminal.text
        assert "seed 3" in terminal.text
    game = read_records(record)
    assert Replay(game).check() == []
    assert game.events[-1]["type"] == "end_game"


def test_ctrl_z_and_ctrl_c_give_the_terminal_back() -> None:
    with TerminalProgram(MODULE, *BOTS, NO_COLOR="1") as terminal:
        terminal.until("c unseen")
        assert termios.tcgetattr(terminal.tty) != terminal.modes_before
        terminal.press("\x1a")
        terminal.until("[stopped]")
        assert_restored(terminal)
        terminal.screen.reset()
        terminal.press("fg\r")
        terminal.until("c unseen")
        assert termios.tcgetattr(terminal.tty) != terminal.modes_before
        terminal.press("q")
        terminal.until("Quit?")
        terminal.press("n")
        terminal.until("c unseen")
        terminal.press("\x03")
        assert terminal.finish() == 130
        assert_restored(terminal)
        assert not COLOURS.search(terminal.raw)


@pytest.mark.slow
def test_an_error_gives_the_terminal_back(tmp_path: Path) -> None:
    (tmp_path / "broken_console.py").write_text(
        "import sys\nfrom agents.console import cli, screen\n"
        "screen.unseen_lines = lambda view: 1 / 0\nsys.exit(cli.main(sys.argv[1:]))\n"
    )
    path = os.pathsep.join([str(tmp_path), str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    with TerminalProgram("broken_console", *BOTS, PYTHONPATH=path) as terminal:
        terminal.until("c unseen")
        terminal.press("c")
        assert terminal.finish() == 1
        assert_restored(terminal)
        assert "ZeroDivisionError" in terminal.text


EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eAki\r\nlate"


@pytest.mark.slow
def test_a_lost_connection_a_late_answer_and_hostile_texts() -> None:
    lost, asked, seen = Event(), Event(), Event()

    def first(connection: Connection) -> None:
        connection.handshake()
        start = START_GAME | {"names": ["me", EVIL, "c"], "resume": "s3cret"}
        connection.send(start, START_KYOKU, DRAW | CAN_ACT)
        assert lost.wait(LONG)

    def second(connection: Connection) -> None:
        connection.handshake()
        connection.send({"type": "resumed", "from": 2}, DRAW | CAN_ACT)
        assert connection.receive() == DISCARD
        connection.send(DISCARD)
        for seat, tile in ((1, "9p"), (2, "1s")):
            connection.send({"type": "tsumo", "actor": seat, "pai": "?"})
            connection.send({"type": "dahai", "actor": seat, "pai": tile, "tsumogiri": True})
        connection.send(SECOND_DRAW | CAN_ACT)
        assert asked.wait(LONG)
        connection.send({"type": "error", "message": f"no reply within 5 s{EVIL}"}, DISCARD | {"pai": "E"})
        assert connection.receive() == {"type": "none"}
        assert seen.wait(LONG)
        connection.send({"type": "tsumo", "actor": 1, "pai": "?"})
        ending = {"type": "ryukyoku", "reason": f"x{EVIL}", "tehais": [["?"] * 13] * 3, "tenpais": [False, True, False]}
        connection.send(ending | {"deltas": [-1000, 2000, -1000]}, {"type": "end_kyoku"}, END)

    with FakeServer(first, second) as server, TerminalProgram(MODULE, server.url, "--name", "Aki") as terminal:
        terminal.until("c unseen")
        lost.set()
        terminal.until("trying again in 1 s")
        terminal.until("connection lost, reconnecting")
        terminal.until(lambda text: "reconnecting" not in text and "your move" in text)
        terminal.press("\x1b[C\r")  # the tile just drawn
        terminal.until(lambda text: "you discard 6p" in text and "you draw E" in text and "your move" in text)
        asked.set()
        terminal.until("the server says: no reply within 5 s")
        seen.set()
        terminal.until("the game is over")
        terminal.press(" ")
        assert terminal.finish() == 0
        assert_restored(terminal)
        assert terminal.raw.count(b"\x1b") == len(KNOWN.findall(terminal.raw))
        assert "\u202e".encode() not in terminal.raw
        assert "\x9b".encode() not in terminal.raw
        assert b"\x07" not in terminal.raw
    assert (server.joins[0]["name"], server.joins[0]["resume"]) == ("Aki", True)
    assert (server.joins[1]["resume"], server.joins[1]["seen"]) == ("s3cret", 2)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"type": "error", "message": "the token is not valid\x1b[2J"}, "the server says: the token is not valid"),
        pytest.param(START_GAME | {"names": ["a", "b", "c"], "id": 7}, "cannot be followed", marks=pytest.mark.slow),
    ],
)
def test_an_error_of_the_server_is_one_line(answer: dict[str, object], said: str) -> None:
    def refuse(connection: Connection) -> None:
        connection.handshake()
        connection.send(answer)

    with FakeServer(refuse) as server, TerminalProgram(MODULE, server.url) as terminal:
        assert terminal.finish() == 1
        assert_restored(terminal)
        left = terminal.raw[terminal.raw.rindex(LEAVES) :]
        assert said in left.decode()
        assert left.count(b"\n") == 1


@pytest.mark.slow
async def test_a_whole_game_at_a_real_server_over_websocket(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        url = f"ws://127.0.0.1:{server.port}/mjai/solo+tsumogiri+tsumogiri"

        def play() -> None:
            with TerminalProgram(MODULE, url, "--name", "Aki", columns=120, lines=40) as terminal:
                assert terminal.play() == 0
                assert "the game is over" in terminal.text
                assert "record: http://127.0.0.1:" in terminal.text

        await asyncio.to_thread(play)
