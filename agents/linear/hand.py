"""The features of a hand of 13 - 3m tiles with m melds: after a discard, or before a draw."""

from __future__ import annotations

import numpy as np

from agents.linear.features import COUNTS, ENERGY_AT, INDEX, LOST_OPEN
from engine.compiling import inner
from engine.hand import has_kind, in_river
from engine.kernels import bit_count
from engine.shanten import (
    KEY_WEIGHT,
    regular_shanten,
    shanten,
    ukeire_kinds,
)
from engine.table import PON_MELD
from engine.tiles import (
    EAST,
    HONOUR,
    KIND_1M,
    KIND_9M,
    N_KINDS,
    NORTH,
    PIN,
    SANMA_KINDS,
    SOU,
    TERMINALS_HONOURS_MASK,
)

PROGRESS, TENPAI, IISHANTEN, USEFUL = (INDEX[name] for name in ("progress", "tenpai", "iishanten", "useful_0"))
DORA, DORA_NEAR, DORA_GAP, RED, NUKIDORA = (
    INDEX[name] for name in ("dora", "dora_near", "dora_gap", "red", "nukidora")
)
VALUE_TRIPLET, VALUE_PAIR, VALUE_LONE = (INDEX[f"value_{name}"] for name in ("triplet", "pair", "lone"))
TANYAO, ONE_SUIT, CHANTA, KOKUSHI = (INDEX[f"{name}_0"] for name in ("tanyao", "one_suit", "chanta", "kokushi"))
SEVEN_PAIRS_NEARER, SEVEN_PAIRS_AS_NEAR = INDEX["seven_pairs_nearer"], INDEX["seven_pairs_as_near"]
TOITOI_TRIPLETS, TOITOI_PAIRS = INDEX["toitoi_triplets"], INDEX["toitoi_pairs"]
ITTSU, SANSHOKU, IIPEIKOU = INDEX["ittsu_9"], INDEX["sanshoku_9"], INDEX["iipeikou_6"]
CLOSED, CALLABLE, OPEN_NO_YAKU, OPEN_DETOUR = (
    INDEX[name] for name in ("closed", "callable", "open_no_yaku", "open_detour")
)
FURITEN, KEITEN, OPEN_THREAT = INDEX["furiten"], INDEX["keiten"], INDEX["open_threat"]

NEVER = 99  # steps that a yaku takes which the melds rule out
KEITEN_DRAWS = 12
TOITOI_STEPS = 3  # a hand at most so far from toitoi counts its triplets and pairs
IN_SIGHT_TANYAO, IN_SIGHT_ONE_SUIT, IN_SIGHT_CHANTA, IN_SIGHT_TOITOI = 1, 2, 1, 1  # steps more than the nearest hand
IN_SIGHT_TILES = 7  # of ittsu or sanshoku doukou in place
MAX_DETOUR = 3
NO_RUNS = np.array([KIND_1M, KIND_9M, *range(HONOUR, N_KINDS)], dtype=np.int64)
ONE = np.uint64(1)
SUIT = 0x1FF
POPCOUNT = np.array([bin(bits).count("1") for bits in range(SUIT + 1)], dtype=np.int64)
# What a meld may not be for a half flush in pinzu, in souzu.
OTHER_SUITS = np.array([SUIT | SUIT << SOU, SUIT | SUIT << PIN], dtype=np.uint64)


@inner
def fill_shape(p: np.record, shape: np.record) -> None:
    """Which kinds the hand holds, and how many tiles of each part."""
    held = pairs = triplets = np.uint64(0)
    for kind in SANMA_KINDS:
        count, at = p.hand[kind], np.uint64(kind)
        held |= np.uint64(count > 0) << at
        pairs |= np.uint64(count > 1) << at
        triplets |= np.uint64(count > 2) << at
    shape.held, shape.pairs, shape.triplets = held, pairs, triplets
    for group in range(2):
        tiles = np.int64(0)
        first = PIN + 9 * group
        for kind in range(first, first + 9):
            tiles += p.hand[kind]
        shape.suit[group] = tiles
        shape.ends[group] = np.int64(p.hand[first]) + np.int64(p.hand[first + 8])
        shape.middle[group] = np.int64(p.hand[first + 3]) + np.int64(p.hand[first + 4]) + np.int64(p.hand[first + 5])
    shape.manzu = np.int64(p.hand[KIND_1M]) + np.int64(p.hand[KIND_9M])
    shape.melded = np.uint64(0)
    for m in range(p.n_melds):
        shape.melded |= ONE << np.uint64(p.meld_kind[m])


