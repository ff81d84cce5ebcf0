"""Worker processes that play the chunks, and the parent's side of them."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import FrameType

from agents.external.adapters import ExternalAgent
from agents.external.mjai_bot import BotError, MjaiBot
from arena.chunk import Chunk, GameError, play_chunk, warm_up
from arena.schedule import Settings

SPAWN = multiprocessing.get_context("spawn")  # the same on every system, and safe beside threads


class RunError(Exception):
    """The run cannot go on; the message says why in one line."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker has warmed up: everything is compiled."""


@dataclass(frozen=True, slots=True)
class GamesOver:
    """So many more games of a chunk being played are over."""

    games: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A worker has stopped."""

    what: str


WARM_UP = None  # the task before the first chunk
Update = Ready | GamesOver | Chunk


def play(settings: Settings, todo: list[list[int]], jobs: int, folder: Path | None) -> Generator[Update]:
    """Play the chunks `todo` (lists of walls) in `jobs` processes, saving games into `folder` unless it is None.

    Yields Ready once, when play begins, then what happens; chunks come in any order. One worker warms up before any
    plays, so that a cold cache is filled once and not by all at the same time. Raises RunError. Closing the generator
    ends the workers.
    """
    with workers(settings, min(jobs, len(todo)), folder) as links:
        waiting = iter(todo)
        n_left = len(todo)
        if links:
            links[0].send(WARM_UP)
        while n_left:
            ready = wait(links)
            for link in (each for each in links if each in ready):
                update = receive(link)
                if isinstance(update, Ready):
                    for each in links:
                        each.send(next(waiting))
                elif isinstance(update, Chunk):
                    n_left -= 1
                    for walls in islice(waiting, 1):
                        link.send(walls)
                yield update


def receive(link: Connection) -> Update:
    """The next thing a worker says. Raises RunError if it has failed or died."""
    try:
        message: Update | Failure = link.recv()
    except (EOFError, ConnectionError) as error:
        raise RunError("a worker process ended unexpectedly; if memory ran out, try fewer --jobs") from error
    if isinstance(message, Failure):
        raise RunError(message.what)
    return message


@contextmanager
def workers(settings: Settings, n: int, folder: Path | None) -> Iterator[list[Connection]]:
    """Connections to `n` workers, which are ended with the block."""
    links: list[Connection] = []
    processes: list[SpawnProcess] = []
    try:
        for _ in range(n):
            link, far_end = SPAWN.Pipe()
            process = SPAWN.Process(target=work, args=(far_end, settings, folder), daemon=True)
            with interrupts_ignored():
                process.start()
            far_end.close()  # or the death of the worker would not be seen
            links.append(link)
            processes.append(process)
        yield links
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Ctrl-C reaches every process of a terminal; those started inside this block leave it to the parent."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def work(link: Connection, settings: Settings, folder: Path | None) -> None:
    """A worker: plays the chunks it is sent until the parent is gone or a bot fails."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with ExitStack() as at_end:
        try:
            bots = settings.make_bots()
            for bot in bots:
                if isinstance(bot.agent, ExternalAgent):
                    prepare(bot.label, bot.agent.bot, at_end)
            while True:
                walls = link.recv()
                if walls is WARM_UP:
                    warm_up(settings, bots)
                    link.send(Ready())
                else:
                    link.send(play_chunk(settings, bots, walls, folder, Reporter(link)))
        except (EOFError, ConnectionError):
            return
        except (GameError, OSError, ValueError) as error:
            link.send(Failure(str(error)))


def prepare(label: str, player: MjaiBot, at_end: ExitStack) -> None:
    """Make a foreign bot ready; it is closed `at_end`. Raises GameError."""
    at_end.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, leave))
    at_end.callback(player.close)
    try:
        player.prepare()
    except (BotError, OSError) as error:
        raise GameError(f"bot {label}: {error}") from error


def leave(number: int, frame: FrameType | None) -> None:
    """SIGTERM: leave in good order, so that children are ended."""
    sys.exit()


class Reporter:
    """Tells the parent of every game that is over."""

    def __init__(self, link: Connection) -> None:
        self.link = link
        self.told = 0

    def __call__(self, games: int) -> None:
        """`games` of the chunk are over by now."""
        if games > self.told:
            self.link.send(GamesOver(games - self.told))
            self.told = games
