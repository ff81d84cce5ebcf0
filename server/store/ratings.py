"""The change of the players' ratings by a game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean as mean

from openskill.models import PlackettLuce

from server.store.models import Rating

_model = PlackettLuce()


def _rating(mu: float, sigma: float) -> Rating:
    return Rating(mu=mu, sigma=sigma, ordinal=mu - 3 * sigma)


START = _rating(_model.mu, _model.sigma)  # before the first game


def rate(ratings: Mapping[str, Rating], names: Sequence[str], ranks: Sequence[int]) -> dict[str, Rating]:
    """The ratings of the players after a game; `names` had the three seats and finished at `ranks`.

    A player who had two seats gets the mean of the two new ratings.
    """
    teams = [[_model.rating(mu=ratings[name].mu, sigma=ratings[name].sigma)] for name in names]
    rated = _model.rate(teams, ranks=[float(rank) for rank in ranks])
    new = {name: [player for other, (player,) in zip(names, rated, strict=True) if other == name] for name in names}
    return {
        name: _rating(mean(player.mu for player in found), mean(player.sigma for player in found))
        for name, found in new.items()
    }
