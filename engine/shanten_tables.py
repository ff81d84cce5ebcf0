"""Look-up tables of `engine/shanten.py`: ``python -m engine.shanten_tables`` computes ``engine/shanten.npz``.

**Groups.** A hand is three groups of nine kinds: pinzu, souzu, and the kinds without runs (1m, 9m, seven honours). The
counts of a group are the digits of its base-5 key, lowest rank in the lowest digit.

**Cost rows.** ``cost[m, p]`` is the smallest number of tiles that a group lacks to contain m melds (0-4) and p pairs
(0-1) at the same time, with no kind used more than four times. The same run is counted at most twice, as three equal
runs are three triplets. The 5^9 keys have only 126 different rows with runs and 55 without.

**Halves.** A key is split into its four low and five high digits. Halves that give the same row when combined with any
other half form one class (320 low and 680 high classes with runs, 35 and 55 without), so only the row of each pair of a
low and a high class is stored.

**Joining.** The joint row of two groups is the cheapest way to divide melds and pair between them. Two suits with runs
have 180 different joint rows; each of them combined with each row of the third group gives the shanten: tiles lacking
minus one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).with_name("shanten.npz")

N_RANKS = 9
N_MELDS = 5  # 0-4 melds
N_PAIRS = 2  # 0-1 pairs
MAX_RUNS = 3  # 0-2 equal runs
LOW = 5**4  # keys of the low half
HIGH = 5**5
IMPOSSIBLE = 99  # more tiles than any hand lacks

# A packed profile of a half or a group: the index of its cost row, and four counts. All fields are wide enough for the
# sum of three groups, so that profiles can be added.
ROW_BITS = 20
FIELD_BITS = 5
KINDS_AT, PAIRS_AT, ORPHANS_AT, ORPHAN_PAIRS_AT = (ROW_BITS + FIELD_BITS * field for field in range(4))

ByteArray: TypeAlias = NDArray[np.uint8]


def add_rank(costs: ByteArray, rank: int, runs: bool) -> ByteArray:
    """Extend the costs of all keys by one rank (dynamic programming).

    `costs` uint8[n, a, b, m, p]: the tiles that each of n keys lacks for m melds and p pairs if a runs began two ranks
    before and b runs one rank before. Returns uint8[5 n, a, b, m, p]: the same with 0-4 tiles of `rank` (0-8) as the
    new highest digit.
    """
    extended = np.full((5, *costs.shape), IMPOSSIBLE, dtype=np.uint8)
    held = np.arange(5)[:, None]
    beginning = MAX_RUNS if runs and rank <= N_RANKS - 3 else 1
    for a, b, c, triplet, pair in np.ndindex(MAX_RUNS, MAX_RUNS, beginning, 2, 2):
        used = a + b + c + 3 * triplet + 2 * pair
        if used > 4:
            continue
        lacking = np.maximum(used - held, 0).astype(np.uint8)
        for m, p in np.ndindex(N_MELDS - c - triplet, N_PAIRS - pair):
            best = extended[:, :, b, c, m + c + triplet, p + pair]
            np.minimum(best, costs[:, a, b, m, p] + lacking, out=best)
    return extended.reshape(-1, *costs.shape[1:])


def cost_rows(runs: bool) -> ByteArray:
    """uint8[5^9, 5, 2]: the cost row of every key of a group, with or without runs."""
    costs = np.full((1, MAX_RUNS, MAX_RUNS, N_MELDS, N_PAIRS), IMPOSSIBLE, dtype=np.uint8)
    costs[0, 0, 0, 0, 0] = 0
    for rank in range(N_RANKS):
        costs = add_rank(costs, rank, runs)
    return costs[:, 0, 0]


def numbered(values: ByteArray) -> tuple[ByteArray, NDArray[np.intp]]:
    """The distinct entries along the first axis, and for each entry the index of the one it equals (as np.unique)."""
    flat = np.ascontiguousarray(values).reshape(len(values), -1)
    whole_entries = flat.view(np.dtype((np.void, flat.shape[1]))).reshape(-1)  # sorts much faster than rows of an array
    _, first, number = np.unique(whole_entries, return_index=True, return_inverse=True)
    return values[first], number


def join(left: ByteArray, right: ByteArray) -> ByteArray:
    """uint8[len(left), len(right), 5, 2]: the joint cost row of every pair of rows."""
    joint = np.full((len(left), len(right), N_MELDS, N_PAIRS), IMPOSSIBLE, dtype=np.uint8)
    for m, p in np.ndindex(N_MELDS, N_PAIRS):
        for part_m, part_p in np.ndindex(m + 1, p + 1):
            cost = left[:, None, part_m, part_p] + right[None, :, m - part_m, p - part_p]
            np.minimum(joint[:, :, m, p], cost, out=joint[:, :, m, p])
    return joint


def tallies(n_ranks: int, orphans: list[bool]) -> NDArray[np.int64]:
    """int64[5^n_ranks]: the four counts of the profile of every half key, packed.

    The counts are: kinds held, pairs, terminal and honour kinds held, and pairs of those. `orphans` says for each rank
    of the half whether it is a terminal or honour.
    """
    counts = np.arange(5**n_ranks)[:, None] // 5 ** np.arange(n_ranks) % 5
    fields = {
        KINDS_AT: counts >= 1,
        PAIRS_AT: counts >= 2,
        ORPHANS_AT: (counts >= 1) & orphans,
        ORPHAN_PAIRS_AT: (counts >= 2) & orphans,
    }
    total = np.zeros(len(counts), dtype=np.int64)
    for at, field in fields.items():
        total += field.sum(axis=1) << at
    return total


def generate() -> dict[str, NDArray[np.generic]]:
    """All tables by name.

    ``low`` int64[2, 625] and ``high`` int64[2, 3125]: profiles of the halves of a key, with runs [0] and without [1];
    the sum of both is the profile of the group. ``row`` uint8: index in a profile -> number of the cost row. ``joint``
    uint8[126, 126]: rows of pinzu and souzu -> number of the joint row. ``shanten`` int8[5, 180, 55]: number of
    melds, joint row, row of the third group -> shanten for four sets and a pair.
    """
    low = np.zeros((2, LOW), dtype=np.int64)
    high = np.zeros((2, HIGH), dtype=np.int64)
    row_numbers: list[ByteArray] = []
    distinct_rows: list[ByteArray] = []
    start = 0
    for table, runs in enumerate((True, False)):
        rows, row_of_key = numbered(cost_rows(runs))
        by_half = row_of_key.astype(np.uint8).reshape(HIGH, LOW)
        by_class, high_class = numbered(by_half)
        by_class, low_class = numbered(by_class.T)
        orphans = [not runs or rank in (0, N_RANKS - 1) for rank in range(N_RANKS)]
        low[table] = start + low_class * by_class.shape[1] + tallies(4, orphans[:4])
        high[table] = high_class + tallies(5, orphans[4:])
        row_numbers.append(by_class.reshape(-1))
        distinct_rows.append(rows)
        start += by_class.size
    joint_rows, joint = numbered(join(distinct_rows[0], distinct_rows[0]).reshape(-1, N_MELDS, N_PAIRS))
    complete = join(joint_rows, distinct_rows[1])[:, :, ::-1, 1]  # [..., number of melds]
    return {
        "low": low,
        "high": high,
        "row": np.concatenate(row_numbers),
        "joint": joint.astype(np.uint8).reshape(len(distinct_rows[0]), -1),
        "shanten": np.ascontiguousarray(np.moveaxis(complete.astype(np.int8) - 1, 2, 0)),
    }


if __name__ == "__main__":
    np.savez_compressed(FILE, allow_pickle=False, **generate())
