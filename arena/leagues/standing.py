"""A bot of a league: its standing, and the columns of the table of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.statistic import Statistic

if TYPE_CHECKING:  # definitions are printed without numba
    import numpy as np

    from arena.bot_games import Estimate


@dataclass(frozen=True, slots=True)
class Standing:
    """A bot of a league: its rating (points; the mean of all bots is 0), mean placement, and shares of placements.

    ``totals``: the sums of its counts over all of its games, int64[N_COUNTS] (`arena.bot_games`).
    """

    bot: str
    rating: Estimate
    placement: Estimate
    first: float
    second: float
    third: float
    games: int
    totals: np.ndarray


STANDINGS: tuple[Statistic[Standing], ...] = (
    Statistic("rating", "rating", "+.0f", lambda bot: bot.rating,
              "points, of which 400 are a factor of 10 in the odds of finishing ahead; the mean of all bots is 0"),
    Statistic("placement", "placement", ".3f", lambda bot: bot.placement, "mean placement"),
    Statistic("first", "1st\n%", ".1%", lambda bot: bot.first, "share of games finished first"),
    Statistic("second", "2nd\n%", ".1%", lambda bot: bot.second, "share of games finished second"),
    Statistic("third", "3rd\n%", ".1%", lambda bot: bot.third, "share of games finished third"),
    Statistic("games", "games", ",", lambda bot: bot.games, "games played"),
)  # fmt: skip
