"""The results of all games of a ladder put together, by bot and by pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from arena.ratings import rate
from arena.series import Series
from arena.statistics import BotGames, Estimate


@dataclass(frozen=True, slots=True)
class Standings:
    """The bots of a ladder, best first.

    ``bots``: all games of each. ``ratings`` and ``decisions_per_second`` (of one core): by bot. ``ahead``: of two bots,
    the share of their common games in which the first finished ahead of the second. ``common``: the number of these.
    """

    bots: list[BotGames]
    ratings: Mapping[str, Estimate]
    ahead: Mapping[tuple[str, str], float]
    common: Mapping[tuple[str, str], int]
    decisions_per_second: Mapping[str, float]


def standings_of(bots: Sequence[str], series: Series, decisions_per_second: Mapping[str, float]) -> Standings:
    """The standings after a finished series of matches, each of three different ones of ``bots``."""
    parts: dict[str, list[BotGames]] = defaultdict(list)
    ahead: dict[tuple[str, str], int] = defaultdict(int)
    common: dict[tuple[str, str], int] = defaultdict(int)
    for results in series.results:
        games = dict(zip(results.settings.bots, results.by_bot(), strict=True))
        for bot, of_bot in games.items():
            parts[bot].append(of_bot)
        for pair in permutations(games, 2):
            first, second = (games[bot].placements for bot in pair)
            ahead[pair] += int(np.count_nonzero(first < second))
            common[pair] += first.size
    rated = rate(len(bots), *series.orders([[bots.index(bot) for bot in match.bots] for match in series.matches]))
    ratings = {bot: rated.rating(number) for number, bot in enumerate(bots)}
    return Standings(
        bots=[joined(bot, parts[bot]) for bot in sorted(bots, key=lambda bot: -ratings[bot].mean)],
        ratings=ratings,
        ahead={pair: n / common[pair] for pair, n in ahead.items()},
        common=dict(common),
        decisions_per_second=decisions_per_second,
    )


def joined(bot: str, parts: Sequence[BotGames]) -> BotGames:
    """The games of a bot in several matches. Intervals over them mean little: matches share their walls."""
    counts, placements, points = zip(*((part.counts, part.placements, part.final_points) for part in parts))
    return BotGames(bot, np.concatenate(counts), np.concatenate(placements), np.concatenate(points))
