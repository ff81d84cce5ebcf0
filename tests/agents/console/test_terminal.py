"""The terminal while keys are awaited: what ends the waiting, and a terminal that is gone."""

from __future__ import annotations

import math
import os
import sys
import termios
from collections.abc import Iterator
from io import FileIO, StringIO
from threading import Timer

import pytest

from agents.console.keys import ESCAPE, RIGHT
from agents.console.terminal import Left, Terminal

MOMENT = 0.1  # seconds


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileIO]:
    """The other end of the pseudo-terminal that is stdin."""
    own, tty = os.openpty()
    with FileIO(own, "r+") as keyboard, FileIO(tty) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(sys, "stdout", StringIO())
        yield keyboard


def test_keys_another_thread_and_time_end_the_waiting(keyboard: FileIO) -> None:
    before = termios.tcgetattr(keyboard)
    terminal = Terminal()
    with terminal.taken():
        assert terminal.keys(MOMENT) == []
        keyboard.write(b"1\x1b[C")
        assert terminal.keys(math.inf) == ["1", RIGHT]
        keyboard.write(b"\x1b")
        assert [terminal.keys(math.inf), terminal.keys(math.inf)] == [[], [ESCAPE]]
        waker = Timer(MOMENT, terminal.wake)
        waker.start()
        assert terminal.keys(math.inf) == []
        waker.join()
    terminal.wake()  # a thread that is late
    assert termios.tcgetattr(keyboard) == before


def test_a_terminal_that_is_gone_is_left(keyboard: FileIO) -> None:
    terminal = Terminal()
    with terminal.taken():
        keyboard.close()
        with pytest.raises(Left):
            terminal.keys(math.inf)
