"""A program in a pseudo-terminal, whose screen is emulated by pyte: a test reads it and presses keys."""

from __future__ import annotations

import fcntl
import os
import select
import signal
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
            [sys.executable, "-m", module, *arguments],
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

    def finish(self) -> int:
        """Wait for the end of the program; returns its exit code."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            self._read(end, "the program runs on" if time.monotonic() > end else "")
        while select.select([self._own], [], [], 0)[0]:
            self._read(end, "")
        return self.process.returncode

    def wait_stopped(self) -> None:
        """Wait until the program is stopped, as by Ctrl-Z."""
        end = time.monotonic() + PATIENCE
        while not os.waitpid(self.process.pid, os.WNOHANG | os.WUNTRACED)[0]:
            self._read(end, "the program is not stopped")

    def resume(self) -> None:
        """Let a stopped program go on."""
        os.kill(self.process.pid, signal.SIGCONT)

    def _read(self, end: float, complaint: str) -> None:
        """Read what the program has written, if anything comes soon."""
        if select.select([self._own], [], [], LOOK)[0]:
            data = os.read(self._own, 65536)
            self.raw += data
            self._stream.feed(data)
        elif complaint and (time.monotonic() > end or self.process.poll() is not None):
            raise AssertionError(f"{complaint}:\n{self.text}")
