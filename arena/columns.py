"""The statistics of a bot, and of two bots compared: from them the tables, the JSON file and ``--help`` follow.

To add a statistic, add a row; if it needs a new count, see `arena.bot_games`. Those that are shown with
``--statistics`` are in `arena.tallies.columns`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

from arena.statistic import MISSING as MISSING
from arena.statistic import Of, Ratio, Total
from arena.statistic import Statistic as Statistic
from arena.tallies.columns import DETAILS, GROUPS, YAKUMAN, YAKUS
from arena.tallies.times import TIMES

if TYPE_CHECKING:  # definitions are printed without numba
    from arena.bot_games import BotGames, Comparison
    from engine.contests.estimates import Estimate


def _placement_share(placement: int) -> Callable[[BotGames], float]:
    def share(games: BotGames) -> float:
        return float((games.placements == placement).mean())

    return share


def _placement(games: BotGames) -> Estimate:
    return games.placement


def _final_points(games: BotGames) -> Estimate:
    return games.points


def _busts(games: BotGames) -> int:
    return games.busts


RESULTS: tuple[Statistic[BotGames], ...] = (
    Statistic("games", "games", ",", Total("games"), "games played"),
    Statistic("placement", "placement", ".3f", _placement,
              "mean placement, and the half-width of its interval; lower is better",
              how="mean of the walls' means, without luck (`luck_ratio`)"),
    Statistic("first", "1st\n%", ".1%", _placement_share(1), "share of games finished first", "%",
              "games finished first / games"),
    Statistic("second", "2nd\n%", ".1%", _placement_share(2), "share of games finished second", "%",
              "games finished second / games"),
    Statistic("third", "3rd\n%", ".1%", _placement_share(3), "share of games finished third", "%",
              "games finished third / games"),
    Statistic("final_points", "final\npoints", "+.1f", _final_points,
              "mean final points in thousands, with uma and oka, and the half-width of its interval", "1,000 points",
              "as the placement"),
    Statistic("score", "score", ",.0f", Ratio("score", "games"), "mean score at the end of a game", "points"),
    Statistic("busts", "busts", ",", _busts, "games finished with a score below zero", how="number of games"),
)  # fmt: skip
PLAY: tuple[Statistic[BotGames], ...] = (
    Statistic("win_rate", "win\n%", ".1%", Ratio("wins", "rounds"), "share of rounds won", "%"),
    Statistic("tsumo_rate", "tsumo\n%", ".1%", Ratio("tsumos", "rounds"), "share of rounds won by tsumo", "%"),
    Statistic("deal_in_rate", "deal-in\n%", ".1%", Ratio("deal_ins", "rounds"),
              "share of rounds in which others won on a tile of this player (discard, kan, nukidora)", "%"),
    Statistic("riichi_rate", "riichi\n%", ".1%", Ratio("riichis", "rounds"),
              "share of rounds with an accepted riichi", "%"),
    Statistic("call_rate", "call\n%", ".1%", Ratio("calls", "rounds"), "share of rounds with an open meld", "%"),
    Statistic("draw_rate", "draw\n%", ".1%", Ratio("draws", "rounds"),
              "share of rounds nobody won, abortive draws included", "%"),
    Statistic("win_points", "win\npoints", ",.0f", Ratio("win_points", "wins"),
              "mean value of the hands won, without honba and riichi sticks", "points"),
    Statistic("deal_in_points", "deal-in\npoints", ",.0f", Ratio("deal_in_points", "deal_ins"),
              "mean value, likewise, of what others won on a tile of this player; a double ron is added up", "points"),
    Statistic("nukidora", "nuki\ndora", ".2f", Ratio("nukidora", "rounds"), "nukidora (Norths set aside) per round"),
)  # fmt: skip


def _difference(pair: Comparison) -> Estimate:
    return pair.difference


def _superiority(pair: Comparison) -> float | None:
    return pair.superiority


COMPARISON: tuple[Statistic[Comparison], ...] = (
    Statistic("difference", "placement\ndifference", "+.3f", _difference,
              "mean placement of the first bot minus that of the second, paired by walls, and the half-width of its "
              "interval; below zero, the first is the better one", how="mean over walls"),
    Statistic("superiority", "superiority\n%", ".1%", _superiority,
              "likelihood of superiority: probability that the first bot is the better one, that is, that the true "
              "difference is below zero (Student's t distribution)", "%", "t distribution of the difference"),
)  # fmt: skip


def as_json(games: BotGames) -> dict[str, Any]:
    """All statistics of a bot by their keys; rates are shares of 1. ``distributions``: see `BotGames`."""
    rounds = {"rounds": games.total("rounds"), "luck_ratio": games.luck_ratio}
    row = {"bot": games.bot} | _values(RESULTS, games) | rounds | _values(PLAY, games)
    if games.tallies is None:
        return row
    return row | _values(DETAILS, games) | {"distributions": games.distributions}


def comparison_as_json(pair: Comparison) -> dict[str, Any]:
    """All statistics of two bots by their keys, and whether their difference is significant."""
    apart = {"significant": pair.significant, "more_games": pair.more_games}
    return {"bot": pair.bot, "against": pair.against} | _values(COMPARISON, pair) | apart


def _values(statistics: tuple[Statistic[Of], ...], of: Of) -> dict[str, Any]:
    values = {statistic.key: statistic.compute(of) for statistic in statistics}
    return {key: asdict(value) if is_dataclass(value) else value for key, value in values.items()}


def columns_defined() -> str:
    """A line for each column of the tables that are always printed: its heading and what it means."""
    every: tuple[Statistic[Any], ...] = (*RESULTS, *PLAY, *COMPARISON)
    return _entries({each.heading: each.help for each in every})


def statistics_defined() -> str:
    """A paragraph for each group of the tables that ``--statistics`` shows."""
    groups = {title: {each.heading: each.help for each in group} for title, group in GROUPS.items()}
    yaku = {"Yaku": f"share of wins with each of {len(YAKUS)} yaku and kinds of dora, by name"}
    yaku["Yakuman"] = f"number of each of {len(YAKUMAN)} yakuman, by name"
    named = [title for title, group in GROUPS.items() if group in (YAKUS, YAKUMAN)]
    shown = {title: entries for title, entries in groups.items() if title not in named}
    shown["Decision times, which differ from run to run"] = {each.heading: each.help for each in TIMES}
    shown["By name"] = yaku
    return "\n\n".join(f"{title}:\n{_entries(entries)}" for title, entries in shown.items())


def _entries(definitions: dict[str, str]) -> str:
    """A line for each heading with its definition, which begin in one column."""
    terms = {" ".join(heading.split()): text for heading, text in definitions.items()}
    width = max(map(len, terms))
    return "\n".join(f"{term:<{width}}  {text}" for term, text in terms.items())
