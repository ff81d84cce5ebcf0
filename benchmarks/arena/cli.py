"""python -m benchmarks.arena: the time of games of `rule` with and without the arena's statistics, on one core.

The same games are played in turn without and with them: counts, tallies and decision times. The time is that of the
processor, so that other programs do not count; the medians are printed, and that of the ratios of neighbours.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np
from rich.console import Console
from rich.table import Table

from arena.bot_games import N_COUNTS
from arena.chunk import play_games
from arena.schedule import MAX_WALLS, Bot, RunSettings, games_of
from arena.tallies.names import N_TALLIES
from arena.tallies.observer import TallyObserver
from arena.tallies.times import N_TIMES
from engine.common.options import Parser
from engine.table import N_SEATS
from engine.tables import Tables

PAIRS = 9  # measurements of each side, in turn
GOAL = 0.05
SETTINGS = RunSettings(("rule",) * N_SEATS, N_SEATS * MAX_WALLS, 0, "tenhou", "hanchan")
GAMES = games_of(SETTINGS, range(SETTINGS.n_walls))


def tables() -> Tables:
    """All games at their start."""
    return Tables([game.seed for game in GAMES], SETTINGS.make_rules())


def play_plain(bots: Sequence[Bot]) -> None:
    """Play all games without statistics."""
    players = np.array([game.seats for game in GAMES], dtype=np.int8)
    for _ in tables().play([bot.agent.act for bot in bots], players):
        pass


def play_with_statistics(bots: Sequence[Bot]) -> None:
    """Play all games, and count everything."""
    played = tables()
    tallies = np.zeros((1, N_SEATS, N_TALLIES), dtype=np.int32)
    observer = TallyObserver(played, GAMES, [0] * len(GAMES), tallies)
    counts = np.zeros((len(GAMES), N_SEATS, N_COUNTS), dtype=np.int32)
    for _ in play_games(played, bots, GAMES, [observer], counts, np.zeros((N_SEATS, N_TIMES), dtype=np.int64)):
        pass


def seconds(play: Callable[[Sequence[Bot]], None], bots: Sequence[Bot]) -> float:
    """Seconds of the processor that playing all games takes."""
    start = time.process_time()
    play(bots)
    return time.process_time() - start


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    Parser("benchmarks.arena", description=__doc__).parse_args(arguments)
    bots = SETTINGS.make_bots()
    pairs = [(seconds(play_plain, bots), seconds(play_with_statistics, bots)) for _ in range(PAIRS + 1)][1:]
    without, with_them = map(statistics.median, zip(*pairs))
    cost = statistics.median(after / before - 1 for before, after in pairs)
    table = Table(f"{len(GAMES)} games of rule", box=None)
    table.add_column("seconds", justify="right")
    table.add_column("games/s", justify="right")
    for name, taken in (("without statistics", without), ("with statistics", with_them)):
        table.add_row(name, f"{taken:.3f}", f"{len(GAMES) / taken:,.0f}")
    console = Console(highlight=False)
    console.print(table)
    console.print(f"cost of the statistics: {cost:.1%} (goal: below {GOAL:.0%})")
    return 0
