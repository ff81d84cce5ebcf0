"""What is known of each player of a contest, and of every two, computed from the orders in which they finished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from engine.contests.estimates import Estimate, mean_by_walls
from engine.contests.observations import DIFFERENCE, PLACE, SHARE
from engine.contests.ratings import SAMPLES, Ratings, rate
from engine.rules import N_SEATS


@dataclass(frozen=True, slots=True)
class Standing:
    """A player: its rating (points; the mean of all is 0), mean placement, and shares of placements."""

    bot: str
    rating: Estimate
    placement: Estimate
    first: float
    second: float
    third: float
    games: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two players, compared in the games that both have played.

    ``ahead``: the share of these in which ``bot`` finished ahead of ``against``. ``placement``: its mean placement
    minus that of the other; below zero, ``bot`` is the better one. ``rating``: its rating minus that of the other, from
    all games of the contest.
    """

    bot: str
    against: str
    games: int
    ahead: Estimate
    placement: Estimate
    rating: Estimate


@dataclass(frozen=True)
class Games:
    """Games by their finishing orders: ``orders`` int[games, 3], numbers of players; ``walls`` int[games]."""

    orders: np.ndarray
    walls: np.ndarray

    def placements(self, n_players: int) -> np.ndarray:
        """The placement of each player, 1 to 3, and 0 where it did not play: int8[games, players]."""
        placements = np.zeros((len(self.orders), n_players), dtype=np.int8)
        np.put_along_axis(placements, self.orders, np.arange(1, N_SEATS + 1, dtype=np.int8)[np.newaxis], axis=1)
        return placements


def standings_of(
    names: Sequence[str], games: Games, samples: int = SAMPLES
) -> tuple[list[Standing], dict[tuple[str, str], Pair]]:
    """The standings, best first, and every two players that have met, by their names in either order.

    ``names``: those that have played. ``samples``: of the bootstrap.
    """
    ratings = rate(len(names), games.orders, games.walls, samples)
    placements = games.placements(len(names))
    standings = [_standing(name, number, ratings, games, placements) for number, name in enumerate(names)]
    pairs = {
        (names[a], names[b]): pair
        for a, b in permutations(range(len(names)), 2)
        if (pair := _pair(names, a, b, ratings, games, placements)) is not None
    }
    return sorted(standings, key=lambda standing: -standing.rating.mean), pairs


def _standing(name: str, number: int, ratings: Ratings, games: Games, placements: np.ndarray) -> Standing:
    """The standing of the player with a number."""
    playing = placements[:, number] > 0
    own = placements[playing, number]
    first, second, third = (float(np.mean(own == place)) for place in range(1, N_SEATS + 1))
    placement = mean_by_walls(own, games.walls[playing], PLACE)
    return Standing(name, ratings.rating(number), placement, first, second, third, len(own))


def _pair(
    names: Sequence[str], bot: int, against: int, ratings: Ratings, games: Games, placements: np.ndarray
) -> Pair | None:
    """Two players compared; None if they have not met."""
    both = (placements[:, bot] > 0) & (placements[:, against] > 0)
    if not both.any():
        return None
    difference, walls = placements[both, bot] - placements[both, against], games.walls[both]
    ahead, placement = mean_by_walls(difference < 0, walls, SHARE), mean_by_walls(difference, walls, DIFFERENCE)
    rating = ratings.difference(bot, against)
    return Pair(names[bot], names[against], len(walls), ahead, placement, rating)
