"""python -m benchmarks.arena: what statistics and the luck of the walls cost in games of `rule`, on one core.

The same games are played in turn without them, with the statistics (counts, tallies and decision times), and with both.
Processor time is measured, so that other programs do not count; the medians of the times and of the ratios of
consecutive measurements are printed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table

from arena.bot_games import count_rounds
from arena.chunk import play_games
from arena.luck import N_FACTORS
from arena.observers import GameObserver, LuckObserver
from arena.schedule import MAX_WALLS, Bot, RunSettings, games_of
from arena.tallies.counts import N_TALLIES, add_rounds
from arena.tallies.observer import RoundObserver
from arena.tallies.times import N_TIMES
from engine.common.options import Parser
from engine.table import N_SEATS
from engine.tables import Tables

ROUNDS = 9  # measurements of each side, in turn
GOAL = 0.05  # of the statistics
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


def play_with_statistics(bots: Sequence[Bot], luck: bool = False) -> None:
    """Play all games with statistics; with ``luck``, also measure the luck of the walls."""
    played = tables()
    round_observer = RoundObserver(played)
    observers: list[GameObserver] = [round_observer]
    if luck:
        observers.append(LuckObserver(played, np.zeros((len(GAMES), N_SEATS, N_FACTORS))))
    for _ in play_games(played, bots, GAMES, observers, np.zeros((N_SEATS, N_TIMES), dtype=np.int64)):
        pass
    rounds, games = round_observer.rounds()
    count_rounds(rounds, games, played.records["seat"]["score"])
    owners = np.array([game.seats for game in GAMES])[games]
    add_rounds(rounds, games, owners, np.zeros((N_SEATS, N_TALLIES), dtype=np.int32))


SIDES: dict[str, Callable[[Sequence[Bot]], None]] = {
    "without statistics": play_plain,
    "with statistics": play_with_statistics,
    "with statistics and luck": partial(play_with_statistics, luck=True),
}


def seconds(play: Callable[[Sequence[Bot]], None], bots: Sequence[Bot]) -> float:
    """Return the processor seconds that playing all games takes."""
    start = time.process_time()
    play(bots)
    return time.process_time() - start


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    Parser("benchmarks.arena", description=__doc__).parse_args(arguments)
    bots = SETTINGS.make_bots()
    rounds = [[seconds(play, bots) for play in SIDES.values()] for _ in range(ROUNDS + 1)][1:]
    table = Table(f"{len(GAMES)} games of rule", box=None)
    for heading in ("seconds", "games/s"):
        table.add_column(heading, justify="right")
    for name, taken in zip(SIDES, zip(*rounds)):
        median = statistics.median(taken)
        table.add_row(name, f"{median:.3f}", f"{len(GAMES) / median:,.0f}")
    console = Console(highlight=False)
    console.print(table)
    cost = statistics.median(counted / plain - 1 for plain, counted, _ in rounds)
    luck = statistics.median(whole / counted - 1 for _, counted, whole in rounds)
    console.print(f"cost of the statistics: {cost:.1%} (goal: below {GOAL:.0%}); of the luck of the walls: {luck:.1%}")
    return 0
