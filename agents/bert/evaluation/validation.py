"""How good a network is on the games of a data folder that are held out of training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agents.bert.evaluation.metrics import (
    Agreement,
    PlacementFigures,
    PointsFigures,
    agreement,
    choices,
    cross_entropy,
    placement_figures,
    points_figures,
)
from agents.bert.inference import Predictor
from agents.bert.training.data.dataset import Dataset
from agents.bert.training.data.shards import NOT_THOUGHT_OF

BATCH = 2048  # positions predicted at once


@dataclass(frozen=True)
class HeldOut:
    """Figures of positions of some games."""

    games: int
    policy: Agreement
    loss: float  # mean cross-entropy over legal labels
    regret: (
        float | None
    )  # places that a choice loses on average in the eyes of a teacher; None without one that weighed
    placement: PlacementFigures
    points: PointsFigures


def choose(data: Dataset, n: int) -> np.ndarray:
    """The places of at most `n` positions, ascending, chosen by chance, but the same ones every time."""
    return np.sort(np.random.default_rng(0).choice(data.places, min(n, len(data)), replace=False))


def evaluate_held_out(net: Predictor, data: Dataset, places: np.ndarray, advance: Callable[[int], None]) -> HeldOut:
    """Figures of the positions at `places` of games held out; `advance` is told how many more have been looked at."""
    columns: list[tuple[np.ndarray, ...]] = []
    for first in range(0, len(places), BATCH):
        batch = data.batch(places[first : first + BATCH])
        lengths = batch.mask.sum(axis=1)
        n_state = lengths - batch.positions.max(axis=1)  # positions count from [SEP], which has 1
        said = net(batch.ids, lengths, n_state)
        columns.append((batch.legal, batch.regret, batch.label, batch.placement, batch.points, *said))
        advance(len(lengths))
    legal, regret, label, placement, points, policy, place, expected = map(np.concatenate, zip(*columns, strict=True))
    chosen = choices(policy, legal)
    return HeldOut(
        games=len(np.unique(data.game_ids(places))),
        policy=agreement(label, chosen),
        loss=cross_entropy(policy, legal, label),
        regret=mean_regret(regret, chosen),
        placement=placement_figures(place, placement),
        points=points_figures(expected, points),
    )


def mean_regret(regret: np.ndarray, chosen: np.ndarray) -> float | None:
    """The mean regret of the labels `chosen` int[n]; those that nobody thought of count as NOT_THOUGHT_OF.

    `regret` float32[n, N_LABELS]; positions in which no second label was weighed are left out.
    """
    weighed = np.isfinite(regret).sum(axis=1) > 1
    if not weighed.any():
        return None
    lost = regret[weighed, chosen[weighed]]
    return float(np.where(np.isinf(lost), NOT_THOUGHT_OF, lost).mean(dtype=np.float64))
