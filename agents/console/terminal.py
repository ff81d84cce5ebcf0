"""The terminal: its modes, which are restored however the program ends, its signals and its size.

Signals only wake `Terminal.keys`, which does what they ask for, so that nothing is drawn in the midst of drawing.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.text import Text

from agents.console.keys import REDRAW, KeyDecoder

SEQUENCE_PAUSE = 0.05  # seconds in which the rest of a key's sequence comes
WOKEN = 0  # a byte in the pipe that is not a signal
LFLAG, CC = 3, 6  # indices in the attributes of a terminal
MAX_READ = 1024


class Left(Exception):  # noqa: N818 - the name says what it is
    """The person has left: by the key q, or because the terminal is gone."""


class Terminal:
    """The terminal as a place to draw and to read keys from. Only inside its ``with`` block, in the main thread."""

    def __init__(self, stdin: int | None = None, console: Console | None = None) -> None:
        """`stdin`: a file descriptor, by default that of ``sys.stdin``; `console`: where to draw, by default stdout."""
        self._stdin = sys.stdin.fileno() if stdin is None else stdin
        self._console = console or Console(file=sys.stdout, force_terminal=True, highlight=False)
        self._decoder = KeyDecoder()
        self._attributes: list[Any] = []
        self._handlers: dict[int, Any] = {}
        self._pipe = (-1, -1)
        self._old_wakeup = -1
        self._drawn: Any = None

    def __enter__(self) -> Terminal:
        self._attributes = termios.tcgetattr(self._stdin)
        self._pipe = os.pipe()
        for end in self._pipe:
            os.set_blocking(end, False)
        try:
            self._old_wakeup = signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
            for number in (signal.SIGWINCH, signal.SIGTSTP, signal.SIGCONT):
                self._handlers[number] = signal.signal(number, lambda number, frame: None)
            self._take()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self._release()
        finally:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(self._old_wakeup)
            for end in self._pipe:
                os.close(end)

    def _take(self) -> None:
        """Switch to the alternate screen, and let keys come at once and unseen. Ctrl-C and Ctrl-Z stay signals."""
        raw = termios.tcgetattr(self._stdin)
        raw[LFLAG] &= ~(termios.ICANON | termios.ECHO)
        raw[CC][termios.VMIN], raw[CC][termios.VTIME] = 1, 0
        termios.tcsetattr(self._stdin, termios.TCSADRAIN, raw)
        self._drawn = None
        self._console.set_alt_screen(True)
        self._console.show_cursor(False)

    def _release(self) -> None:
        """Give the terminal back as it was. A terminal that is gone needs nothing."""
        with suppress(OSError):
            self._console.show_cursor(True)
            self._console.set_alt_screen(False)
            self._console.file.flush()
        with suppress(termios.error):
            termios.tcsetattr(self._stdin, termios.TCSADRAIN, self._attributes)

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        found = os.get_terminal_size(self._console.file.fileno())
        return (found.columns, found.lines) if found.columns and found.lines else (80, 24)

    def draw(self, lines: Sequence[Text]) -> None:
        """Show `lines` from the top; the rest of the screen becomes empty. Raises Left if the terminal is gone."""
        try:
            self._draw(lines, self.size)
        except OSError:
            raise Left from None

    def _draw(self, lines: Sequence[Text], size: tuple[int, int]) -> None:
        picture = (size, [(line.plain, line.style, line.spans) for line in lines])
        if picture == self._drawn:
            return
        self._drawn = picture
        self._console.size = size
        self._console.update_screen(Group(*lines), options=self._console.options.update(height=size[1]))
        self._console.file.flush()

    def wake(self) -> None:
        """Let `keys` return; for other threads."""
        with suppress(OSError):  # the pipe is full: it wakes anyway
            os.write(self._pipe[1], bytes([WOKEN]))

    def keys(self, seconds: float | None) -> list[str]:
        """The keys pressed until something happens or `seconds` have passed. Raises Left if the terminal is gone."""
        waiting = SEQUENCE_PAUSE if self._decoder.incomplete else seconds
        ready, _, _ = select.select([self._stdin, self._pipe[0]], [], [], waiting)
        keys = self._signals() if self._pipe[0] in ready else []
        if self._stdin in ready:
            keys += self._decoder.feed(self._read())
        elif not ready and self._decoder.incomplete:
            keys += self._decoder.flush()
        if REDRAW in keys:
            self._drawn = None
        return [key for key in keys if key != REDRAW]

    def _read(self) -> bytes:
        try:
            data = os.read(self._stdin, MAX_READ)
        except OSError:
            data = b""
        if not data:
            raise Left
        return data

    def _signals(self) -> list[str]:
        """Do what the signals in the pipe ask for."""
        numbers = os.read(self._pipe[0], MAX_READ)
        if signal.SIGTSTP in numbers:
            self._suspend()
        elif signal.SIGCONT in numbers:  # after a stop without notice (SIGSTOP); the shell has used the terminal
            self._take()
        return [REDRAW] if set(numbers) - {WOKEN} else []

    def _suspend(self) -> None:
        """Stop as Ctrl-Z asks, with the terminal as it was; take it again when the program goes on."""
        self._release()
        handler: Callable[..., Any] = self._handlers[signal.SIGTSTP]
        ours = signal.signal(signal.SIGTSTP, handler)
        os.kill(os.getpid(), signal.SIGTSTP)  # returns when the program goes on
        signal.signal(signal.SIGTSTP, ours)
        self._take()
