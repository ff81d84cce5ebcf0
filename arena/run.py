"""A run of the arena: plays all games that are not in its checkpoint, prints the statistics and writes the results."""

from __future__ import annotations

import tempfile
from contextlib import closing
from functools import partial
from pathlib import Path
from time import monotonic

from rich.console import Console

from arena.checkpoint import Checkpoint, run_identity
from arena.play import ChunkResult, GamesFinished
from arena.report import print_faults, print_report
from arena.results import Results, Speed
from arena.schedule import MAX_WALLS, MAX_WALLS_EXTERNAL, ROTATIONS, RunSettings, split_walls
from arena.worker import WARM_UP, Update, open_worker
from engine.common.progress import Progress
from engine.common.workers import run_tasks


class ArenaRun:
    """A run. ``results`` holds all finished games, those of the checkpoint included."""

    def __init__(self, settings: RunSettings, jobs: int, json: Path | None, save: Path | None) -> None:
        """Check everything that can be checked before games are played. Raises ValueError, OSError."""
        self.settings = settings
        self.jobs = min(jobs, settings.max_jobs or jobs)
        self.json = json
        self.save = save
        self.results = Results(settings, [bot.label for bot in settings.make_bots()])
        if save is not None:
            save.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=save).close()  # raises if the folder is not writable
        self.checkpoint = None if json is None else open_checkpoint(json, settings, save)
        for chunk in self.checkpoint.resumed if self.checkpoint is not None else []:
            self.results.add(chunk)
        self._games_resumed = self.games
        self._decisions = 0
        self._start = self._end = monotonic()

    @property
    def games(self) -> int:
        """The number of finished games."""
        return ROTATIONS * len(self.results.finished)

    def play(self, console: Console) -> None:
        """Play all remaining games, with progress on ``console``.

        Raises KeyboardInterrupt, `arena.play.GameError`, `engine.common.workers.WorkerError` and OSError.
        """
        max_walls = MAX_WALLS_EXTERNAL if self.settings.has_external_bots else MAX_WALLS
        chunks = split_walls(self.results.missing, self.jobs, max_walls)
        if not chunks:
            return
        start_worker = partial(open_worker, self.settings, self.save)
        with closing(run_tasks(start_worker, [WARM_UP, *chunks], min(self.jobs, len(chunks)))) as updates:
            next(updates)  # Ready: all notices of the warm-up are printed before the progress bar appears
            self._start = self._end = monotonic()
            with Progress("games", self.settings.games, self.games, console) as progress:
                for update in updates:
                    self._handle(update, progress)

    def _handle(self, update: Update, progress: Progress) -> None:
        if isinstance(update, GamesFinished):
            progress.advance(update.n)
        elif isinstance(update, ChunkResult):
            self.results.add(update)
            for fault in update.faults:
                progress.print(f"bot {self.results.bots[fault.bot]}, {fault}")
            self._decisions += update.decisions
            self._end = monotonic()
            if self.checkpoint is not None:
                self.checkpoint.append(update)

    def report(self, console: Console) -> None:
        """Print the statistics of all finished games."""
        if self.games == 0:
            console.print("no games finished yet")
            return
        print_report(console, self.settings, self.results.by_bot(), self.speed)
        for bot, faults in self.results.faults:
            print_faults(console, bot, faults, self.games)

    def finish(self) -> None:
        """Write the JSON file and delete the checkpoint: all games are finished. Raises OSError."""
        if self.json is not None and self.checkpoint is not None:
            self.results.write_json(self.json, self.speed)
            self.checkpoint.delete()

    @property
    def speed(self) -> Speed:
        """The speed of this process, without resumed games: from the end of the warm-up to the last finished chunk."""
        games, seconds = self.games - self._games_resumed, self._end - self._start
        per_second = 1 / seconds if seconds > 0 else 0.0
        return Speed(games, seconds, games * per_second, self._decisions * per_second, self.jobs)


def open_checkpoint(json: Path, settings: RunSettings, save: Path | None) -> Checkpoint:
    """The checkpoint beside the JSON file. Raises OSError if one of the two is not writable, CheckpointError."""
    if json.is_dir():
        raise IsADirectoryError(None, "is a folder", str(json))
    return Checkpoint(json.with_name(json.name + ".partial"), run_identity(settings, save))
