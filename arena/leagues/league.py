"""A league and its text: the standings, and the cross table of every two bots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from io import StringIO
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from arena.columns import Statistic
from arena.leagues.games import LeagueSettings
from arena.leagues.standing import STANDINGS
from arena.report import print_tables, title
from engine.common.options import printable
from engine.common.program import installed_version
from engine.common.screen import TABLE_WIDTH
from engine.contests.estimates import Estimate
from engine.contests.standings import Pair, Standing


@dataclass(frozen=True, repr=False)
class League:
    """A league; as text, the tables that ``python -m arena league`` prints.

    ``standings``: the bots, best first. ``pairs``: by the names of two bots, in either order. ``totals``: the sums of
    the counts of each bot over all of its games, int64[N_COUNTS] (`arena.bot_games`). ``failed``: external bots that
    failed in every game; they and their games are left out of the ratings. ``games``: how many there are in all.
    """

    settings: LeagueSettings
    standings: list[Standing]
    pairs: Mapping[tuple[str, str], Pair]
    totals: Mapping[str, np.ndarray]
    failed: list[str]
    games: int

    @property
    def ratings(self) -> dict[str, Estimate]:
        """The rating of each bot."""
        return {standing.bot: standing.rating for standing in self.standings}

    @property
    def widest(self) -> float | None:
        """The half-width of the widest interval of a rating; None before there are intervals."""
        return max((standing.rating.interval for standing in self.standings if standing.rating.interval), default=None)

    def document(self) -> dict[str, Any]:
        """The standings as JSON has them."""
        rows = [asdict(standing) | {"failed": False} for standing in self.standings]
        return {
            "version": installed_version(),
            "league": asdict(self.settings),
            "games": self.games,
            "bots": rows + [{"bot": bot, "failed": True} for bot in self.failed],
            "pairs": [asdict(pair) for pair in self.pairs.values()],
        }

    def __repr__(self) -> str:
        return as_text(self)


def print_league(console: Console, league: League) -> None:
    """Print all tables, and which bots have failed."""
    settings = league.settings
    played = f"{league.games:,} games, {settings.rules} {settings.length}, seed {settings.seed}"
    if league.standings:
        title(console, f"League: {played}")
        print_tables(console, STANDINGS, standing_rows(league))
        title(console, "Every two bots: how often, in %, that of the row finished ahead of that of the column")
        print_tables(console, tuple(cross_columns(league)), cross_rows(league))
        console.print(Text(pairs_line(league)))
    else:
        console.print("no games finished yet" if not league.games else f"no games to rate in {played}")
    for bot in league.failed:
        line = f"bot {printable(bot)}: failed in every game; it and its games are left out of the ratings"
        console.print(Text(line, style="red"), soft_wrap=True)


def standing_rows(league: League) -> list[dict[str, Any]]:
    """The rows of the table of standings, best first."""
    return [
        {"bot": f"{number} {printable(standing.bot)}"}
        | {key: value for key, value in asdict(standing).items() if key != "bot"}
        for number, standing in enumerate(league.standings, 1)
    ]


def cross_columns(league: League) -> Iterator[Statistic[Any]]:
    """A column for each bot, headed by its number in the standings."""
    for number, standing in enumerate(league.standings, 1):
        yield Statistic(standing.bot, str(number), ".1%", lambda bot: None, "")


def cross_rows(league: League) -> list[dict[str, Any]]:
    """The rows of the cross table, best first."""
    names = [standing.bot for standing in league.standings]
    shares = {pair: of_pair.ahead.mean for pair, of_pair in league.pairs.items()}
    return [
        {other: shares.get((name, other)) for other in names} | {"bot": f"{number} {printable(name)}"}
        for number, name in enumerate(names, 1)
    ]


def pairs_line(league: League) -> str:
    """How often every two bots have met, and how wide the intervals of their shares are."""
    met = [pair.games for pair in league.pairs.values()]
    n = len(league.standings)
    if unmet := n * (n - 1) - len(met):
        return f"{unmet // 2:,} pairs have not met yet"
    return f"every two bots have met in at least {min(met):,} games" + (
        f"; the intervals of these shares are at most ± {width:.1f} %" if (width := widest_share(league)) else ""
    )


def widest_share(league: League) -> float | None:
    """The half-width, in %, of the widest interval of a share of the cross table; None before there are intervals."""
    widths = [pair.ahead.interval for pair in league.pairs.values() if pair.ahead.interval is not None]
    return 100 * min(max(widths), 1.0) if widths else None


def as_text(league: League) -> str:
    """What `print_league` prints."""
    text = StringIO()
    print_league(Console(file=text, width=TABLE_WIDTH, color_system=None), league)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())
