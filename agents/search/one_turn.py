"""The value of actions in worlds one turn later, by the critic of a run of `agents.rl train`, which sees all hands.

`rule` plays the other seats until the seat has its next choice, which the critic values; where the round ends before,
the score situation that it leads to is valued. What happens later is not drawn by lot, so two actions are told apart in
fewer worlds than by playouts (docs/experiments.md). What the critic does not know is a bias instead.
"""

from __future__ import annotations

import numpy as np

from agents.compiled.menu import is_legal, only_action
from agents.playouts.policies import RULE, SCRATCH, choose, linear_weights
from agents.residual.features import FEATURES, encode_positions
from agents.rl.critic import CriticWeights, values_of_changes, values_of_situations
from agents.rl.oracle import N_ORACLE, write_oracle
from engine import kernels
from engine.actions import RON, TSUMO
from engine.compiling import inner, kernel
from engine.kernels import is_asked
from engine.table import N_SEATS, ROUND_OVER, TABLE
from engine.turn import act
from engine.view import blank_for


@inner
def forced_action(t: np.record) -> int:
    """What the viewer plays without a choice: a win, or its only action; -1 if it may have a choice."""
    if is_legal(t, np.int64(TSUMO)):
        return np.int64(TSUMO)
    if is_legal(t, np.int64(RON)):
        return np.int64(RON)
    return only_action(t)


@inner
def play_until_asked(t: np.record, own: int, weights: np.ndarray, scratch: np.record) -> bool:
    """Play on until the seat `own` may have a choice; returns whether it has, or the round is over."""
    while t.phase < ROUND_OVER:
        for seat in range(N_SEATS):
            if is_asked(t, seat):
                t.viewer = seat
                action = forced_action(t) if seat == own else choose(t, np.int64(RULE), weights, scratch)
                if action < 0:
                    return True
                act(t, np.int64(seat), action)
    return False


@kernel("uint8[::1], int8[::1], int64[::1], float64[::1], uint8[::1], uint8[::1]")
def play_on(
    raw: np.ndarray, seats: np.ndarray, playing: np.ndarray, weights: np.ndarray, scratch: np.ndarray, views: np.ndarray
) -> int:
    """Play the tables `playing` int64[n] of `raw` on to the next choice of their `seats` int8[:].

    Moves the indices of those where there is one to the front of `playing`, writes the views of the seats into `views`
    and returns how many there are; in the others the round is over.
    """
    tables, seen = raw.view(TABLE), views.view(TABLE)
    n = np.int64(0)
    for k in playing:
        own = np.int64(seats[k])
        if play_until_asked(tables[k], own, weights, scratch.view(SCRATCH)[0]):
            seen[n] = tables[k]
            blank_for(seen[n], own)
            playing[n] = k
            n += 1
    return n


def at_start(tables: np.ndarray) -> np.ndarray:
    """A copy of `tables` TABLE[n] with the scores and riichi sticks that their rounds began with."""
    found = tables.copy()
    found["seat"]["score"] = tables["seat"]["start_score"]
    found["sticks"] -= (tables["seat"]["riichi"] > 0).sum(axis=1).astype(found["sticks"].dtype)
    return found


class OneTurn:
    """Values actions in worlds. An instance must not be used by several threads at once."""

    def __init__(self, weights: CriticWeights) -> None:
        """`weights` of a critic of positions with the features of `agents.residual`."""
        self._weights, self._linear = weights, linear_weights()
        self._scratch = np.zeros(SCRATCH.itemsize, dtype=np.uint8)

    def start_values(self, tables: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """The value to `seats` int8[n] of the score situation that began the rounds of `tables` TABLE[n], float32[n].

        It is the same in all worlds of a view.
        """
        return values_of_situations(self._weights, at_start(tables))[np.arange(len(tables)), seats]

    def values(
        self, worlds: np.ndarray, seats: np.ndarray, actions: np.ndarray, start: np.ndarray | np.float32
    ) -> np.ndarray:
        """The value to `seats` int8[n] of `actions` int64[n] in whole tables `worlds` TABLE[n]: float32[n].

        It is 2 - the expected placement. `start`: their `start_values`, or the one of all. The worlds are overwritten.
        """
        raw, every = worlds.view(np.uint8), np.arange(len(worlds), dtype=np.int32)
        if (bad := kernels.apply_actions(raw, every, seats, actions)) >= 0:
            raise ValueError(f"seat {seats[bad]} may not play action {actions[bad]} in world {bad}")
        start = np.broadcast_to(start, len(worlds))
        values, valued = np.empty(len(worlds), dtype=np.float32), np.zeros(len(worlds), dtype=np.bool_)
        playing, views = every.astype(np.int64), np.empty(len(raw), dtype=np.uint8)
        forced, view = np.empty(len(worlds), dtype=np.int64), np.empty(len(worlds), dtype=np.int64)
        states = np.empty((len(worlds), FEATURES.n_state), dtype=np.float32)
        while n := play_on(raw, seats, playing, self._linear, self._scratch, views):
            playing = playing[:n]
            rows = encode_positions(views[: n * TABLE.itemsize], forced, view, states)
            choosing = playing[view[:rows]]
            values[choosing] = start[choosing] + self._changes(raw, states[:rows], choosing, seats)
            valued[choosing] = True
            goes_on = forced[:n] >= 0
            playing = playing[goes_on]
            kernels.apply_actions(raw, playing.astype(np.int32), seats[playing], forced[:n][goes_on])
        ended = np.flatnonzero(~valued)
        after = worlds[ended]
        kernels.next_rounds(after.view(np.uint8))
        values[ended] = values_of_situations(self._weights, after)[np.arange(len(ended)), seats[ended]]
        return values

    def _changes(self, raw: np.ndarray, states: np.ndarray, tables: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """What the critic expects from the rest of the round at `tables` int64[n] of `raw`, float32[n]."""
        oracle, players = np.empty((len(tables), N_ORACLE), dtype=np.float32), np.zeros((len(seats), 3), dtype=np.int8)
        write_oracle(raw, players, tables.astype(np.int32), seats[tables], oracle)
        return values_of_changes(self._weights, states, oracle)
