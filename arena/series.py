"""A series of matches, played by one pool of processes with one progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console

from agents.base import Agent
from agents.external.specs import connects_to_us
from arena.bot_games import finishing_orders
from arena.checkpoint import Checkpoint, run_identity
from arena.chunk import ChunkResult, GameError, GamesPlayed
from arena.results import Results
from arena.schedule import Bot, RunSettings, split_walls
from arena.worker import WARM_UP, Task, Update, made, play, start_external_bots
from engine.common.cluster import Cluster
from engine.common.labels import labels
from engine.common.line_file import ResumeError
from engine.common.pools import AnyPool
from engine.common.progress import Progress
from engine.common.workers import at_most, connected, open_pool
from engine.contests.seating import ROTATIONS

BotsOf = Callable[[RunSettings], list[Bot]]  # makes the bots of a match; picklable
MatchTask = tuple[RunSettings, Task]  # what a worker does, for one of several matches
MatchUpdate = tuple[RunSettings, Update]
MatchPool = AnyPool[MatchTask, MatchUpdate]


class Series:
    """Matches and their results, ``results[i]`` those of ``matches[i]``; no two are the same.

    With a ``folder``, finished games are kept in it, a file for each match: the same series resumes there.
    """

    def __init__(
        self,
        matches: Sequence[RunSettings],
        jobs: int | Cluster,
        folder: Path | None = None,
        bots_of: BotsOf = RunSettings.make_bots,
    ) -> None:
        """``jobs``: worker processes, or a cluster; 0: all games are played in this process.

        Raises ValueError if ``folder`` has the games of another series, OSError if nothing can be written there.
        """
        self.matches = list(matches)
        self.results = [Results(match, labels(match.bots)) for match in matches]
        limits = [match.max_jobs for match in matches if match.max_jobs is not None]
        self._workers = at_most(jobs, min(limits)) if limits else jobs
        self._bots_of = bots_of
        self._numbers = {match: number for number, match in enumerate(matches)}
        self._folder = folder
        self._checkpoints: list[Checkpoint] = []
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for number, (match, results) in enumerate(zip(self.matches, self.results)):
                self._checkpoints.append(open_checkpoint(folder, number, match, results))

    @property
    def games(self) -> int:
        """The number of finished games."""
        return ROTATIONS * sum(len(results.finished) for results in self.results)

    def open_pool(self) -> AbstractContextManager[MatchPool]:
        """Open workers, in which bots that have connected to us stay until the end of the block."""
        return open_pool(partial(open_series_worker, self._bots_of), self._workers)

    def play(self, console: Console, games: int | None = None, pool: MatchPool | None = None) -> None:
        """Play what is missing of the first ``games`` of each match (None: of all), with progress on ``console``.

        ``pool``: of `open_pool`, of this series or another with such bots, for several calls; None: a new one.
        Raises KeyboardInterrupt, `arena.chunk.GameError`, `engine.common.pools.WorkerError` and OSError.
        """
        last = None if games is None else games // ROTATIONS
        missing = [[wall for wall in each.missing if last is None or wall < last] for each in self.results]
        if any(missing):
            total = sum(match.games if games is None else games for match in self.matches)
            with connected(self._workers) as n_workers, nullcontext(pool) if pool else self.open_pool() as workers:
                self._play(workers, self._split(missing, max(n_workers, 1)), total, console)
        for results in self.results:
            if failed := results.always_failed:
                raise GameError(f"{failed[0]} failed in every game of {' '.join(results.bots)}: see its faults above")

    def _split(self, missing: list[list[int]], jobs: int) -> list[MatchTask]:
        """The chunks of walls of each match."""
        return [
            (match, chunk)
            for match, walls in zip(self.matches, missing)
            for chunk in split_walls(walls, jobs, match.max_walls)
        ]

    def _play(self, pool: MatchPool, tasks: list[MatchTask], total: int, console: Console) -> None:
        list(pool.run([(tasks[0][0], WARM_UP)]))  # notices of compiling are printed before the progress bar appears
        with closing(pool.run(tasks)) as updates, Progress("games", total, self.games, console) as progress:
            for match, update in updates:
                self._handle(self._numbers[match], update, progress)

    def _handle(self, number: int, update: Update, progress: Progress) -> None:
        if isinstance(update, GamesPlayed):
            progress.advance(update.n)
        elif isinstance(update, ChunkResult):
            self.results[number].add(update)
            for fault in update.faults:
                progress.print(f"bot {self.results[number].bots[fault.bot]}, {fault}")
            if self._checkpoints:
                self._checkpoints[number].append(update)

    def delete_games(self) -> None:
        """Delete the games that were kept, and the folder: they are not needed any more. Raises OSError."""
        for checkpoint in self._checkpoints:
            checkpoint.delete()
        if self._folder is not None:
            self._folder.rmdir()

    def orders(self, numbers: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
        """All finishing orders and the walls of their games, for `engine.contests.ratings.rate`.

        ``numbers``: the numbers of the three bots of each match. Matches with the same seed share their walls.
        """
        orders, walls = [np.empty((0, 3), dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for bots, results in zip(numbers, self.results, strict=True):
            if results.finished:
                orders.append(finishing_orders(bots, results.by_bot()))
                walls.append(np.repeat(np.array(results.finished), ROTATIONS))
        return np.concatenate(orders), np.concatenate(walls)


def open_checkpoint(folder: Path, number: int, match: RunSettings, results: Results) -> Checkpoint:
    """Open the file of the games of a match, and add them to ``results``.

    Raises ResumeError, which names the folder, and OSError.
    """
    try:
        return Checkpoint(folder / f"{number:03}", run_identity(match, None), results.add)
    except ResumeError as error:
        raise ResumeError(f"{folder} has games of another run: delete it, or finish that run ({error})") from None


@contextmanager
def open_series_worker(bots_of: BotsOf) -> Iterator[Callable[[MatchTask], Iterator[MatchUpdate]]]:
    """As `arena.worker.open_worker`, for tasks of several matches: only the bots of one match are open at a time.

    Those that connect to us stay open for later matches: a bot that is disconnected is told that all games are played.
    """
    with ExitStack() as series_end, ExitStack() as match_end:
        opened: dict[RunSettings, list[Bot]] = {}
        connecting: dict[str, Agent] = {}

        def open_bots(match: RunSettings) -> list[Bot]:
            bots = made(partial(bots_of, match))
            for index, (label, spec) in enumerate(zip(labels(match.bots), match.bots)):
                if connects_to_us(spec):
                    if label not in connecting:
                        start_external_bots([bots[index]], series_end)
                        connecting[label] = bots[index].agent
                    bots[index] = replace(bots[index], agent=connecting[label])
            start_external_bots([bot for spec, bot in zip(match.bots, bots) if not connects_to_us(spec)], match_end)
            return bots

        def run(task: MatchTask) -> Iterator[MatchUpdate]:
            match, walls = task
            if match not in opened:
                match_end.close()
                opened.clear()
                opened[match] = open_bots(match)
            for update in play(match, opened[match], walls):
                yield match, update

        yield run
