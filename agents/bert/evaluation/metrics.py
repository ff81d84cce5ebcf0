"""How good predictions are: figures of plain arrays, n positions each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.bert.labels import LABEL_NAMES, N_LABELS

Z_95 = 1.96  # standard errors to either side of a 95 % interval
N_BINS = 10


@dataclass(frozen=True)
class LabelFigures:
    """How often a label was right, how often it was predicted, and how often both."""

    label: str
    true: int
    predicted: int
    right: int

    @property
    def found(self) -> float | None:
        """Share of the true ones that were predicted; None where there are none."""
        return self.right / self.true if self.true else None

    @property
    def precision(self) -> float | None:
        """Share of the predicted ones that were right; None where there are none."""
        return self.right / self.predicted if self.predicted else None


@dataclass(frozen=True)
class Agreement:
    """How often predicted labels are the true ones. `labels` leaves out those that never come up."""

    positions: int
    accuracy: float
    interval: float  # half the width of the 95 % interval of independent positions
    labels: list[LabelFigures]


@dataclass(frozen=True)
class Bin:
    """Predictions of about the same size: how many, their mean, and the mean of what came of them."""

    number: int  # 0 has the lowest
    n: int
    predicted: float
    real: float


@dataclass(frozen=True)
class Calibration:
    """How far a probability can be taken at its word."""

    bins: list[Bin]
    error: float  # expected calibration error: mean distance of predicted and real, bins weighted by their size


@dataclass(frozen=True)
class PlacementFigures:
    """The probabilities of finishing first, second and third."""

    places: list[Calibration]
    log_loss: float
    base_log_loss: float  # of always predicting how often each came true in these positions


@dataclass(frozen=True)
class PointsFigures:
    """The expected final points, in thousands."""

    deciles: list[Bin]
    error: float  # root mean square
    base_error: float  # of always predicting the mean of these positions


def agreement(true: np.ndarray, predicted: np.ndarray) -> Agreement:
    """Compare labels int[n]. Raises ValueError where there are none."""
    if not len(true):
        raise ValueError("no positions to compare labels of")
    right = np.bincount(true[true == predicted], minlength=N_LABELS).tolist()
    n_true, n_predicted = (np.bincount(labels, minlength=N_LABELS).tolist() for labels in (true, predicted))
    rows = map(LabelFigures, LABEL_NAMES, n_true, n_predicted, right)
    accuracy = sum(right) / len(true)
    interval = Z_95 * (accuracy * (1 - accuracy) / len(true)) ** 0.5
    return Agreement(len(true), accuracy, interval, [row for row in rows if row.true or row.predicted])


def choices(logits: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """int64[n]: the legal label of the highest logit; float[n, N_LABELS], bool[n, N_LABELS]."""
    return np.where(legal, logits, -np.inf).argmax(axis=1)


def cross_entropy(logits: np.ndarray, legal: np.ndarray, label: np.ndarray) -> float:
    """Mean of -log of the probability of the true label int[n], probabilities shared out among legal labels."""
    masked = np.where(legal, logits, -np.inf).astype(np.float64)
    masked -= masked.max(axis=1, keepdims=True)
    return mean(np.log(np.exp(masked).sum(axis=1)) - masked[np.arange(len(label)), label])


def calibration(probability: np.ndarray, happened: np.ndarray) -> Calibration:
    """Probabilities float[n] in N_BINS bins of equal width, beside how often the event came about, bool[n]."""
    number = np.minimum((probability * N_BINS).astype(np.int64), N_BINS - 1)
    bins = binned(number, probability, happened)
    return Calibration(bins, sum(each.n * abs(each.predicted - each.real) for each in bins) / len(probability))


def binned(number: np.ndarray, predicted: np.ndarray, real: np.ndarray) -> list[Bin]:
    """The means of float[n] and float[n] by bin number int[n], empty bins left out."""
    bins = []
    for each in np.unique(number).tolist():
        mask = number == each
        bins.append(Bin(each, int(mask.sum()), mean(predicted[mask]), mean(real[mask])))
    return bins


def placement_figures(probability: np.ndarray, placement: np.ndarray) -> PlacementFigures:
    """Probabilities float[n, 3] of finishing first, second, third, and where the player did finish, int[n] 0-2."""
    n, n_places = probability.shape
    rates = np.bincount(placement, minlength=n_places) / n
    given = probability[np.arange(n), placement]
    return PlacementFigures(
        places=[calibration(probability[:, place], placement == place) for place in range(n_places)],
        log_loss=-mean(np.log(np.maximum(given, np.finfo(np.float32).tiny))),
        base_log_loss=-mean(np.log(rates[placement])),
    )


def points_figures(predicted: np.ndarray, real: np.ndarray) -> PointsFigures:
    """Expected and real final points in thousands, float[n] each."""
    rank = np.argsort(np.argsort(predicted, kind="stable"), kind="stable")
    return PointsFigures(
        deciles=binned(rank * N_BINS // len(rank), predicted, real),
        error=root_mean_square(predicted - real),
        base_error=root_mean_square(real - mean(real)),
    )


def mean(values: np.ndarray) -> float:
    """Of float[n] or bool[n], added up in double precision."""
    return float(values.mean(dtype=np.float64))


def root_mean_square(errors: np.ndarray) -> float:
    """Of float[n]."""
    return mean(np.square(errors)) ** 0.5
