"""Rows: the positions in which a bot has a choice, as features, and the kernel that makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from engine.game import MAX_MENU
from engine.table import raw_bytes

# encode(raw, n, forced, views_of, states, first, actions, numbers, prior_logits), see `Features`.
EncodeKernel: TypeAlias = Callable[..., int]
ENCODE = (
    "uint8[::1], int64, int64[::1], int64[::1], float32[:, ::1], int64[::1], float32[:, ::1], int64[::1], float32[::1]"
)


class Features(NamedTuple):
    """What a network sees.

    `encode` reads the first n TABLE records of raw uint8[:]. Where nothing is to be chosen, it writes the action into
    `forced` int64[n], else -1 and a row: the index of the view into `views_of` int64[n], the features of the position
    into `states` float32[n, n_state], and for each action that may be played its number, features, and the logit that
    the network adds to, into `numbers` int64[m], `actions` float32[m, n_action] and `prior_logits` float32[m], at
    first[row] to first[row + 1] of `first` int64[n + 1]. Returns the number of rows.
    """

    name: str
    n_state: int
    n_action: int
    encode: EncodeKernel


class Rows(NamedTuple):
    """n positions with a choice among m actions in all."""

    view: np.ndarray  # int64[n]: index of the view that each row comes from
    states: np.ndarray  # float32[n, n_state]
    first: np.ndarray  # int64[n + 1]: the actions of row i are first[i] to first[i + 1]
    actions: np.ndarray  # float32[m, n_action]
    numbers: np.ndarray  # int64[m]
    prior_logits: np.ndarray  # float32[m]


def encode(features: Features, views: np.ndarray) -> tuple[np.ndarray, Rows]:
    """The forced action of each of `views` TABLE[n], int64[n], -1 where there is a choice, and the rows of those."""
    n = len(views)
    forced, view = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    states, first = np.empty((n, features.n_state), dtype=np.float32), np.empty(n + 1, dtype=np.int64)
    most = n * MAX_MENU
    actions, numbers = np.empty((most, features.n_action), dtype=np.float32), np.empty(most, dtype=np.int64)
    prior_logits = np.empty(most, dtype=np.float32)
    rows = features.encode(raw_bytes(views), n, forced, view, states, first, actions, numbers, prior_logits)
    m = first[rows]
    return forced, Rows(view[:rows], states[:rows], first[: rows + 1], actions[:m], numbers[:m], prior_logits[:m])
