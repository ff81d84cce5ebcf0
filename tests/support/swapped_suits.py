"""Features with pin and sou in their own places again, for tests; see `agents.rl.suits`."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.rl.rows import Rows
from engine.tiles import HONOUR, PIN, SOU


def counts_of_suits(view: Any, seat: int) -> tuple[list[int], list[int]]:
    """What decides which suit comes first, of pin and of sou: tiles in hand and melds, then the hand by rank."""
    p = view["seat"][seat]
    hand = p["hand"].tolist()
    melded = [kind // 9 for kind in p["meld_kind"][: p["n_melds"]].tolist() for _ in range(3)]
    pin, sou = hand[PIN:SOU], hand[SOU:HONOUR]
    return [sum(pin) + melded.count(1), *pin], [sum(sou) + melded.count(2), *sou]


def is_swapped(view: Any, seat: int) -> bool:
    """Whether a network sees sou in the place of pin."""
    pin, sou = counts_of_suits(view, seat)
    return sou > pin


def unswapped(rows: Rows, views: np.ndarray, state_pairs: np.ndarray, action_pairs: np.ndarray) -> Rows:
    """The rows of `views`, with the suits as they are."""
    states, actions = rows.states.copy(), rows.actions.copy()
    for row, k in enumerate(rows.view):
        if is_swapped(views[k], int(views[k]["viewer"])):
            theirs = actions[rows.first[row] : rows.first[row + 1]]
            states[row, state_pairs] = states[row, state_pairs[:, ::-1]]
            theirs[:, action_pairs] = theirs[:, action_pairs[:, ::-1]]
    return rows._replace(states=states, actions=actions)
