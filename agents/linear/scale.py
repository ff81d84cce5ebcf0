"""What a point of value is worth in placements: one constant for each set of weights.

Method: least squares without intercept, over the decisions of games of `rule`: the differences of `rule`'s action
values (expected placements) regressed on those of the values in points, within each decision.
"""

from __future__ import annotations

import numpy as np

from agents.base import ActionValues
from agents.linear.data import SelfPlay
from agents.linear.kernels import evaluate_all
from agents.linear.weights import START_UNIT
from agents.registry import make
from engine.actions import N_ACTIONS
from engine.table import raw_bytes

YARDSTICK = "rule"
GAMES = 20
MIN_UNIT = 1e-9
NO_PLAY = -3.0  # placements: `rule` gives far less to a call after which it knows no discard


def placements_per_point(weights: np.ndarray, games: int = GAMES) -> float:
    """The constant for `weights` float64[N_FEATURES]; the same every time."""
    yardstick = make(YARDSTICK)
    assert isinstance(yardstick, ActionValues)
    products = squares = 0.0
    for views, _, _, _ in SelfPlay((YARDSTICK,) * 3, games).views(lambda line: None):
        placements = yardstick.action_values(views).astype(np.float64)
        points = np.empty((len(views), N_ACTIONS), dtype=np.float32)
        evaluate_all(raw_bytes(views), len(views), weights, points)
        both = (placements > NO_PLAY) & np.isfinite(points)
        x, y = (centre(values, both) for values in (points.astype(np.float64), placements))
        products += float((x * y).sum())
        squares += float((x * x).sum())
    return max(products / squares, MIN_UNIT) if squares else START_UNIT


def centre(values: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Return `values` float64[n, m] minus the mean of the valid ones of each row; 0 where not valid."""
    kept = np.where(valid, values, 0.0)
    means = kept.sum(axis=1, keepdims=True) / np.maximum(valid.sum(axis=1, keepdims=True), 1)
    return np.where(valid, values - means, 0.0)
