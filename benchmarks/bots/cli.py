"""python -m benchmarks.bots: decisions per second of the compiled bots, on one core.

All bots answer the same views, those of games of `rule`, in turn. Processor time is measured, so that other programs do
not count.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.base import Agent
from agents.linear.data import SelfPlay
from agents.registry import make
from benchmarks.timing import ROUNDS
from engine.common.options import Parser

GAMES = 40
GOALS = {"linear": 100_000, "softmax": 100_000, "yaku": 2_000, "efficiency": None, "rule": None}  # decisions a second


def decisions_per_second(bot: Agent, views: np.ndarray) -> float:
    """Return how many of `views` TABLE[n] a bot answers per second of processor time."""
    start = time.process_time()
    bot.act(views)
    return len(views) / (time.process_time() - start)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    Parser("benchmarks.bots", description=__doc__).parse_args(arguments)
    views = np.concatenate([found[0] for found in SelfPlay(("rule",) * 3, GAMES).views(lambda line: None)])
    bots = [make(name) for name in GOALS]
    rounds = [[decisions_per_second(bot, views) for bot in bots] for _ in range(ROUNDS + 1)][1:]
    table = Table("bot", box=None)
    table.add_column("decisions/s", justify="right")
    table.add_column("goal", justify="right")
    for (name, goal), rates in zip(GOALS.items(), zip(*rounds), strict=True):
        table.add_row(name, f"{statistics.median(rates):,.0f}", f"{goal:,}" if goal else "")
    Console(highlight=False).print(table)
    return 0
