"""Logs of what bots receive, send and write to stderr, one file per game (``--log FOLDER``)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Protocol, runtime_checkable

from agents.external.mjai_bot import MjaiBot

SENT, RECEIVED, STDERR = "->", "<-", "2>"
Note = Callable[[str, bytes], None]  # takes one of these, and a line without its end


@runtime_checkable
class Noting(Protocol):
    """A mjai bot whose traffic can be logged."""

    note: Note | None


class TrafficLog:
    """The log of one game: a line for each that a bot was sent, has sent, or has said on stderr, as it came."""

    def __init__(self, path: Path, bots: Mapping[str, MjaiBot]) -> None:
        """Write to `path` what `bots` do, by their names, until the log is closed. Raises OSError."""
        self._file = path.open("wb", buffering=0)
        self._lock = Lock()  # stderr is read by a thread
        for name, bot in bots.items():
            if isinstance(bot, Noting):
                bot.note = partial(self._add, name)

    def _add(self, name: str, mark: str, line: bytes) -> None:
        with self._lock:
            if self._file.closed:
                return
            try:
                for each in line.split(b"\n"):
                    self._file.write(f"{name} {mark} ".encode() + each + b"\n")
            except OSError as error:  # the game continues without its log
                print(f"--log: {self._file.name}: {error.strerror}; it ends here", file=sys.stderr, flush=True)
                self._file.close()

    def close(self) -> None:
        """Write nothing more."""
        with self._lock:
            self._file.close()


def trial_log(folder: Path, name: str, bot: MjaiBot) -> TrafficLog:
    """The log of what the bot does before its first game; each process of a match has one."""
    return TrafficLog(folder / f"trial-{re.sub(r'[^A-Za-z0-9_.#@-]', '_', name)[:100]}-{os.getpid()}.log", {name: bot})
