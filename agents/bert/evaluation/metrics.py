"""Metrics of predictions, as functions of arrays with one entry a sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.bert.labels import (
    ANKAN_LABEL,
    DAIMINKAN_LABEL,
    KAKAN_LABEL,
    LABEL_NAMES,
    N_LABELS,
    NUKIDORA_LABEL,
    PON_LABEL,
    REACH_LABEL,
)
from engine.common.student import interval_of_share
from engine.tiles import N_TILES

N_BINS = 10


@dataclass(frozen=True)
class LabelMetrics:
    """How often a label was played, predicted, and both."""

    label: str
    played: int
    predicted: int
    correct: int

    @property
    def recall(self) -> float | None:
        """Share of the samples with this label in which it was predicted; None if there are none."""
        return self.correct / self.played if self.played else None

    @property
    def precision(self) -> float | None:
        """Share of the predictions of this label that were correct; None if there are none."""
        return self.correct / self.predicted if self.predicted else None


@dataclass(frozen=True)
class Agreement:
    """How often the predicted label is the true one. `labels` leaves out those that never occur."""

    samples: int
    accuracy: float
    interval: float | None  # half the width of the 95 % interval, by games; None for a single game
    labels: list[LabelMetrics]


@dataclass(frozen=True)
class Bin:
    """Samples with similar predictions: their number, mean prediction and mean outcome."""

    index: int  # 0 has the lowest predictions
    n: int
    predicted: float
    actual: float


@dataclass(frozen=True)
class Calibration:
    """How well a predicted probability agrees with how often the event happened."""

    bins: list[Bin]
    error: float  # expected calibration error: mean of |predicted - actual| over bins, weighted by their size


@dataclass(frozen=True)
class PlacementMetrics:
    """Of the predicted probabilities of finishing first, second and third."""

    ranks: list[Calibration]
    log_loss: float
    base_log_loss: float  # of always predicting the frequency of each rank among these samples


@dataclass(frozen=True)
class PointsMetrics:
    """Of the predicted final points, in thousands."""

    deciles: list[Bin]
    error: float  # root mean square error
    base_error: float  # of always predicting the mean of these samples


# Decisions by kind: the labels of one answer each. A discard counts where a tile was discarded, the others wherever one
# of their labels was legal.
DISCARD = "discard"
KINDS: dict[str, tuple[int, ...]] = {
    "pon": (PON_LABEL,),
    "kan": (DAIMINKAN_LABEL, ANKAN_LABEL, KAKAN_LABEL),
    "riichi": (REACH_LABEL,),
    "nukidora": (NUKIDORA_LABEL,),
}


@dataclass(frozen=True)
class KindMetrics:
    """How often a kind of decision agrees with the true label: which tile, or whether to call."""

    kind: str
    samples: int
    accuracy: float | None  # None without samples


def by_kind(legal: np.ndarray, true: np.ndarray, predicted: np.ndarray) -> list[KindMetrics]:
    """The metrics of each kind from bool[n, N_LABELS] and two int[n] of labels."""
    right = {DISCARD: (true == predicted)[true < N_TILES]}
    for kind, labels in KINDS.items():
        asked = legal[:, labels].any(axis=1)
        right[kind] = (np.isin(true, labels) == np.isin(predicted, labels))[asked]
    return [KindMetrics(kind, len(each), mean(each) if len(each) else None) for kind, each in right.items()]


def agreement(true: np.ndarray, predicted: np.ndarray, games: np.ndarray) -> Agreement:
    """Compare labels int[n] of the games int[n]. Raises ValueError for n = 0."""
    if not len(true):
        raise ValueError("no samples to compare labels of")
    correct = np.bincount(true[true == predicted], minlength=N_LABELS).tolist()
    n_true, n_predicted = (np.bincount(labels, minlength=N_LABELS).tolist() for labels in (true, predicted))
    rows = map(LabelMetrics, LABEL_NAMES, n_true, n_predicted, correct)
    shown = [row for row in rows if row.played or row.predicted]
    return Agreement(len(true), sum(correct) / len(true), interval_of_share(true == predicted, games), shown)


def likeliest(logits: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """int64[n]: the legal label with the highest of `logits` float[n, N_LABELS]; `legal` is bool[n, N_LABELS]."""
    return np.where(legal, logits, -np.inf).argmax(axis=1)


def cross_entropy(logits: np.ndarray, legal: np.ndarray, label: np.ndarray) -> float:
    """Mean cross-entropy in nats with the true `label` int[n], of the softmax over legal labels; see `likeliest`."""
    masked = np.where(legal, logits, -np.inf).astype(np.float64)
    masked -= masked.max(axis=1, keepdims=True)
    return mean(np.log(np.exp(masked).sum(axis=1)) - masked[np.arange(len(label)), label])


def calibration(probability: np.ndarray, happened: np.ndarray) -> Calibration:
    """Calibration of `probability` float[n] for an event that `happened` bool[n], in N_BINS bins of equal width."""
    index = np.minimum((probability * N_BINS).astype(np.int64), N_BINS - 1)
    bins = binned(index, probability, happened)
    return Calibration(bins, sum(each.n * abs(each.predicted - each.actual) for each in bins) / len(probability))


def binned(index: np.ndarray, predicted: np.ndarray, actual: np.ndarray) -> list[Bin]:
    """The means of `predicted` and `actual` float[n] by bin index int[n], without empty bins."""
    bins = []
    for each in np.unique(index).tolist():
        inside = index == each
        bins.append(Bin(each, int(inside.sum()), mean(predicted[inside]), mean(actual[inside])))
    return bins


def placement_metrics(probability: np.ndarray, placement: np.ndarray) -> PlacementMetrics:
    """`probability` float[n, 3] of finishing first, second and third; `placement` int[n] is 0 for the first."""
    n, n_ranks = probability.shape
    frequency = np.bincount(placement, minlength=n_ranks) / n
    of_actual = probability[np.arange(n), placement]
    return PlacementMetrics(
        ranks=[calibration(probability[:, rank], placement == rank) for rank in range(n_ranks)],
        log_loss=-mean(np.log(np.maximum(of_actual, np.finfo(np.float32).tiny))),
        base_log_loss=-mean(np.log(frequency[placement])),
    )


def points_metrics(predicted: np.ndarray, actual: np.ndarray) -> PointsMetrics:
    """Predicted and actual final points in thousands, float[n] each."""
    order = np.argsort(np.argsort(predicted, kind="stable"), kind="stable")
    return PointsMetrics(
        deciles=binned(order * N_BINS // len(order), predicted, actual),
        error=root_mean_square(predicted - actual),
        base_error=root_mean_square(actual - mean(actual)),
    )


def mean(values: np.ndarray) -> float:
    """The mean of float[n] or bool[n], summed in double precision."""
    return float(values.mean(dtype=np.float64))


def root_mean_square(errors: np.ndarray) -> float:
    """The root mean square of float[n]."""
    return mean(np.square(errors)) ** 0.5
