"""Prints the statistics: a table of the results and a table of the play, each at most 80 columns wide."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.columns import PLAY, RESULTS, Statistic
from arena.observers import Fault
from arena.results import Speed
from arena.schedule import ROTATIONS, RunSettings
from arena.statistics import ROUNDS, BotGames


def table(statistics: Sequence[Statistic], bots: Sequence[BotGames]) -> Table:
    """A row for each bot, a column for each statistic."""
    drawn = Table(box=box.SIMPLE_HEAD, padding=0)
    drawn.add_column("bot", no_wrap=True, vertical="bottom")
    for statistic in statistics:
        drawn.add_column(statistic.heading, justify="right", vertical="bottom")
    for games in bots:
        drawn.add_row(Text(games.bot), *(statistic.cell(games) for statistic in statistics))
    return drawn


def print_faults(console: Console, bot: str, faults: Sequence[Fault], n_games: int) -> None:
    """Print in how many games an external bot failed."""
    line = f"bot {bot}: failed in {len(faults):,} of {n_games:,} games, which went on without it; first: {faults[0]}"
    console.print(Text(line, style="red"), soft_wrap=True)


def print_report(console: Console, settings: RunSettings, bots: Sequence[BotGames], speed: Speed) -> None:
    """Print both tables, what was played, and how fast."""
    rules = f"{settings.rules} {settings.length}, seed {settings.seed}"
    walls = f"{bots[0].n_games // ROTATIONS:,} walls in {ROTATIONS} rotations"
    console.print(Text(f"Results: {walls}, {rules}", style="bold"))
    console.print(table(RESULTS, bots))
    console.print(Text(f"Play: {bots[0].totals[ROUNDS]:,} rounds", style="bold"))
    console.print(table(PLAY, bots))
    console.print(
        f"{speed.games:,} games in {speed.seconds:.1f} s (jobs: {speed.jobs}): "
        f"{speed.games_per_second:,.0f} games/s, {speed.decisions_per_second:,.0f} decisions/s",
        highlight=False,
    )
