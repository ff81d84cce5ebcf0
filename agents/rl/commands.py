"""The command ``python -m agents.rl train``: a run with its progress, measurements and saves."""

from __future__ import annotations

import argparse
import sys

import torch
from torch.utils.tensorboard import SummaryWriter

from agents.clusters import workers_for
from agents.memory import keep_freed_memory
from agents.registry import make
from agents.rl.evaluation import last_measured
from agents.rl.rollouts import play_task
from agents.rl.settings import Settings
from agents.rl.training import CURVE, TENSORBOARD, Run
from engine.common.cluster import Cluster
from engine.common.options import describe_error, usable_cores
from engine.common.pools import WorkerError
from engine.common.program import BAD_ARGUMENTS, FAILED, INTERRUPTED, OK
from engine.common.progress import Progress
from engine.common.workers import open_pool, stateless

SAVE_EVERY = 20.0  # seconds of training


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Train, and return the exit code."""
    try:
        return train(options, settings)
    except (ValueError, OSError, WorkerError) as error:
        print(f"agents.rl: {describe_error(error)}", file=sys.stderr)
        return BAD_ARGUMENTS if isinstance(error, ValueError) else FAILED


def train(options: argparse.Namespace, settings: Settings) -> int:
    """Run ``train``. Raises ValueError, OSError or WorkerError."""
    for bot in {*settings.games.opponents, *settings.measure_against}:
        make(bot)
    keep_freed_memory()
    run = Run(options.folder, settings, options.start)
    options.jobs = run.jobs
    torch.set_num_threads(min(run.jobs, usable_cores()))
    workers = workers_for(options, options.opponents)
    if not isinstance(workers, Cluster):
        return Training(options, run).go_on()
    with open_pool(stateless(play_task), workers) as run.pool:
        return Training(options, run).go_on()


class Training:
    """A run with its progress, measurements and saves."""

    def __init__(self, options: argparse.Namespace, run: Run) -> None:
        self._options, self._run = options, run
        self._total, self._unit = run.settings.budget
        self._saved, self._saved_iteration = run.seconds, run.iteration

    def go_on(self) -> int:
        """Run iterations until the budget is spent; return the exit code."""
        run, folder = self._run, self._options.folder
        folder.mkdir(parents=True, exist_ok=True)  # only now, so that a run that cannot begin leaves none
        writer = SummaryWriter(folder / TENSORBOARD, purge_step=run.iteration)
        done = min(int(run.spent), self._total)
        with writer, Progress(self._unit, self._total, done) as progress:
            try:
                while True:
                    if self._is_due():
                        self._measure(writer, progress)
                    if run.spent >= self._total:
                        break
                    self._iterate(writer, progress)
            except KeyboardInterrupt:
                progress.print(f"stopped; the same command continues after iteration {self._saved_iteration}")
                return INTERRUPTED
        print(f"{folder / CURVE} holds the curve; play it with --bots {self._options.bot}:{folder}")
        if not run.has_learned:
            how = "the same command with more minutes or iterations goes on"
            print(f"the policy has not begun to learn ({run.phase}); {how}")
        return OK

    def _is_due(self) -> bool:
        """Return whether a measurement is missing, including one that was interrupted."""
        last, every = last_measured(self._options.folder / CURVE), 60 * self._run.settings.measure_every
        if last is None:
            return True
        minutes, iteration = last
        ended = self._run.spent >= self._total and iteration < self._run.iteration
        return ended or self._run.seconds // every > 60 * minutes // every

    def _save(self) -> None:
        self._run.save()
        self._saved, self._saved_iteration = self._run.seconds, self._run.iteration

    def _measure(self, writer: SummaryWriter, progress: Progress) -> None:
        """Save the run and measure it."""
        self._save()
        against = " and ".join(self._run.settings.measure_against)
        what = f"measuring {3 * self._run.settings.walls:,} hanchan against two {against}"
        if last_measured(self._options.folder / CURVE) is None:
            progress.print(f"{what} before the training")
        progress.advance(0, what)
        rows = self._run.measure()
        for row in rows:
            writer.add_scalar(f"placement/{row.opponent}", row.placement, row.iteration)
        texts = [f"{row.opponent} {row.placement:.3f} ± {row.interval:.3f}" for row in rows]
        progress.print(
            f"after {rows[0].minutes:.0f} min, {rows[0].choices:,} choices, placement against two: {', '.join(texts)}"
        )

    def _iterate(self, writer: SummaryWriter, progress: Progress) -> None:
        """Run an iteration, and save it if the last save is some time ago."""
        run = self._run
        seconds, choices = run.seconds, run.choices
        metrics = run.next_iteration()
        if run.seconds - self._saved > SAVE_EVERY:
            self._save()
        rate = (run.choices - choices) / max(run.seconds - seconds, 1e-9)
        for name, value in (metrics | {"choices_per_second": rate}).items():
            writer.add_scalar(f"learning/{name}", value, run.iteration)
        status = f"{run.phase}, {rate:,.0f} choices/s, entropy {metrics.get('entropy', 0.0):.2f}"
        progress.advance(min(int(run.spent), self._total) - progress.done, status)
