"""The bot that discards what it draws and takes nothing."""

from __future__ import annotations

import numpy as np

from agents.base import compiled
from agents.compiled.menu import may
from engine.actions import PASS, TSUMOGIRI
from engine.compiling import kernel
from engine.table import TABLE


@kernel
def decide(raw: np.ndarray, n: int, seed: np.uint64, actions: np.ndarray) -> None:
    """See `agents.base.Decide`."""
    views = raw.view(TABLE)
    for k in range(n):
        actions[k] = PASS if may(views[k], np.int64(PASS)) else TSUMOGIRI


make = compiled("tsumogiri", decide)