@inner
def fill_speed(t: np.record, p: np.record, context: np.record, nearest: int, phi: np.ndarray) -> int:
    """The features of speed; returns the shanten. The ukeire of a hand farther than `nearest` is not counted."""
    n_melds = np.int64(p.n_melds)
    distance = shanten(p.hand_keys, n_melds)
    phi[PROGRESS] = 6.0 - distance
    phi[TENPAI] = distance == 0
    phi[IISHANTEN] = distance == 1
    if distance > nearest:
        return distance
    kinds = np.uint64(ukeire_kinds(p.hand, p.hand_keys, n_melds))
    tiles = np.int64(0)
    for kind in SANMA_KINDS:
        if has_kind(kinds, kind):
            tiles += context.unseen[kind]
    phi[USEFUL + min(distance, np.int64(3))] = tiles
    if distance == 0:
        phi[FURITEN] = in_river(p, kinds)
        phi[KEITEN] = t.live_left <= KEITEN_DRAWS
    return distance


@inner
def fill_energies(p: np.record, held: np.uint64, phi: np.ndarray) -> None:
    """The energies of the tiles."""
    for first in (PIN, SOU):
        suit = np.int64(held >> np.uint64(first)) & SUIT
        near, gap = suit << 1 | suit >> 1, suit << 2 | suit >> 2
        for rank in range(9):
            count = min(np.int64(p.hand[first + rank]), np.int64(COUNTS))
            if count > 0:
                place = (count - 1) * 4 + ((near >> rank) & 1) * 2 + ((gap >> rank) & 1)
                phi[ENERGY_AT[first + rank] + place] += 1.0
    for kind in NO_RUNS:
        count = min(np.int64(p.hand[kind]), np.int64(COUNTS))
        if count > 0:
            phi[ENERGY_AT[kind] + count - 1] += 1.0


@inner
def fill_dora(p: np.record, context: np.record, held: np.uint64, phi: np.ndarray) -> None:
    """Dora, red fives and nukidora."""
    for i in range(context.n_dora):
        kind = context.dora[i]
        count = np.int64(p.hand[kind])
        for m in range(p.n_melds):
            if p.meld_kind[m] == kind:
                count += 3 if p.meld_type[m] == PON_MELD else 4
        if kind == NORTH:
            count += np.int64(p.nukidora)
        phi[DORA] += count
        if count == 0 and PIN <= kind < HONOUR:
            first = PIN if kind < SOU else SOU
            suit, rank = np.int64(held >> np.uint64(first)) & SUIT, kind - first
            if ((suit << 1 | suit >> 1) >> rank) & 1:
                phi[DORA_NEAR] += 1.0
            elif ((suit << 2 | suit >> 2) >> rank) & 1:
                phi[DORA_GAP] += 1.0
    reds = np.int64(p.red[0]) + np.int64(p.red[1])
    for m in range(p.n_melds):
        reds += np.int64(p.meld_red[m])
    phi[RED] = reds
    phi[NUKIDORA] = p.nukidora


@inner
def fill_value_tiles(p: np.record, context: np.record, phi: np.ndarray) -> bool:
    """Triplets, pairs and lone tiles of value; returns whether a triplet or pair is in sight as a yaku."""
    for kind in range(EAST, N_KINDS):
        value = context.value[kind]
        if value > 0:
            count = p.hand[kind]
            if count >= 3:
                phi[VALUE_TRIPLET] += value
            elif count == 2 and context.unseen[kind] > 0:
                phi[VALUE_PAIR] += value
            elif count == 1 and context.unseen[kind] > 1:
                phi[VALUE_LONE] += value
    for m in range(p.n_melds):
        phi[VALUE_TRIPLET] += context.value[p.meld_kind[m]]
    return phi[VALUE_TRIPLET] > 0 or phi[VALUE_PAIR] > 0


