"""Positions played by script, and what a bot answers in them."""

from __future__ import annotations

import numpy as np

from agents import registry
from engine import kernels
from engine.actions import ACTION_NAMES, TSUMOGIRI
from engine.table import TABLE
from engine.tiles import MPSZ_NAMES
from tests.support.scenario import Scenario

SCATTERED = "159p159s1234567z"  # a hand that wants nothing soon


def view_of(table: np.ndarray, seat: int) -> np.ndarray:
    """TABLE[1]: what `seat` sees of the one table in `table` uint8[:]."""
    views = np.zeros(1, dtype=TABLE)
    kernels.write_view(table, 0, seat, views.view(np.uint8), 0)
    return views


def answer(bot: str, scenario: Scenario, seat: int) -> str:
    """The name of what `bot` does as `seat`; a discard is the tile in mpsz, as drawn or from the hand."""
    action = int(registry.make(bot).act(view_of(scenario.side.raw, seat))[0])
    if action == TSUMOGIRI:
        return MPSZ_NAMES[scenario.t.drawn]
    return (*MPSZ_NAMES, *ACTION_NAMES[TSUMOGIRI:])[action]
