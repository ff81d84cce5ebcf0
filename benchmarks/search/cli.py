"""python -m benchmarks.search: milliseconds of a decision that `search` compares in sampled worlds, on one core.

The decisions are those of games of `residual`, one at a time. Those that `search` leaves to its prior are not counted;
how many it compares is printed. It takes a minute on a quiet machine, by the clock.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.base import Agent
from agents.linear.data import SelfPlay
from agents.registry import make
from agents.search.bot import Search
from engine.common.options import Parser
from engine.common.program import OK

GAMES, DECISIONS = 20, 2_000
WORLDS = (50, 95, 150, 400, 700, 3_500)


def seconds_of(bot: Search, views: np.ndarray) -> np.ndarray:
    """The seconds and the worlds of each of `views` TABLE[n] that the bot searches: float64[k, 2]."""
    found = []
    for k in range(len(views)):
        began = time.perf_counter()
        bot.act(views[k : k + 1])
        taken = time.perf_counter() - began
        if worlds := bot.annotate()["worlds"]:
            found.append((taken, worlds))
    return np.array(found)


def drawn_views() -> np.ndarray:
    """Views of games of `residual`, TABLE[DECISIONS]."""
    views = np.concatenate([found[0] for found in SelfPlay(("residual",) * 3, GAMES).views(lambda line: None)])
    return views[np.random.default_rng(0).choice(len(views), DECISIONS, replace=False)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    Parser("benchmarks.search", description=__doc__).parse_args(arguments)
    views = drawn_views()
    table = Table("bot", box=None)
    for heading in ("mean ms", "median", "90th percentile", "worlds tried"):
        table.add_column(heading, justify="right")
    searched = 0
    for worlds in WORLDS:
        bot: Agent = make(f"search:n={worlds}")
        assert isinstance(bot, Search)
        seconds_of(bot, views[:100])  # the first compiles
        found = seconds_of(bot, views)
        searched = len(found)
        taken = 1000 * found[:, 0]
        numbers = taken.mean(), float(np.median(taken)), np.quantile(taken, 0.9)
        table.add_row(f"search:n={worlds}", *(f"{each:.1f}" for each in numbers), f"{found[:, 1].mean():.0f}")
    console = Console(highlight=False)
    console.print(f"{searched} of {len(views):,} decisions are searched")
    console.print(table)
    return OK
