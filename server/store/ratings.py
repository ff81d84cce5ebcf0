"""How a game changes the ratings of its players."""

from __future__ import annotations

from collections.abc import Sequence

from openskill.models import PlackettLuce

from server.store.results import Rating

_model = PlackettLuce()


def _rating(mu: float, sigma: float) -> Rating:
    return Rating(mu, sigma, mu - 3 * sigma)


START = _rating(_model.mu, _model.sigma)  # of a player who has not played


def rate(ratings: Sequence[Rating], ranks: Sequence[int]) -> list[Rating]:
    """The ratings after a game of three different players, of whom the first came in at rank `ranks[0]`, and so on."""
    teams = [[_model.rating(mu=rating.mu, sigma=rating.sigma)] for rating in ratings]
    return [_rating(player.mu, player.sigma) for (player,) in _model.rate(teams, ranks=[float(rank) for rank in ranks])]
