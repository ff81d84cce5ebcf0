"""The search of one decision: each candidate is tried in many worlds, and those that cannot win any more are dropped.

All candidates are tried in the same worlds (common random numbers). The value of a candidate after n worlds is

    prior + trust * n / (n + prior_weight) * (mean in the worlds - prior)

with the values of a fast bot as `prior`. n / (n + prior_weight) allows for the noise of n worlds, `trust` for errors
that more worlds do not reduce: those of the playout policy and of the model of hidden hands. A candidate is dropped
when the worlds still to come could hardly make it the best (Z standard deviations of what they can change). Values are
in placements, higher is better.

Where playouts choose worse than the prior, no world is tried: see `is_worth_playouts`.
"""

from __future__ import annotations

import math

import numpy as np

from agents.compiled.menu import is_legal
from agents.compiled.seats import in_riichi
from agents.playouts.playouts import play_out
from agents.playouts.policies import SCRATCH
from agents.playouts.value import round_value
from agents.search.worlds import SAMPLER, fill_sampler, next_world
from engine.actions import NUKIDORA, TSUMOGIRI
from engine.compiling import inner, kernel
from engine.kernels import hash_view
from engine.shanten import shanten
from engine.table import N_SEATS, TABLE, record
from engine.turn import act

MAX_CANDIDATES = 8
DROP_EVERY = 25  # worlds
Z = 2.0  # standard deviations
PSEUDO_WORLDS, PSEUDO_VARIANCE = 10.0, 0.06  # counted with the worlds tried: a rare result may not have come up yet
FAR = 2  # shanten from which on quiet hands are left to the prior
LEAST_GAP = 1e-6  # placements: candidates that are not chosen have a value lower by this at least
SEARCH = record(
    [
        ("sampler", SAMPLER),
        ("scratch", SCRATCH),  # of the playout policy
        ("prior_weight", "f8"),  # worlds
        ("trust", "f8"),  # 0 to 1
        ("n", "i8"),  # candidates
        ("n_remaining", "i8"),  # that are not dropped
        ("worlds", "i8"),  # tried so far
        ("action", "i8", MAX_CANDIDATES),
        ("prior_value", "f8", MAX_CANDIDATES),  # placements
        ("dropped", "u1", MAX_CANDIDATES),
        ("sum", "f8", MAX_CANDIDATES),  # of the values in all worlds, until it is dropped
        ("gap", "f8", MAX_CANDIDATES),  # placements behind the best one when it was dropped
        ("square", "f8", (MAX_CANDIDATES, MAX_CANDIDATES)),  # of the differences of two candidates
        ("value", "f8", MAX_CANDIDATES),  # scratch: in the world at hand
    ]
)


@inner
def choose_candidates(values: np.ndarray, most: int, margin: float, s: np.record) -> None:
    """Take the best actions by the prior `values` float32[N_ACTIONS]: at most `most`, within `margin` placements."""
    s.n = 0
    taken = np.zeros(len(values), dtype=np.bool_)
    while s.n < most:
        best = np.int64(-1)
        for action in range(len(values)):
            if not taken[action] and values[action] > -np.inf and (best < 0 or values[action] > values[best]):
                best = np.int64(action)
        if best < 0 or (s.n > 0 and values[best] < s.prior_value[0] - margin):
            return
        taken[best] = True
        s.action[s.n], s.prior_value[s.n] = best, values[best]
        s.n += 1


@inner
def is_worth_playouts(t: np.record, s: np.record) -> bool:
    """Whether playouts are to choose among the candidates of `s` in the view `t`.

    Not where a north may be set aside, nor among the discards of a hand FAR from tenpai while nobody is in riichi:
    there playouts agreed with people less than the prior (docs/experiments.md).
    """
    if is_legal(t, np.int64(NUKIDORA)):
        return False
    for c in range(s.n):
        if s.action[c] > TSUMOGIRI:  # riichi, calls, kans
            return True
    for seat in range(N_SEATS):
        if in_riichi(t, np.int64(seat)):
            return True
    p = t.seat[t.viewer]
    return shanten(p.hand_keys, np.int64(p.n_melds)) < FAR


@inner
def total(s: np.record, c: int) -> float:
    """The value of a candidate times (worlds + prior weight)."""
    return s.trust * s.sum[c] + ((1.0 - s.trust) * s.worlds + s.prior_weight) * s.prior_value[c]


@inner
def best_of(s: np.record) -> int:
    """The best candidate so far that is not dropped."""
    best = np.int64(0)
    for c in range(1, s.n):
        if not s.dropped[c] and (s.dropped[best] or total(s, c) > total(s, best)):
            best = np.int64(c)
    return best


