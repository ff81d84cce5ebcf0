"""Invariants of a table at every step of a game, checked by compiled code."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner, kernel
from engine.events import DRAW, event_type
from engine.rules import N_DRAWS, RIICHI_STICK, TOTAL_POINTS
from engine.ryukyoku import EXHAUSTIVE, NAGASHI_MANGAN
from engine.shanten import KEY_GROUP, KEY_WEIGHT, N_GROUPS
from engine.table import (
    AFTER_PON,
    DAIMINKAN_MELD,
    DEALT,
    DORA_AT,
    REPLACEMENT_AT,
    RIVER_CALLED,
    RIVER_TILE,
    TABLE,
    WALL_SIZE,
)
from engine.tiles import FULL_SET, N_KINDS, N_TILES, NORTH, RED_5P, RED_INDEX

FAULTS = (
    "scores and sticks are not 105,000",
    "not each of the 108 tiles exists once",
    "a hand has too many or too few tiles",
    "a hand's keys are not those of its tiles",
    "the tiles seen are not those that lie face up",
    "draws in the log, tiles left to draw and draws to an exhaustive draw do not go together",
)
POINTS, TILES, HAND_SIZE, KEYS, SEEN, DRAWS = range(len(FAULTS))
EXPECTED = np.bincount(FULL_SET, minlength=N_TILES)


@inner
def count_tiles(tiles: np.ndarray, kind: int, count: int, reds: int) -> None:
    """Add `count` tiles of a kind, `reds` of them red, to `tiles` int64[37]."""
    tiles[kind] += count - reds
    if reds > 0:
        tiles[RED_5P + RED_INDEX[kind]] += reds


@inner
def count_face_up(p: np.record, tiles: np.ndarray) -> None:
    """Add the melds, norths and uncalled discards of a seat to `tiles`."""
    for m in range(p.n_melds):
        size = 4 if p.meld_type[m] >= DAIMINKAN_MELD else 3
        count_tiles(tiles, np.int64(p.meld_kind[m]), np.int64(size), np.int64(p.meld_red[m]))
    for index in range(p.n_river):
        if p.river[index] & RIVER_CALLED == 0:
            tiles[p.river[index] & RIVER_TILE] += 1
    tiles[NORTH] += p.nukidora


@inner
def count_hand(p: np.record, tiles: np.ndarray) -> None:
    """Add the concealed tiles of a seat to `tiles`."""
    for kind in range(N_KINDS):
        reds = np.int64(p.red[RED_INDEX[kind]]) if RED_INDEX[kind] >= 0 else np.int64(0)
        count_tiles(tiles, np.int64(kind), np.int64(p.hand[kind]), reds)


@inner
def right_size(t: np.record, seat: int) -> bool:
    """Whether a hand has 13 tiles, or 14 where its seat has drawn or ponned; a meld counts three."""
    p = t.seat[seat]
    held = np.int64(0)
    for kind in range(N_KINDS):
        held += p.hand[kind]
    has_more = t.turn == seat and (t.drawn >= 0 or t.phase == AFTER_PON)
    return held + 3 * p.n_melds == (14 if has_more else 13)


@inner
def right_keys(p: np.record, keys: np.ndarray) -> bool:
    """Whether the keys kept with a hand are those of its tiles."""
    keys[:] = 0
    for kind in range(N_KINDS):
        keys[KEY_GROUP[kind]] += KEY_WEIGHT[kind] * p.hand[kind]
    for group in range(N_GROUPS):
        if keys[group] != p.hand_keys[group]:
            return False
    return True


@inner
def right_draws(t: np.record) -> bool:
    """Whether the log has as many draws as the wall has lost, and an exhaustive draw comes after exactly 55."""
    draws = np.int64(0)
    for index in range(t.n_log):
        if event_type(t.log[index]) == DRAW:
            draws += 1
    exhausted = t.ryukyoku_reason == EXHAUSTIVE or t.ryukyoku_reason == NAGASHI_MANGAN
    return draws == N_DRAWS - t.live_left and (draws == N_DRAWS or not exhausted) and draws <= N_DRAWS


@inner
def right_tiles(t: np.record, tiles: np.ndarray) -> int:
    """TILES or SEEN where that is wrong, else -1."""
    tiles[:] = 0
    for i in range(t.n_indicators):
        tiles[t.wall[DORA_AT[i]]] += 1
    for seat in range(3):
        count_face_up(t.seat[seat], tiles)
    for kind in range(N_KINDS):
        reds = tiles[RED_5P + RED_INDEX[kind]] if RED_INDEX[kind] >= 0 else np.int64(0)
        if tiles[kind] + reds != t.seen[kind]:
            return SEEN
    for seat in range(3):
        count_hand(t.seat[seat], tiles)
    live_draws = N_DRAWS - np.int64(t.live_left) - np.int64(t.n_replacements)
    for index in range(DEALT + live_draws, WALL_SIZE):
        tiles[t.wall[index]] += 1
    for i in range(t.n_replacements):
        tiles[t.wall[REPLACEMENT_AT[i]]] -= 1
    for i in range(t.n_indicators):
        tiles[t.wall[DORA_AT[i]]] -= 1
    for tile in range(N_TILES):
        if tiles[tile] != EXPECTED[tile]:
            return TILES
    return -1


@inner
def fault_of(t: np.record, tiles: np.ndarray, keys: np.ndarray) -> int:
    """Index in FAULTS of the first fault of a table, else -1."""
    points = np.int64(t.sticks) * RIICHI_STICK
    for seat in range(3):
        points += t.seat[seat].score
        if not right_size(t, np.int64(seat)):
            return HAND_SIZE
        if not right_keys(t.seat[seat], keys):
            return KEYS
    if points != TOTAL_POINTS:
        return POINTS
    if not right_draws(t):
        return DRAWS
    return right_tiles(t, tiles)


@kernel("uint8[::1]")
def find_fault(raw: np.ndarray) -> tuple[int, int]:
    """Index of the first faulty table of `raw` (bytes of TABLE records), and of its fault in FAULTS; else (-1, -1)."""
    tables = raw.view(TABLE)
    tiles = np.zeros(N_TILES, dtype=np.int64)
    keys = np.zeros(N_GROUPS, dtype=np.int64)
    for i in range(len(tables)):
        fault = fault_of(tables[i], tiles, keys)
        if fault >= 0:
            return np.int64(i), np.int64(fault)
    return np.int64(-1), np.int64(-1)
