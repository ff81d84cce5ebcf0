"""The search of one decision: each candidate is tried in many worlds, and those that cannot win any more are dropped.

All candidates are tried in the same worlds (common random numbers). The value of a candidate after n worlds is

    prior + trust * n / (n + prior_weight) * (mean in the worlds - prior)

with the values of a fast bot as `prior`. n / (n + prior_weight) allows for the noise of n worlds, `trust` for errors
that more worlds do not reduce: those of what values a world and of the model of hidden hands. A candidate is dropped
when the worlds still to come could hardly make it the best (Z standard deviations of what they can change). Values are
in placements, higher is better.

What values a world depends on the kind of decision: see `method_of`.
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
from engine.table import N_SEATS, RIICHI_DISCARD, TABLE, record
from engine.turn import act

MAX_CANDIDATES = 8
DROP_EVERY = 25  # worlds
Z = 2.0  # standard deviations
PSEUDO_WORLDS = 10.0  # counted with the worlds tried, with the variance below: a rare result may not have come up yet
PLAYOUT_VARIANCE, CRITIC_VARIANCE = 0.06, 0.004  # of the difference of two candidates in a world, in placements squared
CRITIC_PRIOR_WEIGHT = 60.0  # worlds; the critic is trusted fully: the slope of a judge on it is 1
FAR = 2  # shanten from which on quiet hands are left to the prior
PRIOR, CRITIC, PLAYOUTS = 0, 1, 2  # what compares the candidates of a decision
LEAST_GAP = 1e-6  # placements: candidates that are not chosen have a value lower by this at least
SEARCH = record(
    [
        ("sampler", SAMPLER),
        ("scratch", SCRATCH),  # of the playout policy
        ("prior_weight", "f8"),  # worlds
        ("trust", "f8"),  # 0 to 1
        ("pseudo_variance", "f8"),  # PLAYOUT_VARIANCE or CRITIC_VARIANCE
        ("n", "i8"),  # candidates
        ("n_remaining", "i8"),  # that are not dropped
        ("worlds", "i8"),  # tried so far
        ("action", "i8", MAX_CANDIDATES),
        ("prior_value", "f8", MAX_CANDIDATES),  # placements
        ("dropped", "u1", MAX_CANDIDATES),
        ("sum", "f8", MAX_CANDIDATES),  # of the values in all worlds, until it is dropped
        ("gap", "f8", MAX_CANDIDATES),  # placements behind the best one when it was dropped
        ("square", "f8", (MAX_CANDIDATES, MAX_CANDIDATES)),  # of the differences of two candidates
        ("value", "f8", MAX_CANDIDATES),  # in the world at hand
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
def method_of(t: np.record, s: np.record) -> int:
    """What is to compare the candidates of `s` in the view `t`: PRIOR, CRITIC or PLAYOUTS.

    `experiments/search_calibration.py` measures which of them tells what kind of decision; docs/experiments.md has it.
    The prior decides where a north may be set aside, and among discards of hands FAR from tenpai without a riichi.
    After a riichi there is hardly a choice left that the critic could value.
    """
    if s.n < 2 or is_legal(t, np.int64(NUKIDORA)):
        return PRIOR
    if t.phase == RIICHI_DISCARD:
        return PLAYOUTS
    for c in range(s.n):
        if s.action[c] > TSUMOGIRI:  # riichi, calls, kans
            return PLAYOUTS
    for seat in range(N_SEATS):
        if in_riichi(t, np.int64(seat)):
            return CRITIC
    p = t.seat[t.viewer]
    return CRITIC if shanten(p.hand_keys, np.int64(p.n_melds)) < FAR else PRIOR


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

    The variance of a difference is estimated from the worlds tried and PSEUDO_WORLDS more.
    """
    best, known = best_of(s), s.worlds + s.prior_weight
    rest = float(limit - s.worlds)
    for c in range(s.n):
        if s.dropped[c] or c == best:
            continue
        mean = (s.sum[best] - s.sum[c]) / s.worlds
        squares = s.square[best, c] - s.worlds * mean * mean
        variance = (squares + PSEUDO_WORLDS * s.pseudo_variance) / (s.worlds + PSEUDO_WORLDS)
        ahead = total(s, best) - total(s, c)
        if ahead * (limit + s.prior_weight) / known > Z * s.trust * math.sqrt(variance * (rest + rest * rest / known)):
            s.dropped[c], s.gap[c] = 1, ahead / known
            s.n_remaining -= 1


@inner
def count_world(s: np.record) -> None:
    """Count the values of the candidates that are not dropped in a world."""
    for c in range(s.n):
        if not s.dropped[c]:
            s.sum[c] += s.value[c]
            for d in range(s.n):
                if not s.dropped[d]:
                    s.square[c, d] += (s.value[c] - s.value[d]) ** 2
    s.worlds += 1


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
    count_world(s)


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
) -> int:
    """Begin the search of view `k`, with the prior `values` float32[N_ACTIONS]; returns what compares the candidates.

    `prior_weight` and `trust` are those of playouts. `search` uint8[SEARCH.itemsize] and `tables` uint8[2 *
    TABLE.itemsize] are its state, `tile_weights` those of `agents.search.worlds`.
    """
    views, s = raw.view(TABLE), search.view(SEARCH)[0]
    choose_candidates(values, most, margin, s)
    method = method_of(views[k], s)
    if method == CRITIC:
        s.prior_weight, s.trust, s.pseudo_variance = CRITIC_PRIOR_WEIGHT, 1.0, CRITIC_VARIANCE
    else:
        s.prior_weight, s.trust, s.pseudo_variance = prior_weight, trust, PLAYOUT_VARIANCE
    s.n_remaining, s.worlds = s.n if method != PRIOR else 1, 0
    s.dropped[:] = 0
    s.sum[:] = 0.0
    s.square[:] = 0.0
    tables.view(TABLE)[0] = views[k]
    if method != PRIOR:
        fill_sampler(views[k], tile_weights, hash_view(views[k], seed), s.sampler)
    return method


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
    """Play out `worlds` more worlds, of `limit` in all; returns whether more could change the choice."""
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


@kernel("uint8[::1], uint8[::1], int64, float64[:, :, ::1], uint8[::1], int8[::1], int64[::1]")
def lay_copies(
    search: np.ndarray,
    tables: np.ndarray,
    worlds: int,
    shanten_weights: np.ndarray,
    laid: np.ndarray,
    seats: np.ndarray,
    actions: np.ndarray,
) -> int:
    """Lay `worlds` more worlds, each as often as there are candidates that are not dropped; returns how many in all.

    Writes whole tables into `laid` uint8[:], the seat that acts into `seats` int8[:] and the candidate into `actions`
    int64[:]. `count_values` takes their values.
    """
    s, records, copies = search.view(SEARCH)[0], tables.view(TABLE), laid.view(TABLE)
    n = np.int64(0)
    for _ in range(worlds):
        next_world(records[0], s.sampler, shanten_weights)
        for c in range(s.n):
            if not s.dropped[c]:
                copies[n] = records[0]
                seats[n], actions[n] = records[0].viewer, s.action[c]
                n += 1
    return n


@kernel("uint8[::1], float32[::1], int64")
def count_values(search: np.ndarray, values: np.ndarray, limit: int) -> bool:
    """Count the `values` of the worlds laid, of `limit` in all; returns whether more worlds could change the choice."""
    s = search.view(SEARCH)[0]
    i = np.int64(0)
    while i < len(values):
        for c in range(s.n):
            if not s.dropped[c]:
                s.value[c] = values[i]
                i += 1
        count_world(s)
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
