"""A program in a pseudo-terminal, whose screen is emulated by pyte: a test reads it and presses keys."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

import pyte

PATIENCE = 120.0  # seconds for what takes a moment, unless the machine is busy
LOOK = 0.05  # seconds between two looks at whether the program still runs


# What a shell does: runs a module in a process group of its own in front of the terminal; a stopped one waits for "fg".
SHELL = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.execv(sys.executable, [sys.executable, "-m", *sys.argv[1:]])
while True:
    _, status = os.waitpid(child, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpid())
    if not os.WIFSTOPPED(status):
        sys.exit(os.waitstatus_to_exitcode(status) % 256)
    print("[stopped]", flush=True)
    while sys.stdin.readline() != "fg\\n":
        pass
    os.tcsetpgrp(0, child)
    os.kill(child, signal.SIGCONT)
"""


class TerminalProgram:
    """A Python module that runs in a terminal of its own, which it controls: Ctrl-C, Ctrl-Z and resizing reach it."""

    def __init__(self, module: str, *arguments: str, columns: int = 80, lines: int = 24, **environment: str) -> None:
        self.raw = b""  # everything the program has written
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self._own, self.tty = os.openpty()
        self._set_size(columns, lines)
        self.modes_before = termios.tcgetattr(self.tty)
        inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SHELL, module, *arguments],
            stdin=self.tty,
            stdout=self.tty,
            stderr=self.tty,
            env=inherited | {"TERM": "xterm-256color"} | environment,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def __enter__(self) -> TerminalProgram:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._own)
        os.close(self.tty)

    def _set_size(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self.tty, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    @property
    def rows(self) -> list[str]:
        """The lines on the screen."""
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        """The screen as text."""
        return "\n".join(self.rows)

    def press(self, keys: str | bytes) -> None:
        """Press keys."""
        os.write(self._own, keys.encode() if isinstance(keys, str) else keys)

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of the terminal; the program is sent SIGWINCH."""
        self.screen.resize(lines, columns)
        self._set_size(columns, lines)

    def until(self, holds: str | Callable[[str], Any]) -> str:
        """Wait until a text is on the screen, or a condition of the screen holds; returns the screen."""
        end = time.monotonic() + PATIENCE
        while not (holds in self.text if isinstance(holds, str) else holds(self.text)):
            self._read(end, f"{holds} is not on the screen")
        return self.text

    def play(self, key: str = "1\r") -> int:
        """Press `key` at each decision, and close each text over the table, to the end; returns the exit code."""
        while self.process.poll() is None:
            seen = len(self.raw)
            if "any key shows" in self.rows[-1]:
                self.press("x")
            elif "your move" in self.text:
                self.press(key)
            end = time.monotonic() + PATIENCE
            while self.process.poll() is None and len(self.raw) == seen:
                self._read(end, "nothing happens" if time.monotonic() > end else "")
        return self.finish()

    def finish(self) -> int:
        """Wait for the end of the program; returns its exit code."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            self._read(end, "the program runs on" if time.monotonic() > end else "")
        while select.select([self._own], [], [], 0)[0]:
            self._read(end, "")
        return self.process.returncode

    def _read(self, end: float, complaint: str) -> None:
        """Read what the program has written, if anything comes soon."""
        if select.select([self._own], [], [], LOOK)[0]:
            data = os.read(self._own, 65536)
            self.raw += data
            self._stream.feed(data)
        elif complaint and (time.monotonic() > end or self.process.poll() is not None):
            raise AssertionError(f"{complaint}:\n{self.text}")
