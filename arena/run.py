"""A run of the arena: plays all games that are not in its checkpoint, prints the statistics and writes the results."""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from rich.console import Console

from arena.checkpoint import Checkpoint, finished_results, run_identity
from arena.chunk import ChunkResult, GamesFinished
from arena.recorder import check_folder, file_name
from arena.report import print_report
from arena.results import Results, Speed
from arena.schedule import MAX_WALLS, MAX_WALLS_EXTERNAL, ROTATIONS, RunSettings, games_of, split_walls
from arena.worker import WARM_UP, MakeBots, Update, open_worker
from engine.common.cluster import Cluster
from engine.common.files import write_contents
from engine.common.options import check_output
from engine.common.program import program_name
from engine.common.progress import Progress
from engine.common.workers import at_most, connected, run_tasks


class ArenaRun:
    """A run. ``results`` holds all finished games, those of the checkpoint included.

    ``finished``: the document of the JSON file if it has the results of this very run, which then has nothing to play.
    """

    def __init__(
        self,
        settings: RunSettings,
        jobs: int | Cluster,
        json: Path | None = None,
        save: Path | None = None,
        make_bots: MakeBots | None = None,
    ) -> None:
        """Check everything that can be checked before games are played. Raises ValueError, OSError.

        ``jobs``: worker processes, or a cluster; 0: all games are played in this process. ``make_bots`` gives other
        bots than those that ``settings`` names; it must be picklable unless ``jobs`` is 0.
        """
        self.settings = settings
        self.workers = jobs if settings.max_jobs is None else at_most(jobs, settings.max_jobs)
        self.jobs = 1  # the number of workers; known when they play
        self.json = json
        self.save = save
        self._make_bots = make_bots or settings.make_bots
        self.results = Results(settings, [bot.label for bot in self._make_bots()])
        self.identity = run_identity(settings, save)
        self.checkpoint: Checkpoint | None = None
        self.finished: dict[str, Any] | None = None
        self.stopped = False  # by settings.stop
        self._status = ""
        if json is not None:
            make_folder(json.parent, f"--json {json}")
            check_output("--json", json)
            self.finished = finished_results(json, self.identity)
        if self.finished is None:
            self._open_files()
        self._stop_if_decided()
        self._games_resumed = self.games
        self._decisions = 0
        self._start = self._end = monotonic()

    def _open_files(self) -> None:
        """Open the folder of games and the checkpoint."""
        if self.save is not None:
            make_folder(self.save, f"--save {self.save}")
            games = games_of(self.settings, range(self.settings.n_walls))
            check_folder(self.save, games, self.results.bots, self.settings.make_rules(), self.settings.scores)
        if self.json is not None:
            self.checkpoint = Checkpoint(self.json.with_name(self.json.name + ".partial"), self.identity)
            for chunk in self.checkpoint.resumed:
                self.results.add(chunk)

    @property
    def games(self) -> int:
        """The number of finished games."""
        return ROTATIONS * len(self.results.finished)

    def play(self, console: Console) -> None:
        """Play all remaining games, with progress on ``console``.

        Raises KeyboardInterrupt, `arena.chunk.GameError`, `engine.common.workers.WorkerError` and OSError.
        """
        if not self.results.missing or self.finished is not None or self.stopped:
            return
        with connected(self.workers) as n_workers:
            self.jobs = max(n_workers, 1)
            self._play(console)

    def _play(self, console: Console) -> None:
        max_walls = MAX_WALLS_EXTERNAL if self.settings.has_external_bots else MAX_WALLS
        chunks = split_walls(self.results.missing, self.jobs, max_walls)
        remote = isinstance(self.workers, Cluster)
        start_worker = partial(open_worker, self.settings, self.save, self._make_bots, remote)
        with closing(run_tasks(start_worker, [WARM_UP, *chunks], at_most(self.workers, len(chunks)))) as updates:
            next(updates)  # Ready: all notices of the warm-up are printed before the progress bar appears
            self._start = self._end = monotonic()
            total = self.settings.games if self.settings.stop is None else None
            with Progress("games", total, self.games, console) as progress:
                for update in updates:
                    self._handle(update, progress)
                    if self.stopped:
                        break

    def _handle(self, update: Update, progress: Progress) -> None:
        if isinstance(update, GamesFinished):
            progress.advance(update.n, self._status)
        elif isinstance(update, ChunkResult):
            self.results.add(update)
            for fault in update.faults:
                progress.print(f"bot {self.results.bots[fault.bot]}, {fault}")
            self._decisions += update.decisions
            self._end = monotonic()
            if self.save is not None:
                write_contents(update.files, self.save)
            if self.checkpoint is not None:
                self.checkpoint.append(update)
            self._stop_if_decided()

    def _stop_if_decided(self) -> None:
        """Forget the walls after the one that decides, if one does."""
        if self.settings.stop is None or self.results.n_first == 0:
            return
        placements = self.results.first_placements()
        self._status = self.settings.stop.status(placements)
        if (n_walls := self.settings.stop.stops_after(placements)) is not None:
            self.results.drop_after(n_walls)
            self.stopped = True

    @property
    def document(self) -> dict[str, Any]:
        """The results as a document, see `arena.report`; at least one wall must be finished."""
        return self.finished or self.results.document(self.identity, self.speed)

    @property
    def always_failed(self) -> list[str]:
        """The external bots that failed in every game."""
        failed = Counter(fault["bot"] for fault in self.document["faults"])
        return [bot["bot"] for bot in self.document["bots"] if failed[bot["bot"]] == bot["games"]]

    def report(self, console: Console) -> None:
        """Print the statistics of all finished games."""
        if self.finished is None and self.games == 0:
            console.print("no games finished yet")
        else:
            print_report(console, self.document)

    def finish(self) -> None:
        """Write the JSON file and delete the checkpoint: all games are finished. Raises OSError."""
        if self.json is not None and self.checkpoint is not None:
            self.results.write_json(self.json, self.identity, self.speed)
            self.checkpoint.delete()

    def written(self) -> str:
        """What is kept of the run, where, and what to do with it, in one line."""
        if self.finished is not None:
            return f"{self.json} has these results already, so nothing was played or saved; to play again, delete it"
        kept = [] if self.json is None else [f"results in {self.json}"]
        if self.save is not None:
            first = self.save / file_name(games_of(self.settings, [0])[0])
            kept.append(f"{self.games:,} games in {self.save}; to see one: {program_name('engine')} show {first}")
        return ", ".join(kept) or "nothing was written: --json FILE keeps the results, --save FOLDER the games"

    @property
    def speed(self) -> Speed:
        """The speed of this process, without resumed games: from the end of the warm-up to the last finished chunk."""
        games, seconds = self.games - self._games_resumed, self._end - self._start
        per_second = 1 / seconds if seconds > 0 else 0.0
        return Speed(games, seconds, games * per_second, self._decisions * per_second, self.jobs)


def make_folder(folder: Path, option: str) -> None:
    """Create a folder unless it is there. Raises ValueError, with ``option``, if no file can be written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise ValueError(f"{option}: cannot write in {folder.absolute()}: {error.strerror}") from None