@inner
def drop(s: np.record, limit: int) -> None:
    """Drop the candidates that the worlds up to `limit` can hardly make the best.

    The variance of a difference, in placements squared, is estimated from the worlds tried and PSEUDO_WORLDS more with
    PSEUDO_VARIANCE.
    """
    best, known = best_of(s), s.worlds + s.prior_weight
    rest = float(limit - s.worlds)
    for c in range(s.n):
        if s.dropped[c] or c == best:
            continue
        mean = (s.sum[best] - s.sum[c]) / s.worlds
        squares = s.square[best, c] - s.worlds * mean * mean
        variance = (squares + PSEUDO_WORLDS * PSEUDO_VARIANCE) / (s.worlds + PSEUDO_WORLDS)
        ahead = total(s, best) - total(s, c)
        if ahead * (limit + s.prior_weight) / known > Z * s.trust * math.sqrt(variance * (rest + rest * rest / known)):
            s.dropped[c], s.gap[c] = 1, ahead / known
            s.n_remaining -= 1


@inner
def try_world(tables: np.ndarray, viewer: int, policy: int, weights: np.ndarray, s: np.record) -> None:
    """Play the world tables[0] out after each candidate that is not dropped; tables[1] is scratch."""
    for c in range(s.n):
        if s.dropped[c]:
            continue
        tables[1] = tables[0]
        act(tables[1], viewer, np.int64(s.action[c]))
        play_out(tables[1], policy, weights, s.scratch)
        s.value[c] = round_value(tables[1], viewer)
    for c in range(s.n):
        if not s.dropped[c]:
            s.sum[c] += s.value[c]
            for d in range(s.n):
                if not s.dropped[d]:
                    s.square[c, d] += (s.value[c] - s.value[d]) ** 2
    s.worlds += 1


@kernel(
    "uint8[::1], int64, float32[::1], int64, float64, float64, float64, float64[::1], uint64, uint8[::1], uint8[::1]"
)
def begin(
    raw: np.ndarray,
    k: int,
    values: np.ndarray,
    most: int,
    margin: float,
    prior_weight: float,
    trust: float,
    tile_weights: np.ndarray,
    seed: np.uint64,
    search: np.ndarray,
    tables: np.ndarray,
) -> None:
    """Begin the search of view `k`, with the prior `values` float32[N_ACTIONS].

    `search` uint8[SEARCH.itemsize] and `tables` uint8[2 * TABLE.itemsize] are its state, `tile_weights` those of
    `agents.search.worlds`.
    """
    views, s = raw.view(TABLE), search.view(SEARCH)[0]
    choose_candidates(values, most, margin, s)
    s.prior_weight, s.trust = prior_weight, trust
    s.n_remaining, s.worlds = s.n if is_worth_playouts(views[k], s) else 1, 0
    s.dropped[:] = 0
    s.sum[:] = 0.0
    s.square[:] = 0.0
    tables.view(TABLE)[0] = views[k]
    if s.n_remaining > 1:
        fill_sampler(views[k], tile_weights, hash_view(views[k], seed), s.sampler)


@kernel("uint8[::1], uint8[::1], int64, int64, int64, float64[::1], float64[:, :, ::1]")
def extend(
    search: np.ndarray,
    tables: np.ndarray,
    worlds: int,
    limit: int,
    policy: int,
    weights: np.ndarray,
    shanten_weights: np.ndarray,
) -> bool:
    """Try `worlds` more worlds, of `limit` in all; returns whether more could change the choice."""
    s, records = search.view(SEARCH)[0], tables.view(TABLE)
    viewer = np.int64(records[0].viewer)
    for _ in range(worlds):
        if s.n_remaining < 2 or s.worlds >= limit:
            break
        next_world(records[0], s.sampler, shanten_weights)
        try_world(records, viewer, policy, weights, s)
        if s.worlds % DROP_EVERY == 0:
            drop(s, limit)
    return s.n_remaining > 1 and s.worlds < limit


@kernel("uint8[::1], float32[::1]")
def read_values(search: np.ndarray, values: np.ndarray) -> int:
    """Write the values of the candidates into `values` float32[N_ACTIONS], in placements; returns the best one.

    They are relative to the best, which has 0; other actions have -inf. A dropped candidate keeps the value that it had
    when it was dropped.
    """
    s = search.view(SEARCH)[0]
    best = best_of(s)
    values[:] = -np.inf
    top = total(s, best)
    for c in range(s.n):
        gap = s.gap[c] if s.dropped[c] else (top - total(s, c)) / (s.worlds + s.prior_weight)
        values[s.action[c]] = 0.0 if c == best else -max(gap, LEAST_GAP)
    return np.int64(s.action[best])
