"""One sitting of a run: plays what is still missing, until it is done, fails or is interrupted."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path
from time import monotonic

from rich.console import Console

from arena import runner
from arena.chunk import Chunk
from arena.journal import Journal, run_identity
from arena.progress import Progress, progress
from arena.report import print_faults, print_report
from arena.results import Results, Speed
from arena.schedule import MAX_WALLS, MAX_WALLS_EXTERNAL, ROTATIONS, Settings, chunks


class Sitting:
    """Plays a run. `results` holds every game finished so far, those of earlier sittings included."""

    def __init__(self, settings: Settings, jobs: int, json: Path | None, save: Path | None) -> None:
        """Check all that can be checked before work begins. Raises ValueError or OSError saying what is wrong."""
        self.settings = settings
        self.jobs = min(jobs, settings.max_jobs or jobs)
        self.json = json
        self.save = save
        self.results = Results(settings, [bot.label for bot in settings.make_bots()])
        if save is not None:
            save.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=save).close()
        self.journal = None if json is None else open_journal(json, settings, save)
        for chunk in self.journal.found if self.journal is not None else []:
            self.results.add(chunk)
        self.games_before = self.games
        self._decisions = 0
        self._start = self._end = monotonic()

    @property
    def games(self) -> int:
        """Games finished."""
        return ROTATIONS * len(self.results.finished)

    def play(self, console: Console) -> None:
        """Play to the end, progress shown on `console`. Raises KeyboardInterrupt and `arena.runner.RunError`."""
        max_walls = MAX_WALLS_EXTERNAL if self.settings.foreign else MAX_WALLS
        todo = chunks(self.results.missing, self.jobs, max_walls)
        with closing(runner.play(self.settings, todo, self.jobs, self.save)) as updates:
            for update in updates:  # the first is Ready; before that a notice of compiling would tear the bar
                if isinstance(update, runner.Ready):
                    break
            self._start = self._end = monotonic()
            with progress(console, self.games, self.settings.games) as shown:
                for update in updates:
                    self._take(update, shown)

    def _take(self, update: runner.Update, shown: Progress) -> None:
        if isinstance(update, runner.GamesOver):
            shown.advance(update.games)
        elif isinstance(update, Chunk):
            self.results.add(update)
            for fault in update.faults:
                shown.note(f"bot {self.results.bots[fault.bot]}, {fault}")
            self._decisions += update.decisions
            self._end = monotonic()
            if self.journal is not None:
                self.journal.append(update)

    def report(self, console: Console) -> None:
        """Print the statistics of all games finished."""
        if self.games == 0:
            console.print("no games finished yet")
            return
        print_report(console, self.settings, self.results.statistics(), self.speed)
        for bot, faults in self.results.faults:
            print_faults(console, bot, faults, self.games)

    def finish(self) -> None:
        """Write the JSON file of a finished run; its journal goes. Raises OSError."""
        if self.json is not None and self.journal is not None:
            self.results.write_json(self.json, self.speed)
            self.journal.remove()

    @property
    def speed(self) -> Speed:
        """How fast this sitting has been: from the moment all was compiled to the end of its last whole chunk."""
        games, seconds = self.games - self.games_before, self._end - self._start
        per_second = 1 / seconds if seconds > 0 else 0.0
        return Speed(games, seconds, games * per_second, self._decisions * per_second, self.jobs)


def open_journal(json: Path, settings: Settings, save: Path | None) -> Journal:
    """The journal beside the JSON file. Raises OSError where either cannot be written, ValueError for another run's."""
    if json.is_dir():
        raise IsADirectoryError(None, "is a folder", str(json))
    return Journal(json.with_name(json.name + ".partial"), run_identity(settings, save))
