"""The results of all games of a ladder put together, by bot and by pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from arena.ratings import Rating, rate
from arena.results import Results
from arena.schedule import ROTATIONS
from arena.statistics import BotGames
from engine.table import N_SEATS


@dataclass(frozen=True, slots=True)
class Standings:
    """The bots of a ladder, best first.

    ``bots``: the games of each. ``ratings``, ``decisions_per_second`` (a core): by bot. ``ahead``: of two bots, the
    share of their common games in which the first finished ahead of the second. ``n_pair``: the number of these games,
    of the pair that has fewest, among all and among those without a slow bot.
    """

    bots: list[BotGames]
    ratings: Mapping[str, Rating]
    ahead: Mapping[tuple[str, str], float]
    games_of_pair: Mapping[tuple[str, str], int]
    decisions_per_second: Mapping[str, float]


def standings_of(
    bots: Sequence[str], results: Sequence[Results], decisions_per_second: Mapping[str, float]
) -> Standings:
    """The standings after the finished runs ``results``, each of three different ones of ``bots``."""
    parts: dict[str, list[BotGames]] = defaultdict(list)
    ahead: dict[tuple[str, str], int] = defaultdict(int)
    common: dict[tuple[str, str], int] = defaultdict(int)
    orders, walls = [], []
    for run in results:
        games = dict(zip(run.settings.bots, run.by_bot(), strict=True))
        for bot, of_bot in games.items():
            parts[bot].append(of_bot)
        for pair in permutations(games, 2):
            first, second = (games[bot].placements for bot in pair)
            ahead[pair] += int(np.count_nonzero(first < second))
            common[pair] += first.size
        places = np.stack([of_bot.placements for of_bot in games.values()], axis=-1).reshape(-1, N_SEATS)
        indices = np.array([bots.index(bot) for bot in games])
        orders.append(indices[np.argsort(places, axis=1)])
        walls.append(np.repeat(run.finished, ROTATIONS))
    ratings = dict(zip(bots, rate(np.concatenate(orders), len(bots), np.concatenate(walls)), strict=True))
    return Standings(
        bots=[joined(bot, parts[bot]) for bot in sorted(bots, key=lambda bot: -ratings[bot].points)],
        ratings=ratings,
        ahead={pair: n / common[pair] for pair, n in ahead.items()},
        games_of_pair=dict(common),
        decisions_per_second=decisions_per_second,
    )


def joined(bot: str, parts: Sequence[BotGames]) -> BotGames:
    """The games of a bot in several runs. Intervals over them mean little: runs share their walls."""
    counts, placements, points = zip(*((part.counts, part.placements, part.final_points) for part in parts))
    return BotGames(bot, np.concatenate(counts), np.concatenate(placements), np.concatenate(points))
