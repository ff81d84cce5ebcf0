"""The statistics on screen: one table for the results, one below it for the play, each within 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.audience import Fault
from arena.results import Speed
from arena.schedule import ROTATIONS, Settings
from arena.statistics import BotStatistics, Estimate

NOTHING = "–"  # a mean of nothing

# heading -> cell; one table each
Columns = dict[str, Callable[[BotStatistics], str]]
RESULTS: Columns = {
    "games": lambda s: f"{s.games:,}",
    "placement": lambda s: with_interval(s.placement, ".3f"),
    "1st\n%": lambda s: percent(s.first),
    "2nd\n%": lambda s: percent(s.second),
    "3rd\n%": lambda s: percent(s.third),
    "final\npoints": lambda s: with_interval(s.final_points, "+.1f"),
    "score": lambda s: f"{s.score:,.0f}",
    "busts": lambda s: f"{s.busts:,}",
}
PLAY: Columns = {
    "win\n%": lambda s: percent(s.win_rate),
    "tsumo\n%": lambda s: percent(s.tsumo_rate),
    "deal-in\n%": lambda s: percent(s.deal_in_rate),
    "riichi\n%": lambda s: percent(s.riichi_rate),
    "call\n%": lambda s: percent(s.call_rate),
    "draw\n%": lambda s: percent(s.draw_rate),
    "win\npoints": lambda s: points(s.win_points),
    "deal-in\npoints": lambda s: points(s.deal_in_points),
    "nuki\ndora": lambda s: f"{s.nukidora:.2f}",
}


def percent(rate: float) -> str:
    """A rate as a percentage."""
    return f"{100 * rate:.1f}"


def points(mean: float | None) -> str:
    """Mean points of something that may never have happened."""
    return NOTHING if mean is None else f"{mean:,.0f}"


def with_interval(estimate: Estimate, form: str) -> str:
    """A mean ± half-width; the half-width without a sign of its own."""
    interval = NOTHING if estimate.interval is None else format(estimate.interval, form.removeprefix("+"))
    return f"{estimate.mean:{form}} ± {interval}"


def table(columns: Columns, found: Sequence[BotStatistics]) -> Table:
    """One row for each bot."""
    drawn = Table(box=box.SIMPLE_HEAD, padding=0)
    drawn.add_column("bot", no_wrap=True, vertical="bottom")
    for heading in columns:
        drawn.add_column(heading, justify="right", vertical="bottom")
    for one in found:
        drawn.add_row(Text(one.bot), *(cell(one) for cell in columns.values()))
    return drawn


def print_faults(console: Console, bot: str, faults: Sequence[Fault], games: int) -> None:
    """Print how often a foreign bot has failed."""
    line = f"bot {bot}: failed in {len(faults):,} of {games:,} games, played on without it; first {faults[0]}"
    console.print(Text(line, style="red"), soft_wrap=True)


def print_report(console: Console, settings: Settings, found: Sequence[BotStatistics], speed: Speed) -> None:
    """Print both tables, what was played, and how fast."""
    rules = f"{settings.rules} {settings.length}, seed {settings.seed}"
    walls = f"{found[0].games // ROTATIONS:,} walls in {ROTATIONS} rotations"
    console.print(Text(f"Results: {walls}, {rules}", style="bold"))
    console.print(table(RESULTS, found))
    console.print(Text(f"Play: {found[0].rounds:,} rounds", style="bold"))
    console.print(table(PLAY, found))
    console.print(
        f"{speed.games:,} games in {speed.seconds:.1f} s (jobs: {speed.jobs}): "
        f"{speed.games_per_second:,.0f} games/s, {speed.decisions_per_second:,.0f} decisions/s",
        highlight=False,
    )
