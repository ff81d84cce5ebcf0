"""Tries actions at whole tables: the round is played out many times after each.

Before each playout the tiles that nobody has seen are shuffled, in the same way for all actions that are compared
(common random numbers), so that differences come from the actions. The hands stay as they are: over many positions the
hidden hands are those that occur in such positions.
"""

from __future__ import annotations

import numpy as np

from agents.playouts.policies import POLICIES, SCRATCH, choose, linear_weights
from agents.playouts.value import round_value
from engine.compiling import inner, kernel
from engine.kernels import is_asked, is_legal
from engine.rng import scaled, splitmix
from engine.table import N_SEATS, NOBODY, ROUND_OVER, TABLE, WALL_SIZE, raw_bytes
from engine.turn import act

TABLE_SIZE = TABLE.itemsize


@inner
def shuffle_unseen(t: np.record, seed: np.uint64) -> None:
    """Shuffle the wall tiles that nobody has seen (Fisher-Yates); all others keep their index in the wall."""
    unseen = np.empty(WALL_SIZE, dtype=np.int64)
    n = np.int64(0)
    for index in range(WALL_SIZE):
        if t.known_by[index] == NOBODY:
            unseen[n] = index
            n += 1
    for i in range(n - 1, 0, -1):
        j = scaled(splitmix(seed + np.uint64(i)), i + 1)
        t.wall[unseen[i]], t.wall[unseen[j]] = t.wall[unseen[j]], t.wall[unseen[i]]


@inner
def play_out(t: np.record, policy: int, weights: np.ndarray, scratch: np.record) -> None:
    """Play a whole table to the end of its round, all seats by `policy`."""
    while t.phase < ROUND_OVER:
        for seat in range(N_SEATS):
            if is_asked(t, seat):
                t.viewer = seat
                act(t, np.int64(seat), choose(t, policy, weights, scratch))


@kernel(
    "uint8[::1], int64[::1], int8[::1], int64[::1], uint64[:, ::1], int64, float64[::1], uint8[::1], float32[:, ::1]"
)
def try_actions(
    raw: np.ndarray,
    tables: np.ndarray,
    seats: np.ndarray,
    actions: np.ndarray,
    walls: np.ndarray,
    policy: int,
    weights: np.ndarray,
    scratch: np.ndarray,
    values: np.ndarray,
) -> int:
    """Write the value of the end of the round after each of `actions` int64[k] into `values` float32[k, n].

    There is a column for each shuffle. `tables` int64[k] are indices into `raw`, `seats` int8[k] those who act, `walls`
    uint64[k, n] seeds of the shuffles, `scratch` uint8[SCRATCH.itemsize]. Returns the index of the first illegal
    action, at which it stops, or -1.
    """
    records = raw.view(TABLE)
    spare = np.zeros(TABLE_SIZE, dtype=np.uint8).view(TABLE)
    for k in range(len(actions)):
        if not is_legal(records[tables[k]], np.int64(seats[k]), actions[k]):
            return k
        for n in range(walls.shape[1]):
            spare[0] = records[tables[k]]
            shuffle_unseen(spare[0], walls[k, n])
            act(spare[0], np.int64(seats[k]), actions[k])
            play_out(spare[0], policy, weights, scratch.view(SCRATCH)[0])
            values[k, n] = round_value(spare[0], np.int64(seats[k]))
    return -1


class Playouts:
    """Playouts by one of POLICIES. An instance must not be used by several threads at once."""

    def __init__(self, policy: str) -> None:
        """Raises ValueError for a name that is not in POLICIES."""
        if policy not in POLICIES:
            raise ValueError(f"no playout policy {policy!r}; there are {', '.join(POLICIES)}")
        self._policy, self._weights = POLICIES[policy], linear_weights()
        self._scratch = np.zeros(SCRATCH.itemsize, dtype=np.uint8)

    def try_actions(
        self, tables: np.ndarray, which: np.ndarray, seats: np.ndarray, actions: np.ndarray, walls: np.ndarray
    ) -> np.ndarray:
        """The value of the end of the round after each of `actions` int64[k]: float32[k, n], in placements.

        Higher is better; see `round_value`. `seats` int8[k] play them at the tables `which` int64[k] of `tables`
        TABLE[:], whole ones. `walls` uint64[k, n] are the seeds of the shuffles: the same seed, the same shuffle.
        Raises ValueError for arrays that do not fit each other, and for an action that is not legal.
        """
        k = len(actions)
        if not len(which) == len(seats) == len(walls) == k or walls.ndim != 2:
            raise ValueError(f"{k} actions, {len(which)} tables, {len(seats)} seats, walls {walls.shape}: one for each")
        if k and not 0 <= which.min() <= which.max() < len(tables):
            raise ValueError(f"the tables tried must be 0 to {len(tables) - 1}")
        values = np.empty(walls.shape, dtype=np.float32)
        which, seats, actions, walls = map(np.ascontiguousarray, (which, seats, actions, walls))
        given = raw_bytes(tables), which, seats, actions, walls
        bad = try_actions(*given, self._policy, self._weights, self._scratch, values)
        if bad >= 0:
            raise ValueError(f"seat {seats[bad]} may not play action {actions[bad]} at table {which[bad]}")
        return values