@inner
def too_far(p: np.record, tiles: int, limit: int) -> bool:
    """Whether a hand of which only `tiles` may stay is farther than shanten `limit`, without looking further."""
    return 13 - 3 * np.int64(p.n_melds) - tiles > limit


@inner
def tanyao_steps(p: np.record, shape: np.record, limit: int, keys: np.ndarray) -> int:
    """Shanten of the simples alone; NEVER if it is more than `limit`, or the melds rule it out."""
    tiles = shape.suit[0] + shape.suit[1] - shape.ends[0] - shape.ends[1]
    if shape.melded & np.uint64(TERMINALS_HONOURS_MASK) or too_far(p, tiles, limit):
        return NEVER
    for group in range(2):
        first = PIN + 9 * group
        keys[group] = p.hand_keys[group] - p.hand[first] - np.int64(p.hand[first + 8]) * KEY_WEIGHT[first + 8]
    keys[2] = 0
    return shanten(keys, np.int64(p.n_melds))


@inner
def chanta_steps(p: np.record, shape: np.record, limit: int, keys: np.ndarray) -> int:
    """As `tanyao_steps`, without 4-6: a lower bound, as what is left may still form sets of simples."""
    tiles = 13 - 3 * np.int64(p.n_melds) - shape.middle[0] - shape.middle[1]
    if shape.melded & ~np.uint64(TERMINALS_HONOURS_MASK) or too_far(p, tiles, limit):
        return NEVER
    for group in range(2):
        keys[group] = p.hand_keys[group]
        for kind in range(PIN + 9 * group + 3, PIN + 9 * group + 6):
            keys[group] -= np.int64(p.hand[kind]) * KEY_WEIGHT[kind]
    keys[2] = p.hand_keys[2]
    return shanten(keys, np.int64(p.n_melds))


@inner
def one_suit_steps(p: np.record, shape: np.record, limit: int, keys: np.ndarray) -> int:
    """As `tanyao_steps`, for one suit and the honours: pinzu or souzu, whichever is nearer."""
    best = np.int64(NEVER)
    for group in range(2):
        if shape.melded & OTHER_SUITS[group]:
            continue
        tiles = 13 - 3 * np.int64(p.n_melds) - shape.suit[1 - group] - shape.manzu
        if not too_far(p, tiles, limit):
            keys[group], keys[1 - group] = p.hand_keys[group], 0
            keys[2] = p.hand_keys[2] - p.hand[KIND_1M] - np.int64(p.hand[KIND_9M]) * KEY_WEIGHT[KIND_9M]
            best = min(best, shanten(keys, np.int64(p.n_melds)))
    return best


@inner
def fill_sets(p: np.record, shape: np.record, distance: int, phi: np.ndarray) -> int:
    """Toitoi, seven pairs and kokushi; returns the steps to toitoi."""
    all_pairs, concealed = bit_count(shape.pairs), bit_count(shape.triplets)
    triplets, pairs = concealed + np.int64(p.n_melds), all_pairs - concealed
    steps = 8 - 2 * triplets - min(pairs, 5 - triplets)
    if steps <= TOITOI_STEPS:
        phi[TOITOI_TRIPLETS], phi[TOITOI_PAIRS] = triplets, pairs
    if p.n_melds == 0:
        if 6 - all_pairs + max(7 - bit_count(shape.held), 0) == distance:
            as_near = regular_shanten(p.hand_keys, np.int64(0)) == distance
            phi[SEVEN_PAIRS_AS_NEAR if as_near else SEVEN_PAIRS_NEARER] = 1.0
        missing = 13 - bit_count(shape.held & np.uint64(TERMINALS_HONOURS_MASK))
        if missing <= 4:
            phi[KOKUSHI + missing] = 1.0
    return steps


@inner
def sanshoku_tiles(p: np.record, kinds: tuple[int, int, int]) -> int:
    """Tiles in place for triplets of all of `kinds`."""
    tiles = np.int64(0)
    for kind in kinds:
        tiles += min(np.int64(p.hand[kind]), np.int64(3))
    for m in range(p.n_melds):
        for kind in kinds:
            if p.meld_kind[m] == kind:
                tiles += 3
    return tiles


