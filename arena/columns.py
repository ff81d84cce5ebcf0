"""The statistics of a bot, and of two bots compared: from them the tables, the JSON file and ``--help`` follow.

To add a statistic, add a row; if it needs a new count, see `arena.statistics`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from arena.statistics import (
    CALLS,
    DEAL_IN_POINTS,
    DEAL_INS,
    DRAWS,
    NUKIDORAS,
    RIICHIS,
    ROUNDS,
    SCORE,
    TSUMOS,
    WIN_POINTS,
    WINS,
    BotGames,
    Comparison,
    Estimate,
    estimate,
)

Of = TypeVar("Of")  # what a statistic is of: BotGames or Comparison

MISSING = "–"  # shown for a mean of nothing

Value = int | float | Estimate | None


@dataclass(frozen=True, slots=True)
class Statistic(Generic[Of]):
    """A statistic.

    ``key``: its name in the JSON file. ``heading``: of its column. ``form``: the format of the value, as for `format`;
    the sign of a percentage is left out. ``compute``: gives the value. ``help``: its definition.
    """

    key: str
    heading: str
    form: str
    compute: Callable[[Of], Value]
    help: str

    def cell(self, row: dict[str, Any]) -> str:
        """The value as the text of a table cell; ``row`` has the values by their keys, see `as_json`."""
        value = row[self.key]
        if isinstance(value, dict):
            interval = _text(value["interval"], self.form.removeprefix("+"))
            return f"{_text(value['mean'], self.form)} ± {interval}"
        return _text(value, self.form)


def _text(value: float | None, form: str) -> str:
    if value is None:
        return MISSING
    if form.endswith("%") and 0 < value < 1:  # what is rare is not impossible, what is likely not certain
        text = format(value, form)
        rounded = {format(0.0, form): "<0.1", format(1.0, form): ">99.9"}
        return rounded.get(text, text.removesuffix("%"))
    return format(value, form).removesuffix("%")


def _placement_share(placement: int) -> Callable[[BotGames], float]:
    return lambda games: float(np.mean(games.placements == placement))


def _mean(count: int, per: int = ROUNDS) -> Callable[[BotGames], float | None]:
    return lambda games: games.mean(count, per)


def _placement(games: BotGames) -> Estimate:
    return estimate(games.fair_placements)


def _final_points(games: BotGames) -> Estimate:
    return estimate(games.fair_points)


def _score(games: BotGames) -> float:
    return games.totals[SCORE] / games.n_games


def _busts(games: BotGames) -> int:
    return int(np.count_nonzero(games.counts[..., SCORE] < 0))


RESULTS: tuple[Statistic[BotGames], ...] = (
    Statistic("games", "games", ",", lambda games: games.n_games, "games played"),
    Statistic("placement", "placement", ".3f", _placement, "mean placement, and the half-width of its interval"),
    Statistic("first", "1st\n%", ".1%", _placement_share(1), "share of games finished first"),
    Statistic("second", "2nd\n%", ".1%", _placement_share(2), "share of games finished second"),
    Statistic("third", "3rd\n%", ".1%", _placement_share(3), "share of games finished third"),
    Statistic("final_points", "final\npoints", "+.1f", _final_points,
              "mean final points in thousands, with uma and oka, and the half-width of its interval"),
    Statistic("score", "score", ",.0f", _score, "mean score at the end of a game"),
    Statistic("busts", "busts", ",", _busts, "games finished with a score below zero"),
)  # fmt: skip
PLAY: tuple[Statistic[BotGames], ...] = (
    Statistic("win_rate", "win\n%", ".1%", _mean(WINS), "share of rounds won"),
    Statistic("tsumo_rate", "tsumo\n%", ".1%", _mean(TSUMOS), "share of rounds won by tsumo"),
    Statistic("deal_in_rate", "deal-in\n%", ".1%", _mean(DEAL_INS),
              "share of rounds in which others won on a tile of this bot (discard, kan, nukidora)"),
    Statistic("riichi_rate", "riichi\n%", ".1%", _mean(RIICHIS), "share of rounds with an accepted riichi"),
    Statistic("call_rate", "call\n%", ".1%", _mean(CALLS), "share of rounds with an open meld"),
    Statistic("draw_rate", "draw\n%", ".1%", _mean(DRAWS), "share of rounds nobody won, abortive draws included"),
    Statistic("win_points", "win\npoints", ",.0f", _mean(WIN_POINTS, per=WINS),
              "mean value of the hands won, without honba and riichi sticks"),
    Statistic("deal_in_points", "deal-in\npoints", ",.0f", _mean(DEAL_IN_POINTS, per=DEAL_INS),
              "mean value, likewise, of what others won on a tile of this bot; a double ron is added up"),
    Statistic("nukidora", "nuki\ndora", ".2f", _mean(NUKIDORAS), "nukidora (Norths set aside) per round"),
)  # fmt: skip


COMPARISON: tuple[Statistic[Comparison], ...] = (
    Statistic("difference", "placement\ndifference", "+.3f", lambda pair: pair.difference,
              "mean placement of the first bot minus that of the second, paired by walls, and the half-width of its "
              "interval; below zero, the first is the better one"),
    Statistic("superiority", "superiority\n%", ".1%", lambda pair: pair.superiority,
              "likelihood of superiority: probability that the first bot is the better one, that is, that the true "
              "difference is below zero (Student's t distribution)"),
)  # fmt: skip


def as_json(games: BotGames) -> dict[str, Any]:
    """All statistics of a bot by their keys; rates are shares of 1."""
    rounds = {"rounds": games.totals[ROUNDS], "luck_ratio": games.luck_ratio}
    return {"bot": games.bot} | _values(RESULTS, games) | rounds | _values(PLAY, games)


def comparison_as_json(pair: Comparison) -> dict[str, Any]:
    """All statistics of two bots by their keys, and whether they are told apart."""
    apart = {"told_apart": pair.told_apart, "more_games": pair.more_games}
    return {"bot": pair.bot, "against": pair.against} | _values(COMPARISON, pair) | apart


def _values(statistics: tuple[Statistic[Of], ...], of: Of) -> dict[str, Any]:
    values = {statistic.key: statistic.compute(of) for statistic in statistics}
    return {key: asdict(value) if isinstance(value, Estimate) else value for key, value in values.items()}


def definitions() -> str:
    """A line for each column: its heading and what it means."""
    every: tuple[Statistic[Any], ...] = (*RESULTS, *PLAY, *COMPARISON)
    headings = {" ".join(each.heading.split()): each.help for each in every}
    width = max(map(len, headings))
    return "\n".join(f"{heading:<{width}}  {text}" for heading, text in headings.items())
