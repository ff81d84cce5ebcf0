"""The compiled functions that play with given weights, and those that write the features of decisions."""

from __future__ import annotations

import numpy as np

from agents.linear.candidates import candidates, dot, fill_action, same_action
from agents.linear.context import CONTEXT, CONTEXT_SIZE, MENU, fill_context
from engine.compiling import inner, kernel
from engine.kernels import hash_view
from engine.rng import GOLDEN, gumbel, splitmix
from engine.table import TABLE


@inner
def evaluate(t: np.record, context: np.record, weights: np.ndarray, actions: np.ndarray, values: np.ndarray) -> int:
    """Write the candidates to `actions` int64[MENU] and their values to `values` float64[MENU]; returns how many.

    Where there is but one candidate its value is 0.
    """
    n = candidates(t, actions)
    values[0] = 0.0
    if n > 1:
        fill_context(t, context)
        for i in range(n):
            fill_action(t, context, actions[i])
            values[i] = dot(context.phi, weights)
    return n


@kernel("uint8[::1], int64, uint64, float64[::1], float64, int64[::1]")
def choose_all(
    raw: np.ndarray, n: int, seed: np.uint64, weights: np.ndarray, temperature: float, actions: np.ndarray
) -> None:
    """Write an action for each of the first `n` TABLE records of `raw` to `actions` int64[n].

    It has the highest value + `temperature` (in points of value) times Gumbel noise, which is a sample from
    softmax(values / temperature); 0: the highest value. The same view and seed give the same action.
    """
    views = raw.view(TABLE)
    contexts = np.zeros(CONTEXT_SIZE, dtype=np.uint8).view(CONTEXT)
    menu = np.empty(MENU, dtype=np.int64)
    values = np.empty(MENU)
    for k in range(n):
        count = evaluate(views[k], contexts[0], weights, menu, values)
        if temperature > 0.0 and count > 1:
            state = hash_view(views[k], seed)
            for i in range(count):
                state = state + GOLDEN
                values[i] += temperature * gumbel(splitmix(state))
        actions[k] = menu[np.argmax(values[:count])]


@kernel("uint8[::1], int64, float64[::1], float32[:, ::1]")
def evaluate_all(raw: np.ndarray, n: int, weights: np.ndarray, values: np.ndarray) -> None:
    """Write the value of each candidate to `values` float32[n, N_ACTIONS], in points; -inf for all other actions."""
    views = raw.view(TABLE)
    contexts = np.zeros(CONTEXT_SIZE, dtype=np.uint8).view(CONTEXT)
    menu = np.empty(MENU, dtype=np.int64)
    found = np.empty(MENU)
    for k in range(n):
        values[k] = -np.inf
        for i in range(evaluate(views[k], contexts[0], weights, menu, found)):
            values[k, menu[i]] = found[i]


@kernel("uint8[::1], int64, int64[::1], int64[::1]")
def count_candidates(raw: np.ndarray, n: int, played: np.ndarray, counts: np.ndarray) -> None:
    """Replace the actions `played` int64[n] by the candidates that stand for them, and count the candidates.

    `counts` int64[n] gets 0 where a decision shows no preference: one candidate only, or a win.
    """
    views = raw.view(TABLE)
    menu = np.empty(MENU, dtype=np.int64)
    for k in range(n):
        count = candidates(views[k], menu)
        played[k] = same_action(views[k], played[k])
        counts[k] = count if count > 1 else 0


@kernel("uint8[::1], int64, int64[::1], int64[::1], float32[:, ::1]")
def write_features(raw: np.ndarray, n: int, counts: np.ndarray, actions: np.ndarray, phi: np.ndarray) -> None:
    """Write the candidates of all views with `counts` int64[n] > 0, one after the other.

    `actions` int64[rows] are their numbers, `phi` float32[rows, N_FEATURES] their features.
    """
    views = raw.view(TABLE)
    contexts = np.zeros(CONTEXT_SIZE, dtype=np.uint8).view(CONTEXT)
    menu = np.empty(MENU, dtype=np.int64)
    row = np.int64(0)
    for k in range(n):
        if counts[k] == 0:
            continue
        fill_context(views[k], contexts[0])
        for i in range(candidates(views[k], menu)):
            fill_action(views[k], contexts[0], menu[i])
            actions[row] = menu[i]
            phi[row] = contexts[0].phi
            row += 1