@inner
def iipeikou_tiles(shape: np.record) -> int:
    """The most tiles in place for two equal runs."""
    best = np.int64(0)
    for first in (PIN, SOU):
        held = np.int64(shape.held >> np.uint64(first)) & SUIT
        pairs = np.int64(shape.pairs >> np.uint64(first)) & SUIT
        for low in range(7):
            best = max(best, POPCOUNT[(held >> low) & 7] + POPCOUNT[(pairs >> low) & 7])
    return best


@inner
def fill_runs(p: np.record, shape: np.record, phi: np.ndarray) -> int:
    """Ittsu, sanshoku doukou and iipeikou; returns the most tiles in place for one of the first two."""
    ittsu = np.int64(0)
    if p.n_melds <= 1:
        for first in (PIN, SOU):
            ittsu = max(ittsu, POPCOUNT[np.int64(shape.held >> np.uint64(first)) & SUIT])
    if ittsu >= 6:
        phi[ITTSU + 9 - ittsu] = 1.0
    sanshoku = max(sanshoku_tiles(p, (KIND_1M, PIN, SOU)), sanshoku_tiles(p, (KIND_9M, PIN + 8, SOU + 8)))
    if sanshoku >= 6:
        phi[SANSHOKU + 9 - sanshoku] = 1.0
    if p.open == 0:
        iipeikou = iipeikou_tiles(shape)
        if iipeikou >= 4:
            phi[IIPEIKOU + 6 - iipeikou] = 1.0
    return max(ittsu, sanshoku)


@inner
def fill_yaku(p: np.record, context: np.record, distance: int, phi: np.ndarray) -> None:
    """The features of yaku, and what an open hand loses with none in sight."""
    shape = context.shape[0]
    limit = distance + MAX_DETOUR
    valued = fill_value_tiles(p, context, phi)
    tanyao = tanyao_steps(p, shape, limit, context.keys) - distance
    one_suit = one_suit_steps(p, shape, limit, context.keys) - distance
    chanta = chanta_steps(p, shape, limit, context.keys) - distance
    if tanyao <= 1:
        phi[TANYAO + tanyao] = 1.0
    if one_suit <= 2:
        phi[ONE_SUIT + one_suit] = 1.0
    if chanta <= 1:
        phi[CHANTA + chanta] = 1.0
    toitoi = fill_sets(p, shape, distance, phi) - distance
    in_place = fill_runs(p, shape, phi)
    in_sight = valued or tanyao <= IN_SIGHT_TANYAO or one_suit <= IN_SIGHT_ONE_SUIT or toitoi <= IN_SIGHT_TOITOI
    in_sight = in_sight or in_place >= IN_SIGHT_TILES or chanta <= IN_SIGHT_CHANTA
    if p.open == 0:
        phi[CLOSED] = 1.0
        phi[CALLABLE] = in_sight
        return
    phi[OPEN_THREAT] = context.threats > 0
    detour = min(min(tanyao, one_suit), min(chanta, toitoi))
    phi[OPEN_DETOUR] = 0 if valued else min(max(detour, np.int64(0)), np.int64(MAX_DETOUR))
    if not in_sight:
        phi[OPEN_NO_YAKU] = 1.0
        for index in LOST_OPEN:
            phi[index] = 0.0


@inner
def fill_hand(t: np.record, context: np.record, nearest: int, phi: np.ndarray) -> int:
    """Write the features of the viewer's hand to `phi` float64[N_FEATURES]; returns the shanten.

    Ukeire is counted where it is at most `nearest`. Features of the action itself are left 0.
    """
    p = t.seat[t.viewer]
    phi[:] = 0.0
    distance = fill_speed(t, p, context, nearest, phi)
    fill_shape(p, context.shape[0])
    fill_energies(p, context.shape[0].held, phi)
    fill_dora(p, context, context.shape[0].held, phi)
    fill_yaku(p, context, distance, phi)
    return distance
