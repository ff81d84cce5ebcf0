"""The value of a hand in han: dora, yaku it has, and yaku it can still reach."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.hand import has_kind
from engine.shanten import KEY_GROUP, KEY_WEIGHT
from engine.table import PON_MELD, seat_wind
from engine.tiles import EAST, HAKU, HONOUR, N_KINDS, NORTH, SANMA_KINDS, TERMINALS_HONOURS_MASK

ONE = np.uint64(1)
PIN_MASK, SOU_MASK, HONOUR_MASK = 0x1FF << 9, 0x1FF << 18, 0x7F << 27
ALL_MASK = (1 << N_KINDS) - 1

# Plans: the kinds a hand may use, and the han that brings, concealed and open. In order: tanyao, half flush in pin and
# in sou, full flush in pin and in sou.
PLAN_MASK = np.array(
    [ALL_MASK & ~TERMINALS_HONOURS_MASK, PIN_MASK | HONOUR_MASK, SOU_MASK | HONOUR_MASK, PIN_MASK, SOU_MASK],
    dtype=np.uint64,
)
PLAN_CLOSED = np.array([1.0, 3.0, 3.0, 6.0, 6.0])
PLAN_OPEN = np.array([1.0, 2.0, 2.0, 5.0, 5.0])
N_PLANS = len(PLAN_MASK)

# Expected han of a concealed hand beyond its dora and value triplets: riichi itself; tsumo, ippatsu and ura dora of a
# hand in riichi; pinfu, or a value pair that becomes a triplet.
RIICHI_HAN = 1.0
RIICHI_BONUS_HAN = 1.15
PINFU_HAN = 0.35
VALUE_PAIR_HAN = 0.35
TOITOI_HAN = 2.0


@inner
def value_han(t: np.record, seat: int, kind: int) -> int:
    """Han of a triplet of `kind`: dragons, seat wind, round wind."""
    if kind < HONOUR:
        return np.int64(0)
    own_wind = EAST + seat_wind(t, seat)
    return np.int64(kind >= HAKU) + np.int64(kind == own_wind) + np.int64(kind == EAST + np.int64(t.round_wind))


@inner
def dora_han(p: np.record, dora: np.ndarray) -> int:
    """Dora, red fives and nukidora in hand, in melds and set aside. `dora` int64[34] is what each kind counts."""
    han = np.int64(p.red[0]) + np.int64(p.red[1]) + np.int64(p.nukidora) * (1 + dora[NORTH])
    for kind in SANMA_KINDS:
        han += np.int64(p.hand[kind]) * dora[kind]
    for m in range(p.n_melds):
        tiles = np.int64(3) if p.meld_type[m] == PON_MELD else np.int64(4)
        han += tiles * dora[p.meld_kind[m]] + np.int64(p.meld_red[m])
    return han


@inner
def value_triplet_han(t: np.record, p: np.record) -> int:
    """Han of the value triplets in the hand and in melds."""
    seat = np.int64(t.viewer)
    han = np.int64(0)
    for kind in range(EAST, N_KINDS):
        if p.hand[kind] >= 3:
            han += value_han(t, seat, np.int64(kind))
    for m in range(p.n_melds):
        han += value_han(t, seat, np.int64(p.meld_kind[m]))
    return han


@inner
def meld_kinds(p: np.record) -> np.uint64:
    """Bit mask of the kinds in melds."""
    kinds = np.uint64(0)
    for m in range(p.n_melds):
        kinds |= ONE << np.uint64(p.meld_kind[m])
    return kinds


@inner
def restrict_keys(p: np.record, kinds: np.uint64, keys: np.ndarray) -> None:
    """Fill `keys` int32[3] with the shanten keys of the hand's tiles of `kinds` alone."""
    keys[0], keys[1], keys[2] = p.hand_keys[0], p.hand_keys[1], p.hand_keys[2]
    for kind in SANMA_KINDS:
        if p.hand[kind] > 0 and not has_kind(kinds, kind):
            keys[KEY_GROUP[kind]] -= np.int64(p.hand[kind]) * KEY_WEIGHT[kind]


@inner
def toitoi_shanten(p: np.record) -> int:
    """Shanten to four triplets and a pair."""
    triplets, pairs = np.int64(p.n_melds), np.int64(0)
    for kind in SANMA_KINDS:
        if p.hand[kind] >= 3:
            triplets += 1
        elif p.hand[kind] == 2:
            pairs += 1
    return 8 - 2 * triplets - min(pairs, 5 - triplets)
