"""The command ``python -m agents.rl train``."""

from __future__ import annotations

import argparse
import sys

import torch

from agents.clusters import workers_for
from agents.registry import make
from agents.rl.rollouts import play_task
from agents.rl.settings import Settings
from agents.rl.training import CURVE, Run
from agents.training.loop import run_training
from agents.training.memory import keep_freed_memory
from engine.common.cluster import Cluster
from engine.common.options import describe_error, usable_cores
from engine.common.pools import WorkerError
from engine.common.program import BAD_ARGUMENTS, FAILED, INTERRUPTED, OK
from engine.common.workers import open_pool, stateless


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
    run = Run(options.folder, settings, options.start, options.anchor)
    options.jobs = run.jobs
    torch.set_num_threads(min(run.jobs, usable_cores()))
    workers = workers_for(options, options.opponents)
    if not isinstance(workers, Cluster):
        return go_on(options, run)
    with open_pool(stateless(play_task), workers) as run.pool:
        return go_on(options, run)


def go_on(options: argparse.Namespace, run: Run) -> int:
    """Train until the budget is spent; return the exit code."""
    try:
        run_training(run)
    except KeyboardInterrupt:
        print(f"stopped; the same command continues after iteration {run.saved_iteration}", file=sys.stderr)
        return INTERRUPTED
    print(f"{options.folder / CURVE} holds the curve; play it with --bots {options.bot}:{options.folder}")
    if not run.has_learned:
        how = "the same command with more minutes or iterations goes on"
        print(f"the policy has not begun to learn ({run.phase}); {how}")
    return OK
