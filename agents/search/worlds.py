"""Worlds: hidden hands and a wall that fit what a seat sees, sampled by the Metropolis algorithm.

The chance of a world is the product, over the hidden hands, of a weight for each tile (a log-linear model of what the
seat has discarded, `tiles`), and of a weight for the shanten of the hand by its melds and discards. A hand in riichi is
tenpai and does not wait for tiles that have passed it, unless RIICHI_TRIES tries find none. Both kinds of weights are
fitted to games (`fit`). From world to world some tiles are exchanged between the hands and the rest (Metropolis et al.
1953), and the rest is shuffled.
"""

from __future__ import annotations

import math

import numpy as np

from agents.bots.rule.safety import safe_kinds
from agents.compiled.dora import fill_dora
from agents.compiled.seats import in_riichi
from agents.compiled.unseen import unseen
from agents.search.tiles import N_FEATURES, tile_features
from engine.compiling import inner
from engine.hand import add_tile, move
from engine.legal import response_menus
from engine.rng import GOLDEN, random_below, splitmix, uniform
from engine.shanten import shanten, waits
from engine.table import DEALT, DORA_AT, NOBODY, RESPONSE, RIVER_CALLED, RIVER_TILE, WALL_SIZE, record
from engine.tiles import KIND_OF, N_KINDS, NONE, RED_5P, RED_INDEX, SANMA_KINDS
from engine.turn import update_waits

N_MELDS, N_BUCKETS, N_SHANTENS = 5, 9, 7
BUCKET = 2  # discards of a seat
NOT_TENPAI = -3.0  # log weight of a hand in riichi for each shanten
PASSED_WAIT = -1.5  # of one that waits for a tile that has passed
FIRST_STEPS, STEPS = 300, 30  # exchanges tried before the first world, and before each other
RIICHI_STEPS, RIICHI_TRIES = 20, 60  # more of them, so many times, until a hand in riichi fits
HANDS = 2  # of the opponents: first that of the seat after the viewer

SAMPLER = record(
    [
        ("pool", "i1", WALL_SIZE),  # unseen tiles, tile37: the first hand, the second, the rest
        ("n", "i8"),
        ("size", "i8", HANDS),
        ("seat", "i8", HANDS),
        ("safe", "u8", HANDS),  # kinds that have passed each
        ("log_weight", "f8", (HANDS, N_KINDS)),  # natural logarithms
        ("hand_weight", "f8", HANDS),  # log weight of each hand as a whole
        ("state", "u8"),  # of the random generator
        ("started", "u1"),
    ]
)


@inner
def fill_sampler(t: np.record, tile_weights: np.ndarray, seed: np.uint64, s: np.record) -> None:
    """Prepare the sampler `s` for the view `t`; `tile_weights` float64[N_FEATURES]."""
    dora = np.empty(N_KINDS, dtype=np.int64)
    fill_dora(t, dora)
    s.state, s.started = splitmix(seed + GOLDEN), 0
    fill_pool(t, s)
    shuffle(s, np.int64(0))
    safe = safe_kinds(t)
    features = np.empty(N_FEATURES)
    for h in range(HANDS):
        seat = (np.int64(t.viewer) + 1 + h) % 3
        s.seat[h], s.safe[h] = seat, safe[seat]
        s.size[h] = 13 - 3 * np.int64(t.seat[seat].n_melds)
        for kind in SANMA_KINDS:
            tile_features(t, seat, kind, dora, features)
            total = 0.0
            for i in range(N_FEATURES):
                total += features[i] * tile_weights[i]
            s.log_weight[h, kind] = total


@inner
def fill_pool(t: np.record, s: np.record) -> None:
    """Write the unseen tiles of the view `t` into the pool."""
    s.n = 0
    for kind in SANMA_KINDS:
        reds = np.int64(0)
        if RED_INDEX[kind] >= 0 and t.rules.red_fives:
            reds = np.int64(1) - seen_reds(t, RED_5P + RED_INDEX[kind])
        for i in range(unseen(t, kind)):
            s.pool[s.n] = RED_5P + RED_INDEX[kind] if i < reds else kind
            s.n += 1


@inner
def seen_reds(t: np.record, red: int) -> int:
    """How many of the red five `red` (tile37) the viewer sees: 0 or 1."""
    seen = np.int64(t.seat[t.viewer].red[red - RED_5P])
    for seat in range(3):
        p = t.seat[seat]
        for i in range(p.n_river):
            seen += np.int64((p.river[i] & RIVER_TILE) == red and (p.river[i] & RIVER_CALLED) == 0)
        for m in range(p.n_melds):
            if p.meld_kind[m] == KIND_OF[red]:
                seen += np.int64(p.meld_red[m])
    for i in range(t.n_indicators):
        seen += np.int64(t.wall[DORA_AT[i]] == red)
    return min(seen, np.int64(1))


@inner
def draw(s: np.record, n: int) -> int:
    """A random number in [0, n)."""
    s.state, number = random_below(s.state, n)
    return number


@inner
def shuffle(s: np.record, first: int) -> None:
    """Shuffle the pool from `first` on (Fisher-Yates)."""
    for i in range(np.int64(s.n) - 1, first, -1):
        j = first + draw(s, i + 1 - first)
        s.pool[i], s.pool[j] = s.pool[j], s.pool[i]


@inner
def hand_of(s: np.record, index: int) -> int:
    """The hand that a tile of the pool belongs to, HANDS for the rest."""
    return np.int64(0) if index < s.size[0] else np.int64(1) if index < s.size[0] + s.size[1] else np.int64(HANDS)


