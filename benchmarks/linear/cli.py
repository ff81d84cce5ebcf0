"""python -m benchmarks.linear: decisions a second of linear and softmax beside rule and efficiency, on one core.

All bots answer the same views, those of games of `rule`, in turn. The time is that of the processor, so that other
programs do not count.
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

BOTS = ("linear", "softmax", "efficiency", "rule")
GAMES = 40
GOAL = 100_000  # decisions a second of linear and softmax


def decisions_per_second(bot: Agent, views: np.ndarray) -> float:
    """How many of `views` TABLE[n] a bot answers in a second of the processor."""
    start = time.process_time()
    bot.act(views)
    return len(views) / (time.process_time() - start)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    Parser("benchmarks.linear", description=__doc__).parse_args(arguments)
    views = np.concatenate([found[0] for found in SelfPlay(("rule",) * 3, GAMES).views(lambda line: None)])
    bots = [make(name) for name in BOTS]
    rounds = [[decisions_per_second(bot, views) for bot in bots] for _ in range(ROUNDS + 1)][1:]
    table = Table("bot", box=None)
    table.add_column("decisions/s", justify="right")
    table.add_column("goal", justify="right")
    for name, rates in zip(BOTS, zip(*rounds), strict=True):
        goal = f"{GOAL:,}" if name in ("linear", "softmax") else ""
        table.add_row(name, f"{statistics.median(rates):,.0f}", goal)
    Console(highlight=False).print(table)
    return 0
