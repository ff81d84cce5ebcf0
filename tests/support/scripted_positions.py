"""What a bot does in positions set up by a test."""

from __future__ import annotations

import numpy as np

from agents import registry
from engine import table_kernels
from engine.actions import ACTION_NAMES, TSUMOGIRI
from engine.table import TABLE
from engine.tiles import MPSZ_NAMES
from tests.support.scenario import Scenario

ATTACKER = "234567p2267845s"  # tenpai, waits for 3s and 6s
SCATTERED = "159p159s1234567z"  # a hand far from tenpai that calls nothing


def view_of(table: np.ndarray, seat: int) -> np.ndarray:
    """The view of `seat`, TABLE[1], at the one table in `table` uint8[:]."""
    views = np.zeros(1, dtype=TABLE)
    table_kernels.write_view(table, 0, seat, views.view(np.uint8), 0)
    return views


def answer(bot: str, scenario: Scenario, seat: int) -> str:
    """The name of the action of `bot` as `seat`; a discard is named by its tile in mpsz, tsumogiri or not."""
    action = int(registry.make(bot).act(view_of(scenario.side.raw, seat))[0])
    if action == TSUMOGIRI:
        return MPSZ_NAMES[scenario.t.drawn]
    return (*MPSZ_NAMES, *ACTION_NAMES[TSUMOGIRI:])[action]
