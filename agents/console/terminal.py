"""The terminal: its modes, which are restored however the program ends, its signals and its size.

Signals are only handled in `Terminal.keys`, so that nothing is drawn in the midst of drawing.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from rich.console import Console, Group
from rich.text import Text

from agents.console.keys import KeyDecoder

SEQUENCE_PAUSE = 0.05  # seconds in which the rest of a key's sequence comes
LFLAG, CC = 3, 6  # indices in the attributes of a terminal
MAX_READ = 1024


class Left(Exception):  # noqa: N818 - the name says what it is
    """The person has left: by the key q, or because the terminal is gone."""


class Terminal:
    """The terminal as a place to draw and to read keys from, while it is `taken`; in the main thread."""

    def __init__(self) -> None:
        self._stdin = sys.stdin.fileno()
        self._console = Console(force_terminal=True, highlight=False)
        self._attributes = termios.tcgetattr(self._stdin)
        self._loop = asyncio.new_event_loop()  # runs inside `keys` only, until something happens
        self._decoder = KeyDecoder()
        self._pressed: list[str] = []
        self._gone = False

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Take the terminal for a ``with`` block."""
        try:
            self._loop.add_reader(self._stdin, self._read)
            self._loop.add_signal_handler(signal.SIGWINCH, self._loop.stop)
            self._loop.add_signal_handler(signal.SIGTSTP, self._suspend)
            self._loop.add_signal_handler(signal.SIGCONT, self._take)  # after a stop without notice (SIGSTOP)
            self._take()
            yield
        finally:
            self._release()
            self._loop.close()

    def _take(self) -> None:
        """Switch to the alternate screen, and let keys come at once and unseen. Ctrl-C and Ctrl-Z stay signals."""
        raw = termios.tcgetattr(self._stdin)
        raw[LFLAG] &= ~(termios.ICANON | termios.ECHO)
        raw[CC][termios.VMIN], raw[CC][termios.VTIME] = 1, 0
        termios.tcsetattr(self._stdin, termios.TCSADRAIN, raw)
        self._console.set_alt_screen(True)
        self._console.show_cursor(False)
        self._loop.stop()

    def _release(self) -> None:
        """Give the terminal back as it was. A terminal that is gone needs nothing."""
        with suppress(OSError):
            self._console.show_cursor(True)
            self._console.set_alt_screen(False)
        with suppress(termios.error):
            termios.tcsetattr(self._stdin, termios.TCSADRAIN, self._attributes)

    def _suspend(self) -> None:
        """Stop as Ctrl-Z asks, with the terminal as it was; take it again when the program goes on."""
        self._release()
        self._loop.remove_signal_handler(signal.SIGTSTP)
        os.kill(os.getpid(), signal.SIGTSTP)  # returns when the program goes on
        self._loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        self._take()

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        found = os.get_terminal_size()
        return (found.columns, found.lines) if found.columns and found.lines else (80, 24)

    def draw(self, lines: Sequence[Text]) -> None:
        """Show `lines` from the top; the rest of the screen becomes empty. Raises Left if the terminal is gone."""
        try:
            self._console.size = self.size
            self._console.update_screen(Group(*lines))
        except OSError:
            raise Left from None

    def wake(self) -> None:
        """Let `keys` return; for other threads."""
        with suppress(RuntimeError):  # the terminal has been given back
            self._loop.call_soon_threadsafe(self._loop.stop)

    def keys(self, seconds: float) -> list[str]:
        """The keys pressed until something happens or `seconds` have passed. Raises Left if the terminal is gone."""
        timer = self._loop.call_later(SEQUENCE_PAUSE if self._decoder.incomplete else seconds, self._time_out)
        self._loop.run_forever()
        timer.cancel()
        if self._gone:
            raise Left
        keys, self._pressed = self._pressed, []
        return keys

    def _read(self) -> None:
        """Read what has been typed."""
        data = b""
        with suppress(OSError):
            data = os.read(self._stdin, MAX_READ)
        self._gone = not data
        self._pressed += self._decoder.feed(data)
        self._loop.stop()

    def _time_out(self) -> None:
        """Nothing has happened."""
        self._pressed += self._decoder.flush()
        self._loop.stop()
