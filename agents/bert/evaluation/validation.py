"""Metrics of a network on the validation games of a data folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agents.bert.evaluation.metrics import (
    Agreement,
    KindMetrics,
    PlacementMetrics,
    PointsMetrics,
    agreement,
    by_kind,
    cross_entropy,
    likeliest,
    placement_metrics,
    points_metrics,
)
from agents.bert.inference import Predictor
from agents.bert.training.data.dataset import Dataset
from agents.bert.training.data.shards import UNKNOWN_REGRET

BATCH_SIZE = 2048


@dataclass(frozen=True)
class ValidationMetrics:
    """Metrics of some validation samples."""

    games: int
    policy: Agreement
    kinds: list[KindMetrics]
    loss: float  # mean cross-entropy over legal labels, in nats
    regret: float | None  # mean regret of the likeliest label, in placements; None if the data has no action values
    placement: PlacementMetrics
    points: PointsMetrics


def choose_samples(data: Dataset, n: int) -> np.ndarray:
    """int64[at most n]: the indices of random samples, ascending; the same ones every time."""
    return np.sort(np.random.default_rng(0).choice(data.indices, min(n, len(data)), replace=False))


def evaluate_validation(
    predictor: Predictor, data: Dataset, indices: np.ndarray, advance: Callable[[int], None]
) -> ValidationMetrics:
    """Metrics of the samples at `indices` int64[n]; `advance` is called with the size of each batch that is done."""
    columns: list[tuple[np.ndarray, ...]] = []
    for first in range(0, len(indices), BATCH_SIZE):
        batch = data.batch(indices[first : first + BATCH_SIZE])
        lengths = batch.attention_mask.sum(axis=1)
        n_state = lengths - batch.position_ids.max(axis=1)  # position ids count from [SEP], which has 1
        predictions = predictor(batch.input_ids, lengths, n_state)
        columns.append((batch.legal, batch.regret, batch.label, batch.placement, batch.points, *predictions))
        advance(len(lengths))
    legal, regret, label, placement, points, policy, ranks, expected = map(np.concatenate, zip(*columns, strict=True))
    chosen = likeliest(policy, legal)
    games = data.game_ids(indices)
    return ValidationMetrics(
        games=len(np.unique(games)),
        policy=agreement(label, chosen, games),
        kinds=by_kind(legal, label, chosen),
        loss=cross_entropy(policy, legal, label),
        regret=mean_regret(regret, chosen),
        placement=placement_metrics(ranks, placement),
        points=points_metrics(expected, points),
    )


def mean_regret(regret: np.ndarray, chosen: np.ndarray) -> float | None:
    """The mean regret of the labels `chosen` int[n], where unknown regrets count as UNKNOWN_REGRET.

    `regret` is float32[n, N_LABELS], inf where unknown. Samples with fewer than two known labels are left out; None if
    none are left.
    """
    compared = np.isfinite(regret).sum(axis=1) > 1
    if not compared.any():
        return None
    lost = regret[compared, chosen[compared]]
    return float(np.where(np.isinf(lost), UNKNOWN_REGRET, lost).mean(dtype=np.float64))
