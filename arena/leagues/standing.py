"""The columns of the table of standings of a league."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.statistic import Statistic

if TYPE_CHECKING:  # definitions are printed without numba
    from engine.contests.standings import Standing

STANDINGS: tuple[Statistic[Standing], ...] = (
    Statistic("rating", "rating", "+.0f", lambda bot: bot.rating,
              "points, of which 400 are a factor of 10 in the odds of finishing ahead; the mean of all bots is 0"),
    Statistic("placement", "placement", ".3f", lambda bot: bot.placement, "mean placement"),
    Statistic("first", "1st\n%", ".1%", lambda bot: bot.first, "share of games finished first"),
    Statistic("second", "2nd\n%", ".1%", lambda bot: bot.second, "share of games finished second"),
    Statistic("third", "3rd\n%", ".1%", lambda bot: bot.third, "share of games finished third"),
    Statistic("games", "games", ",", lambda bot: bot.games, "games played"),
)  # fmt: skip
