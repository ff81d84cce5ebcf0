"""The bot that discards what it draws, and never calls or wins."""

from __future__ import annotations

import numpy as np

from agents.base import DECIDE, compiled_factory
from agents.compiled.menu import is_legal
from engine.actions import PASS, TSUMOGIRI
from engine.compiling import kernel
from engine.table import TABLE


@kernel(DECIDE)
def decide(raw: np.ndarray, n: int, seed: np.uint64, actions: np.ndarray) -> None:
    """Write pass or the discard of the tile drawn for each of the first `n` views of `raw` to `actions`."""
    views = raw.view(TABLE)
    for k in range(n):
        actions[k] = PASS if is_legal(views[k], np.int64(PASS)) else TSUMOGIRI


make = compiled_factory("tsumogiri", decide)
