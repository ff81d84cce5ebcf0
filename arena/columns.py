"""The statistics of a bot: one row each, from which the printed tables, the JSON file and ``--help`` follow.

To add a statistic, add a row; if it needs a new count, see `arena.statistics`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

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
    Estimate,
    estimate,
)

MISSING = "–"  # shown for a mean of nothing

Value = int | float | Estimate | None


@dataclass(frozen=True, slots=True)
class Statistic:
    """A statistic: its key in the JSON file, the heading of its column, its definition, and how to compute it.

    ``form``: the format of the value, as for `format`; a value in per cent is printed without the sign.
    """

    key: str
    heading: str
    help: str
    form: str
    compute: Callable[[BotGames], Value]

    def cell(self, games: BotGames) -> str:
        """The value as the text of a table cell."""
        value = self.compute(games)
        if isinstance(value, Estimate):
            interval = _text(value.interval, self.form.removeprefix("+"))
            return f"{_text(value.mean, self.form)} ± {interval}"
        return _text(value, self.form)


def _text(value: float | None, form: str) -> str:
    return MISSING if value is None else format(value, form).removesuffix("%")


def _share(placement: int) -> Callable[[BotGames], float]:
    return lambda games: float(np.mean(games.placements == placement))


def _mean(count: int, per: int = ROUNDS) -> Callable[[BotGames], float | None]:
    return lambda games: games.mean(count, per)


def _busts(games: BotGames) -> int:
    return int(np.count_nonzero(games.counts[..., SCORE] < 0))


RESULTS = (
    Statistic("games", "games", "games played", ",", lambda games: games.n_games),
    Statistic(
        "placement",
        "placement",
        "mean placement ± half-width of its 95 % interval, from the means of each wall's rotations",
        ".3f",
        lambda games: estimate(games.placements),
    ),
    Statistic("first", "1st\n%", "share of games finished first", ".1%", _share(1)),
    Statistic("second", "2nd\n%", "share of games finished second", ".1%", _share(2)),
    Statistic("third", "3rd\n%", "share of games finished third", ".1%", _share(3)),
    Statistic(
        "final_points",
        "final\npoints",
        "mean final points in thousands, with uma and oka, ± half-width of the 95 % interval",
        "+.1f",
        lambda games: estimate(games.final_points),
    ),
    Statistic(
        "score", "score", "mean score at the end of a game", ",.0f", lambda games: games.totals[SCORE] / games.n_games
    ),
    Statistic("busts", "busts", "games finished with a score below zero", ",", _busts),
)
PLAY = (
    Statistic("win_rate", "win\n%", "share of rounds won", ".1%", _mean(WINS)),
    Statistic("tsumo_rate", "tsumo\n%", "share of rounds won by tsumo", ".1%", _mean(TSUMOS)),
    Statistic(
        "deal_in_rate",
        "deal-in\n%",
        "share of rounds in which others won on a tile of this bot (discard, kan, nukidora); a double ron is one",
        ".1%",
        _mean(DEAL_INS),
    ),
    Statistic("riichi_rate", "riichi\n%", "share of rounds with an accepted riichi", ".1%", _mean(RIICHIS)),
    Statistic("call_rate", "call\n%", "share of rounds with an open meld", ".1%", _mean(CALLS)),
    Statistic("draw_rate", "draw\n%", "share of rounds that nobody won, abortive draws included", ".1%", _mean(DRAWS)),
    Statistic(
        "win_points", "win\npoints", "mean value of the hands won, without honba and riichi sticks", ",.0f",
        _mean(WIN_POINTS, per=WINS),
    ),
    Statistic(
        "deal_in_points",
        "deal-in\npoints",
        "mean value of the hands won on a tile of this bot, likewise; the hands of a double ron are added up",
        ",.0f",
        _mean(DEAL_IN_POINTS, per=DEAL_INS),
    ),
    Statistic("nukidora", "nuki\ndora", "nukidora (Norths set aside) per round", ".2f", _mean(NUKIDORAS)),
)  # fmt: skip


def as_json(games: BotGames) -> dict[str, Any]:
    """All statistics of a bot by their keys; rates are shares of 1."""
    rounds = {"rounds": games.totals[ROUNDS]}
    return {"bot": games.bot} | _values(RESULTS, games) | rounds | _values(PLAY, games)


def _values(statistics: tuple[Statistic, ...], games: BotGames) -> dict[str, Any]:
    values = {statistic.key: statistic.compute(games) for statistic in statistics}
    return {key: asdict(value) if isinstance(value, Estimate) else value for key, value in values.items()}


def definitions() -> str:
    """A line for each column: its heading and what it means."""
    headings = {" ".join(each.heading.split()): each.help for each in (*RESULTS, *PLAY)}
    return "\n".join(f"{heading:<15}  {text}" for heading, text in headings.items())
