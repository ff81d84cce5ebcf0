"""A run of the arena: plays all games that are not in its checkpoint, prints the statistics and writes the results."""

from __future__ import annotations

import tempfile
from contextlib import closing
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from time import monotonic
from typing import Any

import numpy as np
from rich.console import Console

from arena.checkpoint import Checkpoint, finished_results, run_identity
from arena.chunk import ChunkResult, GamesPlayed
from arena.match import GameResult, Match
from arena.page.match import write_page
from arena.page.page import run_of_page
from arena.parquet import ParquetFiles, games_of_run, run_of_parquet
from arena.recorder import check_folder, file_name
from arena.results import Results, Speed, run_id
from arena.schedule import RunSettings, games_of, split_walls
from arena.tallies.times import N_TIMES, decision_times
from arena.worker import WARM_UP, MakeBots, Update, open_worker
from engine.common.cluster import Cluster
from engine.common.files import SUFFIX, write_contents
from engine.common.options import check_output
from engine.common.program import program_name
from engine.common.progress import Progress
from engine.common.workers import at_most, connected, run_tasks
from engine.contests.seating import ROTATIONS


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
        html: Path | None = None,
        parquet: Path | None = None,
        decisions: bool = False,
        log: Path | None = None,
    ) -> None:
        """Check everything that can be checked before games are played. Raises ValueError, OSError.

        ``jobs``: worker processes, or a cluster; 0: all games are played in this process. ``make_bots`` makes the bots
        in place of those that ``settings`` names; it must be picklable unless ``jobs`` is 0. ``html``: a file for the
        report; ``parquet``: a folder for Parquet files, with ``decisions`` if wanted; ``log``: one for the traffic of
        external bots. Also raises ModuleNotFoundError.
        """
        self.settings = settings
        self.workers = jobs if settings.max_jobs is None else at_most(jobs, settings.max_jobs)
        self.jobs = 1  # the number of workers; known when they play
        self.json = json
        self.save = save
        self.log = log
        self._make_bots = make_bots or settings.make_bots
        self.results = Results(settings, [bot.label for bot in self._make_bots()])
        self.html = html
        self.parquet = parquet
        self.rows: tuple[str, ...] = () if parquet is None else ("rounds", "decisions") if decisions else ("rounds",)
        self._files: ParquetFiles | None = None
        self.identity = run_identity(settings, save, self.rows)
        self.checkpoint: Checkpoint | None = None
        self.finished: dict[str, Any] | None = None
        self.stopped = False  # by settings.stop
        self._status = ""
        self._document: dict[str, Any] | None = None  # of the chunks so far, once it is asked for
        check_packages(html, parquet)
        if json is not None:
            make_folder(json.parent, f"--json {json}")
            check_output("--json", json)
            self.finished = finished_results(json, self.identity)
            self._check_finished()
        try:
            if self.finished is None:
                self._open_files()
            self._stop_if_decided()
            self._delete_games_after_stop()
        except BaseException:
            self._close()
            raise
        self._games_played = self._decisions = 0  # in this process, those after the wall that decides included
        self._times = np.zeros((len(self.results.bots), N_TIMES), dtype=np.int64)
        self._start = self._end = monotonic()

    def _open_files(self) -> None:
        """Open the folders of games and of Parquet files, and the checkpoint."""
        resumed: list[int] = []  # the first wall of each chunk
        if self.html is not None:
            make_folder(self.html.parent, f"--html {self.html}")
            check_output("--html", self.html)
        if self.log is not None:
            if not self.settings.has_external_bots or isinstance(self.workers, Cluster):
                raise ValueError("--log: only for bots that are programs or connect to the arena, on this machine")
            make_folder(self.log, f"--log {self.log}")
        if self.save is not None:
            make_folder(self.save, f"--save {self.save}")
            games = games_of(self.settings, range(self.settings.n_walls))
            check_folder(self.save, games, self.results.bots, self.settings.make_rules(), self.settings.scores)
        if self.json is not None:

            def take(chunk: ChunkResult) -> None:
                self.results.add(chunk)
                resumed.append(chunk.walls[0])

            self.checkpoint = Checkpoint(self._kept(".partial"), self.identity, take)
        if self.parquet is not None:
            make_folder(self.parquet, f"--parquet {self.parquet}")
            for kind in ("games", *self.rows):
                check_output("--parquet", self.parquet / f"{kind}.parquet")
            parts = None if self.json is None else self._kept(".partial.rows")
            self._files = ParquetFiles(self.parquet, self.rows, parts, resumed)

    @property
    def games(self) -> int:
        """The number of finished games."""
        return ROTATIONS * len(self.results.finished)

    def _check_finished(self) -> None:
        """Raise ValueError if a file made from the games is not of this run, whose games are no longer kept."""
        if self.finished is None:
            return
        run, folder = run_id(self.finished), self.parquet
        files = [] if self.html is None else [("--html", self.html, run_of_page)]
        if folder is not None:
            files += [("--parquet", folder / f"{kind}.parquet", run_of_parquet) for kind in ("games", *self.rows)]
        for option, path, run_of in files:
            if not path.exists() or run_of(path) != run:
                raise ValueError(
                    f"{option}: {self.json} has these results already, but {path} is not made of them, and not all "
                    f"games are kept that it is made of: name another --json FILE, or delete it"
                )

    def play(self, console: Console) -> None:
        """Play all remaining games, with progress on ``console``.

        Raises KeyboardInterrupt, `arena.chunk.GameError`, `engine.common.pools.WorkerError` and OSError.
        """
        if not self.results.missing or self.finished is not None or self.stopped:
            return
        try:
            with connected(self.workers) as n_workers:
                self.jobs = max(n_workers, 1)
                self._play(console)
        except BaseException:
            self._close()
            raise

    def _close(self) -> None:
        """Close the checkpoint, if there is one, so that a run may resume from it though this one is still kept."""
        if self.checkpoint is not None:
            self.checkpoint.close()

    def _play(self, console: Console) -> None:
        chunks = split_walls(self.results.missing, self.jobs, self.settings.max_walls)
        remote = isinstance(self.workers, Cluster)
        start_worker = partial(open_worker, self.settings, self.save, self._make_bots, self.rows, remote, self.log)
        try:
            with closing(run_tasks(start_worker, [WARM_UP, *chunks], at_most(self.workers, len(chunks)))) as updates:
                next(updates)  # Ready: all notices of the warm-up are printed before the progress bar appears
                self._start = self._end = monotonic()
                total = self.settings.games if self.settings.stop is None else None
                with Progress("games", total, self.games, console) as progress:
                    for update in updates:
                        self._handle(update, progress)
                        if self.stopped:
                            break
        finally:  # once no worker writes any more, even if Ctrl-C ends the wait for them
            self._delete_games_after_stop()

    def _handle(self, update: Update, progress: Progress) -> None:
        if isinstance(update, GamesPlayed):
            progress.advance(update.n, self._status)
        elif isinstance(update, ChunkResult):
            self.results.add(update)
            self._document = None
            for fault in update.faults:
                progress.print(f"bot {self.results.bots[fault.bot]}, {fault}")
            self._games_played += ROTATIONS * len(update.walls)
            self._decisions += update.decisions
            if update.times is not None:
                self._times += update.times
            self._end = monotonic()
            if self._files is not None:
                self._files.add(update.walls[0], update.rows)
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

    def _delete_games_after_stop(self) -> None:
        """Delete what workers have saved of walls after the one that decides."""
        if self.stopped and self.save is not None:
            for game in games_of(self.settings, range(self.results.n_first, self.settings.n_walls)):
                for name in (file_name(game), file_name(game) + SUFFIX):
                    (self.save / name).unlink(missing_ok=True)

    @property
    def document(self) -> dict[str, Any]:
        """The results as a document, see `arena.match`; at least one wall must be finished."""
        if self.finished is not None:
            return self.finished
        if self._document is None:
            self._document = self.results.document(self.identity, self.speed)
        return self._document

    @property
    def match(self) -> Match:
        """The results of all finished games; at least one wall must be finished."""
        games = self.results.games() if self.finished is None else self.finished["games"]
        document = {key: value for key, value in self.document.items() if key != "games"}
        return Match(document, [GameResult(**game) for game in games])

    def finish(self) -> None:
        """Write all files and delete the checkpoint: all games are finished. Raises OSError."""
        if self.finished is not None:
            self._delete_leftovers()
            return
        if self.games == 0:
            return
        if self._files is not None:
            self._files.write(
                self.results.bots, games_of_run(self.results), self.results.finished, run_id(self.document)
            )
        if self.html is not None:
            write_page(self.html, self.results, self.document, self.save)
        if self.json is not None and self.checkpoint is not None:
            self.results.write_json(self.json, self.document)
            self.checkpoint.delete()
        if self._files is not None:
            self._files.delete_parts()

    def _delete_leftovers(self) -> None:
        """Delete what is kept of a run that was killed when it had just written its results. Raises OSError."""
        if self.json is not None:
            self._kept(".partial").unlink(missing_ok=True)
            rmtree(self._kept(".partial.rows"), ignore_errors=True)

    def _kept(self, suffix: str) -> Path:
        """Where something is kept until the results are written to ``json``."""
        assert self.json is not None
        return self.json.with_name(self.json.name + suffix)

    def describe_files(self) -> str:
        """Return what the run has kept, where, and what to do with it, one line each."""
        if self.finished is not None:
            return f"{self.json} has these results already, so nothing was played or saved; to play again, delete it"
        kept = [] if self.json is None else [f"results in {self.json}"]
        if self.save is not None:
            first = self.save / file_name(games_of(self.settings, [0])[0])
            kept.append(f"{self.games:,} games in {self.save}; to see one: {program_name('engine')} show {first}")
        if self.html is not None:
            kept.append(f"report in {self.html}")
        if self.parquet is not None:
            *others, last = "games", *self.rows
            kept.append(f"{', '.join(others)} and {last} as Parquet in {self.parquet}")
        return "\n".join(kept) or "nothing was written: --json FILE keeps the results, --save FOLDER the games"

    @property
    def speed(self) -> Speed:
        """The speed of this process, without resumed games: from the end of the warm-up to the last finished chunk.

        Games after the wall that decides were played, too.
        """
        games, seconds = self._games_played, self._end - self._start
        per_second = 1 / seconds if seconds > 0 else 0.0
        times = decision_times(self.results.bots, self._times)
        return Speed(games, seconds, games * per_second, self._decisions * per_second, self.jobs, times)


def check_packages(html: Path | None, parquet: Path | None) -> None:
    """Raise ModuleNotFoundError if a package is missing that a report or Parquet files, if any, are written with."""
    for path, package in ((html, "matplotlib"), (parquet, "pyarrow")):
        if path is not None and find_spec(package) is None:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)


def make_folder(folder: Path, option: str) -> None:
    """Create a folder unless it is there. Raises ValueError, with ``option``, if no file can be written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise ValueError(f"{option}: cannot write in {folder.absolute()}: {error.strerror}") from None
