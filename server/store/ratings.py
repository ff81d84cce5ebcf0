"""The change of the players' ratings by a game."""

from __future__ import annotations

from collections.abc import Sequence

from openskill.models import PlackettLuce

from server.store.models import Rating

_model = PlackettLuce()


def _rating(mu: float, sigma: float) -> Rating:
    return Rating(mu=mu, sigma=sigma, ordinal=mu - 3 * sigma)


START = _rating(_model.mu, _model.sigma)  # before the first game


def rate(ratings: Sequence[Rating], ranks: Sequence[int]) -> list[Rating]:
    """The ratings of three different players after a game that they finished at `ranks`."""
    teams = [[_model.rating(mu=rating.mu, sigma=rating.sigma)] for rating in ratings]
    return [_rating(player.mu, player.sigma) for (player,) in _model.rate(teams, ranks=[float(rank) for rank in ranks])]
