"""The critic of discards: what a discard is worth, judged from the whole table just after it.

A perceptron with ReLU. Its first layer is the sum of products with the features of the position, of the discard (those
of `residual`), and of the table just after the discard, hidden hands and wall included. In sampled worlds only the last
change, so that a discard costs one forward pass of a small network in each world, and no playout.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from agents.compiled.dora import fill_dora
from agents.residual.features import FEATURES
from agents.rl.oracle import LINE_UP_AT, hidden_features
from agents.rl.policy import add_product, rectify
from agents.rl.rows import encode
from agents.rl.suits import sou_first
from agents.search.tree import SEARCH
from agents.search.worlds import next_world
from engine.actions import RON
from engine.compiling import inner, kernel
from engine.kernels import is_legal
from engine.table import N_SEATS, ROUND_OVER, TABLE
from engine.tiles import N_KINDS
from engine.turn import act

RON_AT = LINE_UP_AT  # whether each opponent may win on the discard
OVER_AT = RON_AT + N_SEATS - 1  # whether the round is over
N_AFTER = OVER_AT + 1
TABLE_SIZE = TABLE.itemsize


@inner
def after_features(t: np.record, seat: int, sou: bool, dora: np.ndarray, out: np.ndarray) -> None:
    """Write what the critic sees of the whole table `t` just after a discard of `seat` into `out` float32[N_AFTER].

    `sou`: whether sou takes the place of pin; so it is in the other features, which are those before the discard.
    """
    out[:] = 0
    fill_dora(t, dora)
    hidden_features(t, seat, sou, dora, out)
    for step in range(1, N_SEATS):
        out[RON_AT + step - 1] = is_legal(t, (seat + step) % N_SEATS, np.int64(RON))
    out[OVER_AT] = t.phase >= ROUND_OVER


@kernel("uint8[::1], int32[::1], int8[::1], int64[::1], float32[:, ::1]")
def write_after(raw: np.ndarray, tables: np.ndarray, seats: np.ndarray, actions: np.ndarray, out: np.ndarray) -> None:
    """Write the features after each of `actions` int64[n] into `out` float32[n, N_AFTER]; `raw` does not change.

    `seats` int8[n] play them at the whole tables `tables` int32[n] of `raw`.
    """
    records = raw.view(TABLE)
    spare = np.zeros(TABLE_SIZE, dtype=np.uint8).view(TABLE)
    dora = np.empty(N_KINDS, dtype=np.int64)
    for k in range(len(actions)):
        spare[0], seat = records[tables[k]], np.int64(seats[k])
        sou = sou_first(spare[0], seat)
        act(spare[0], seat, actions[k])
        after_features(spare[0], seat, sou, dora, out[k])


@kernel(
    "uint8[::1], uint8[::1], int64, float32[:, ::1], float32[:, ::1], float32[:, ::1], float32[::1], float32[::1], "
    "float64, float64, float64[:, :, ::1]"
)
def judge(
    search: np.ndarray,
    tables: np.ndarray,
    worlds: int,
    inputs: np.ndarray,
    after_weights: np.ndarray,
    hidden_weights: np.ndarray,
    hidden_bias: np.ndarray,
    value_weights: np.ndarray,
    prior_weight: float,
    trust: float,
    shanten_weights: np.ndarray,
) -> None:
    """Value the candidates of a search that has begun, all discards, by the critic in `worlds` worlds.

    `inputs` float32[candidates, joint]: what position and discard add to the first layer, and its bias.
    """
    s, records = search.view(SEARCH)[0], tables.view(TABLE)
    s.prior_weight, s.trust = prior_weight, trust
    seat = np.int64(records[0].viewer)
    sou = sou_first(records[0], seat)
    dora = np.empty(N_KINDS, dtype=np.int64)
    after = np.empty(N_AFTER, dtype=np.float32)
    joint = np.empty(inputs.shape[1], dtype=np.float32)
    hidden = np.empty(len(hidden_bias), dtype=np.float32)
    for _ in range(worlds):
        next_world(records[0], s.sampler, shanten_weights)
        for c in range(s.n):
            records[1] = records[0]
            act(records[1], seat, np.int64(s.action[c]))
            after_features(records[1], seat, sou, dora, after)
            joint[:], hidden[:] = inputs[c], hidden_bias
            add_product(after, after_weights, joint)
            rectify(joint)
            add_product(joint, hidden_weights, hidden)
            rectify(hidden)
            for j in range(len(hidden)):
                s.sum[c] += hidden[j] * value_weights[j]
        s.worlds += 1


class Critic:
    """The critic with its weights."""

    def __init__(self, path: Path) -> None:
        """Raises OSError or ValueError for a bad file."""
        with np.load(path) as archive:
            self._w = {name: archive[name] for name in archive}

    def inputs(self, views: np.ndarray, k: int, actions: np.ndarray) -> np.ndarray | None:
        """What the view `k` of `views` and each of `actions` add to the first layer: float32[n, joint].

        None if the features of an action are not known: `residual` does not consider it.
        """
        _, rows = encode(FEATURES, views[k : k + 1])
        order = np.argsort(rows.numbers)
        at = np.searchsorted(rows.numbers, actions, sorter=order)
        if len(rows.view) == 0 or (at == len(order)).any() or (rows.numbers[order[at]] != actions).any():
            return None
        w = self._w
        found: np.ndarray = w["bias"] + rows.states @ w["state"] + rows.actions[order[at]] @ w["action"]
        return found

    def judge(
        self, search: np.ndarray, tables: np.ndarray, worlds: int, inputs: np.ndarray, *rest: Any
    ) -> None:
        """Call `judge` with the weights."""
        w = self._w
        judge(search, tables, worlds, inputs, w["after"], w["hidden"], w["hidden_bias"], w["out"], *rest)
