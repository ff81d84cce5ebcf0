"""The measurement of a strength scale, and its check (``python -m arena calibrate``)."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents import registry
from agents.clusters import workers_for
from agents.strength.scale import read_scale, scale_path, write_scale
from arena.calibration import Measurement, NoScaleError, make_scale, settings_of
from arena.chunk import GameError
from arena.plot import strength_plot
from arena.run import make_folder
from engine.common.files import write_atomically
from engine.common.options import Parser, check_output, describe_error
from engine.common.pools import WorkerError
from engine.common.program import FAILED, INTERRUPTED, OK
from engine.contests.estimates import Estimate
from engine.table import N_SEATS

CHECK_SEED = 1 << 63  # a bit of the seed that is flipped, so that a check plays on other walls than the measurement
FEWEST_CHECKED = 5  # strengths, full strength included, if the scale is short
WITHIN = 40  # points that a strength may be off
POINTS_A_MARK = 25  # of the bars in the tables


def start(parser: Parser, options: Namespace) -> int:
    """Run the program and return the exit code."""
    screen, notes = Console(), Console(stderr=True)
    with parser.reporting(ValueError, OSError):
        job = Check(options) if options.check else Calibration(options)
    tell = partial(notes.print, soft_wrap=True, highlight=False, markup=False)
    series = job.measurement.series
    if series.games:
        tell(f"resuming: {series.games:,} of {job.measurement.games:,} games are finished")
    try:
        series.play(notes)
        job.finish(screen)
        series.delete_games()
        return OK
    except KeyboardInterrupt:
        tell("arena calibrate: interrupted; run the same command again to resume")
        return INTERRUPTED
    except NoScaleError as error:
        series.delete_games()
        tell(f"arena calibrate: {error}")
        return FAILED
    except (GameError, WorkerError, ValueError, OSError) as error:
        tell(f"arena calibrate: {describe_error(error)}")
        return FAILED


class Calibration:
    """Measures the settings of the dial, and writes the scale."""

    def __init__(self, options: Namespace) -> None:
        """Raises ValueError, OSError."""
        self.bot = options.bot
        if options.plot is not None:
            raise ValueError("--plot goes with --check")
        agent = registry.make(self.bot)
        workers = workers_for(options, [self.bot])
        path = scale_path(self.bot)
        make_folder(path.parent, str(path))
        folder = path.with_name(path.name + ".games")
        self.measurement = Measurement(self.bot, settings_of(agent), options.games, options.seed, workers, folder)

    def finish(self, screen: Console) -> None:
        """Rate, print and write. Raises NoScaleError, ValueError, OSError."""
        ratings, settings = self.measurement.rate(), self.measurement.settings
        title = Text(f"{self.bot}: settings of the dial")
        table = Table("temperature", "random\n%", "points", "", title=title, box=SIMPLE)
        for number, setting in enumerate(settings):
            below = ratings.difference(number, 0)
            table.add_row(
                f"{setting.temperature:g}", f"{setting.share:.0%}".rstrip("%"), format_points(below), bar(below.mean)
            )
        screen.print(table)
        scale = make_scale(self.bot, settings, ratings, self.measurement.games)
        path = write_scale(scale)
        told = f"{self.measurement.games:,} games; the weakest is {self.bot}@{scale.lowest}; scale in {path}"
        screen.print(told, soft_wrap=True, highlight=False, markup=False)


class Check:
    """Checks a scale on walls other than those it was measured on."""

    def __init__(self, options: Namespace) -> None:
        """Raises ValueError, OSError."""
        self.bot = options.bot
        registry.make(self.bot)
        workers = workers_for(options, [self.bot])
        scale, path = read_scale(self.bot), scale_path(self.bot)
        if options.plot is not None:
            make_folder(options.plot.parent, f"--plot {options.plot}")
            check_output("--plot", options.plot)
        self.plot: Path | None = options.plot
        self.strengths = strengths_to_check(scale.lowest, options.check)
        folder = path.with_name(path.name + ".check")
        make_folder(path.parent, str(path))
        settings = [scale.setting(points) for points in self.strengths]
        seed = options.seed ^ CHECK_SEED
        self.measurement = Measurement(self.bot, settings, options.games, seed, workers, folder)

    def finish(self, screen: Console) -> None:
        """Rate, print and plot. Raises OSError."""
        ratings = self.measurement.rate()
        measured = [ratings.difference(number, 0) for number in range(len(self.strengths))]
        off = [each.mean - asked for each, asked in zip(measured, self.strengths)]
        title = Text(f"{self.bot}: asked for and measured")
        table = Table("bot", "measured", "off", "", title=title, box=SIMPLE)
        for asked, below, by in zip(self.strengths, measured, off):
            name = Text(f"{self.bot}@{asked}" if asked else self.bot)
            table.add_row(name, format_points(below), f"{by:+.0f}", bar(below.mean))
        screen.print(table)
        n_within = sum(abs(by) <= WITHIN for by in off[1:])
        told = f"{self.measurement.games:,} games; {n_within} of {len(off) - 1} strengths are within {WITHIN} points"
        if self.plot is not None:
            with write_atomically(self.plot) as file:
                file.write(strength_plot(self.bot, self.strengths, measured, WITHIN).encode())
            told += f"; plot in {self.plot}"
        screen.print(told, soft_wrap=True, highlight=False, markup=False)


def strengths_to_check(lowest: int, every: int) -> list[int]:
    """Return the strengths to check, from 0 to ``lowest`` in steps of ``every`` points, smaller ones on a short scale.

    Raises ValueError if that gives fewer than three.
    """
    n = -lowest // every + 1
    if n >= FEWEST_CHECKED:
        return [-every * k for k in range(n)]
    spread = {round(lowest * k / (FEWEST_CHECKED - 1)) for k in range(FEWEST_CHECKED)}
    if len(spread) < N_SEATS:
        raise ValueError(f"its scale ends at {lowest}: too short to be checked")
    return sorted(spread, reverse=True)


def format_points(below: Estimate) -> str:
    """Points with their interval."""
    return f"{below.mean:+.0f}" if not below.interval else f"{below.mean:+.0f} ± {below.interval:.0f}"


def bar(points: float) -> str:
    """Points below 0 as a bar: the plot of a table."""
    return "▪" * round(-points / POINTS_A_MARK)
