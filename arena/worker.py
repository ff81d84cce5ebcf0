"""A worker process of a run: makes the bots and plays chunks (see `engine.common.workers`)."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from errno import EADDRINUSE
from multiprocessing import parent_process
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.external.external_agent import ExternalAgent
from agents.external.mjai_bot import BotError
from agents.external.traffic import trial_log
from arena.chunk import ChunkResult, GameError, GamesPlayed, play_chunk, warm_up
from arena.schedule import Bot, RunSettings
from engine.common.files import contents
from engine.common.program import terminate_when_safe


@dataclass(frozen=True, slots=True)
class Ready:
    """The warm-up is done: everything is compiled."""


WARM_UP = None
Task = list[int] | None  # the walls of a chunk, or WARM_UP
Update = Ready | GamesPlayed | ChunkResult
MakeBots = Callable[[], list[Bot]]


def made(make_bots: MakeBots) -> list[Bot]:
    """The bots. Raises GameError if one cannot be made in this process, where others could make it."""
    try:
        return make_bots()
    except ValueError as error:
        raise GameError(str(error)) from None


@contextmanager
def open_worker(
    settings: RunSettings,
    folder: Path | None,
    make_bots: MakeBots,
    rows: Sequence[str] = (),
    remote: bool = False,
    log: Path | None = None,
) -> Iterator[Callable[[Task], Iterator[Update]]]:
    """Make the bots, and yield the function that plays a chunk or warms up. External bots are closed at the end.

    Games are saved in ``folder`` unless it is None; a worker that is ``remote``, on another machine, puts them into
    the results instead. ``rows``: kinds of rows to collect (`arena.parquet_rows`). ``log``: a folder for the traffic of
    external bots. The function raises GameError and OSError; so does the start of an external bot.
    """
    bots = made(make_bots)
    with ExitStack() as stack:
        start_external_bots(bots, stack, log)

        def run(walls: Task) -> Iterator[Update]:
            if walls is not WARM_UP and remote and folder is not None:
                yield from play_remotely(settings, bots, walls, rows)
            else:
                yield from play(settings, bots, walls, folder, rows, log)

        yield run


def play(
    settings: RunSettings,
    bots: list[Bot],
    walls: Task,
    folder: Path | None = None,
    rows: Sequence[str] = (),
    log: Path | None = None,
) -> Iterator[Update]:
    """Play a chunk with ``bots``, which are open, or warm up; see `open_worker`."""
    if walls is WARM_UP:
        warm_up(settings, bots)
        yield Ready()
    else:
        yield from play_chunk(settings, bots, walls, folder, rows, log)


def play_remotely(settings: RunSettings, bots: list[Bot], walls: list[int], rows: Sequence[str]) -> Iterator[Update]:
    """As `arena.chunk.play_chunk`, with the saved games in the result."""
    with TemporaryDirectory() as folder:
        for update in play_chunk(settings, bots, walls, Path(folder), rows):
            if isinstance(update, ChunkResult):
                update = replace(update, files=contents(Path(folder)))
            yield update


def start_external_bots(bots: Sequence[Bot], stack: ExitStack, log: Path | None = None) -> None:
    """Start the external ones of ``bots``; ``stack`` closes them, also if this worker is terminated. Raises GameError.

    Their trials are logged in the folder ``log``.
    """
    external = [(bot.label, bot.agent) for bot in bots if isinstance(bot.agent, ExternalAgent)]
    if external and parent_process() is not None:
        stack.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, terminate_when_safe))
    for label, agent in external:
        start_external(label, agent, stack, log)


def start_external(label: str, agent: ExternalAgent, stack: ExitStack, log: Path | None = None) -> None:
    """Start an external bot; ``stack`` closes it. Its trial is logged in the folder ``log``. Raises GameError."""
    stack.callback(agent.bot.close)
    try:
        with nullcontext() if log is None else closing(trial_log(log, label, agent.bot)):
            agent.bot.prepare()
    except OSError as error:
        what = f"{error.filename}: {error.strerror}"
        if error.errno == EADDRINUSE:
            what += "; another program listens at this port, or another arena: choose another port"
        raise GameError(f"bot {label}: {what}") from error
    except BotError as error:
        raise GameError(f"bot {label}: {error}") from error
