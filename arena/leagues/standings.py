"""The standings of a league, computed from its games: ratings, placements, and every two bots compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import sqrt

import numpy as np

from arena.bot_games import N_COUNTS, Estimate
from arena.leagues.games import LeagueSettings, Meeting
from arena.leagues.league import League, Pair
from arena.leagues.standing import Standing
from arena.observations import DIFFERENCE, PLACE, SHARE
from arena.ratings import SAMPLES, Ratings, rate
from arena.schedule import ROTATIONS
from engine.common import student
from engine.table import N_SEATS


@dataclass(frozen=True)
class Games:
    """Games by their finishing orders: ``orders`` int[games, 3], numbers of bots; ``walls`` int[games]."""

    orders: np.ndarray
    walls: np.ndarray

    def placements(self, n_bots: int) -> np.ndarray:
        """The placement of each bot, 1 to 3, and 0 where it did not play: int8[games, bots]."""
        placements = np.zeros((len(self.orders), n_bots), dtype=np.int8)
        np.put_along_axis(placements, self.orders, np.arange(1, N_SEATS + 1, dtype=np.int8)[np.newaxis], axis=1)
        return placements


def league_of(
    settings: LeagueSettings, bots: Sequence[str], meetings: Sequence[Meeting], samples: int = SAMPLES
) -> League:
    """The standings after the games of ``meetings``.

    ``bots``: all that play in them; those without games are left out. ``samples``: of the bootstrap.
    """
    n_games = ROTATIONS * sum(len(meeting.orders) for meeting in meetings)
    failed = failed_bots(meetings)
    counted = [meeting for meeting in meetings if failed.isdisjoint(meeting.bots)]
    played = {bot for meeting in counted for bot in meeting.bots}
    names = [bot for bot in bots if bot in played]
    if not names:
        return League(settings, [], {}, [bot for bot in bots if bot in failed], n_games)
    games = games_of(names, counted)
    ratings = rate(len(names), games.orders, games.walls, samples)
    placements = games.placements(len(names))
    standings = [
        standing_of(name, number, ratings, games, placements, totals_of(name, counted))
        for number, name in enumerate(names)
    ]
    pairs = {
        (names[a], names[b]): pair
        for a, b in permutations(range(len(names)), 2)
        if (pair := pair_of(names, a, b, ratings, games, placements)) is not None
    }
    best_first = sorted(standings, key=lambda standing: -standing.rating.mean)
    return League(settings, best_first, pairs, [bot for bot in bots if bot in failed], n_games)


def failed_bots(meetings: Sequence[Meeting]) -> set[str]:
    """The external bots that failed in every game."""
    games, faults = dict[str, int](), dict[str, int]()
    for meeting in meetings:
        for bot, n_faults in zip(meeting.bots, meeting.faults.tolist()):
            games[bot] = games.get(bot, 0) + ROTATIONS * len(meeting.orders)
            faults[bot] = faults.get(bot, 0) + n_faults
    return {bot for bot, n in games.items() if n and faults[bot] == n}


def games_of(names: Sequence[str], meetings: Sequence[Meeting]) -> Games:
    """All games, by the numbers of the bots in ``names``."""
    number = {name: index for index, name in enumerate(names)}
    orders, walls = [], []
    for meeting in meetings:
        of_match = np.array([number[bot] for bot in meeting.bots])
        orders.append(of_match[np.stack(list(meeting.orders.values()))].reshape(-1, N_SEATS))
        walls.append(np.repeat(list(meeting.orders), ROTATIONS))
    return Games(np.concatenate(orders), np.concatenate(walls))


def totals_of(bot: str, meetings: Sequence[Meeting]) -> np.ndarray:
    """The sums of the counts of a bot: int64[N_COUNTS]."""
    totals = np.zeros(N_COUNTS, np.int64)
    for meeting in meetings:
        if bot in meeting.bots:
            totals += meeting.totals[meeting.bots.index(bot)]
    return totals


def standing_of(
    name: str, number: int, ratings: Ratings, games: Games, placements: np.ndarray, totals: np.ndarray
) -> Standing:
    """The standing of the bot with a number."""
    playing = placements[:, number] > 0
    own = placements[playing, number]
    first, second, third = (float(np.mean(own == place)) for place in range(1, N_SEATS + 1))
    placement = mean_by_walls(own, games.walls[playing], PLACE)
    return Standing(name, ratings.rating(number), placement, first, second, third, len(own), totals)


def pair_of(
    names: Sequence[str], bot: int, against: int, ratings: Ratings, games: Games, placements: np.ndarray
) -> Pair | None:
    """Two bots compared; None if they have not met."""
    both = (placements[:, bot] > 0) & (placements[:, against] > 0)
    if not both.any():
        return None
    difference, walls = placements[both, bot] - placements[both, against], games.walls[both]
    ahead, placement = mean_by_walls(difference < 0, walls, SHARE), mean_by_walls(difference, walls, DIFFERENCE)
    rating = ratings.difference(bot, against)
    return Pair(names[bot], names[against], len(walls), ahead, placement, rating)


def mean_by_walls(values: np.ndarray, walls: np.ndarray, off: float) -> Estimate:
    """The mean of ``values``, [games], with its 95 % confidence interval; all games on a wall are one observation.

    As `arena.bot_games.estimate`, for walls with different numbers of games.
    """
    mean = float(values.mean())
    index, number = np.unique(walls, return_inverse=True)
    n_walls = len(index)
    if n_walls < 2:
        return Estimate(mean, None)
    residuals = np.bincount(number, weights=values - mean)
    error = sqrt(n_walls / (n_walls - 1) * float(residuals @ residuals)) / len(values)
    return Estimate(mean, student.of_error(max(error, student.least_error(n_walls, off)), n_walls))