@inner
def lay_hand(p: np.record, s: np.record, first: int, size: int) -> None:
    """Give `size` tiles of the pool from `first` on to the seat `p`, as its whole hand."""
    p.hand[:] = 0
    p.red[:] = 0
    p.hand_keys[:] = 0
    for i in range(first, first + size):
        add_tile(p, np.int64(s.pool[i]), np.int64(1))


@inner
def hand_weight(w: np.record, seat: int, safe: np.uint64, shanten_weights: np.ndarray) -> float:
    """Log weight (natural logarithm) of the hand of `seat` as a whole."""
    p = w.seat[seat]
    n_melds = np.int64(p.n_melds)
    distance = max(shanten(p.hand_keys, n_melds), np.int64(0))
    if in_riichi(w, seat):
        if distance > 0:
            return NOT_TENPAI * distance
        return 0.0 if fits_riichi(p, safe) else PASSED_WAIT
    bucket = min(np.int64(p.n_river) // BUCKET, np.int64(N_BUCKETS - 1))
    return shanten_weights[n_melds, bucket, min(distance, np.int64(N_SHANTENS - 1))]


@inner
def fits_riichi(p: np.record, safe: np.uint64) -> bool:
    """Whether the hand of a seat is tenpai, and waits for nothing that has passed it."""
    n_melds = np.int64(p.n_melds)
    if shanten(p.hand_keys, n_melds) > 0:
        return False
    waiting = np.uint64(waits(p.hand, p.hand_keys, n_melds))
    return waiting != np.uint64(0) and (waiting & safe) == np.uint64(0)


@inner
def exchange(w: np.record, s: np.record, i: int, j: int) -> float:
    """Exchange two tiles of the pool, in the hands of `w` too; returns the gain of log weight by tiles."""
    gain = 0.0
    for k in range(2):
        index, other = (i, j) if k == 0 else (j, i)
        h = hand_of(s, index)
        if h < HANDS:
            leaves, comes = KIND_OF[s.pool[index]], KIND_OF[s.pool[other]]
            move(w.seat[s.seat[h]], leaves, np.int64(-1))
            move(w.seat[s.seat[h]], comes, np.int64(1))
            gain += s.log_weight[h, comes] - s.log_weight[h, leaves]
    s.pool[i], s.pool[j] = s.pool[j], s.pool[i]
    return gain


@inner
def step(w: np.record, s: np.record, shanten_weights: np.ndarray, only: int) -> None:
    """Take one Metropolis step: exchange a tile of a hand for one outside it, or reject the exchange.

    `only`: a hand that is exchanged with the rest, while the other is kept; HANDS: any.
    """
    i, j = draw(s, s.size[0] + s.size[1]), draw(s, np.int64(s.n))
    first, second = hand_of(s, i), hand_of(s, j)
    if first == second or (only < HANDS and (first != only or second != HANDS)):
        return
    if KIND_OF[s.pool[i]] == KIND_OF[s.pool[j]]:  # red or not
        s.pool[i], s.pool[j] = s.pool[j], s.pool[i]
        return
    gain = exchange(w, s, i, j)
    before_0, before_1 = s.hand_weight[0], s.hand_weight[1]
    for h in (first, second):
        if h < HANDS:
            s.hand_weight[h] = hand_weight(w, np.int64(s.seat[h]), s.safe[h], shanten_weights)
    gain += s.hand_weight[0] + s.hand_weight[1] - before_0 - before_1
    if gain < 0.0:
        s.state = s.state + GOLDEN
        if uniform(splitmix(s.state)) >= math.exp(gain):
            exchange(w, s, i, j)
            s.hand_weight[0], s.hand_weight[1] = before_0, before_1


@inner
def next_world(w: np.record, s: np.record, shanten_weights: np.ndarray) -> None:
    """Lay the next world into `w`, a view or the world before: hands, wall, and the menus that depend on them."""
    first = np.int64(0)
    for h in range(HANDS):
        p = w.seat[s.seat[h]]
        lay_hand(p, s, first, np.int64(s.size[h]))
        s.hand_weight[h] = hand_weight(w, np.int64(s.seat[h]), s.safe[h], shanten_weights)
        first += s.size[h]
    for _ in range(STEPS if s.started else FIRST_STEPS):
        step(w, s, shanten_weights, np.int64(HANDS))
    s.started = 1
    for h in range(HANDS):
        p, tries, riichi = w.seat[s.seat[h]], 0, in_riichi(w, np.int64(s.seat[h]))
        while tries < RIICHI_TRIES and riichi and not fits_riichi(p, s.safe[h]):
            for _ in range(RIICHI_STEPS):
                step(w, s, shanten_weights, np.int64(h))
            tries += 1
    shuffle(s, first)
    lay_world(w, s)


@inner
def lay_world(w: np.record, s: np.record) -> None:
    """Lay the pool into `w`: the hands with their red fives and waits, the wall, and the menus of a response."""
    at = np.int64(0)
    for h in range(HANDS):
        p = w.seat[s.seat[h]]
        lay_hand(p, s, at, np.int64(s.size[h]))
        update_waits(p)
        p.temporary_furiten = p.riichi_furiten = 0
        at += s.size[h]
    for index in range(DEALT, WALL_SIZE):
        if w.known_by[index] == NOBODY:
            w.wall[index] = s.pool[at]
            at += 1
    if w.phase == RESPONSE:
        w.answer[:] = NONE
        w.legal[:] = np.uint64(0)
        response_menus(w)
