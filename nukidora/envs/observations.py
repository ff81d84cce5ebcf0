"""Observations: a seat's information as arrays for a network, made from views, in which hidden data is blanked.

`OBSERVATIONS` has a row for each kind of observation; `TABLE_CHANNELS` and `SEAT_CHANNELS` describe the channels of
``planes``. Players are counted from the viewer: 0 is the viewer, 1 the seat after it, 2 the seat before it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from agents.bert.encoding import MAX_TOKENS, encode
from agents.bert.vocabulary import N_TOKENS
from agents.blocks import Block, offsets_of
from agents.compiled.menu import is_legal
from agents.compiled.unseen import count_unseen, unseen
from engine.actions import ANKAN, DISCARD, KAKAN, N_ACTIONS, PASS, TSUMOGIRI
from engine.compiling import inner, kernel
from engine.hand import has_kind, is_furiten, move
from engine.rules import N_DRAWS, TOTAL_POINTS
from engine.shanten import discards_keeping_shanten, shanten, ukeire_kinds
from engine.table import (
    ANKAN_MELD,
    DORA_AT,
    GAME_OVER,
    MAX_RIVER,
    N_SEATS,
    PON_MELD,
    RESPONSE,
    RIVER_CALLED,
    RIVER_TILE,
    RIVER_TSUMOGIRI,
    TABLE,
    raw_bytes,
    seat_wind,
)
from engine.tiles import DORA_OF, EAST, KIND_OF, N_KINDS, RED_5P, RED_5S, RED_INDEX, SANMA_KINDS, is_red
from engine.view import blank_for

COPIES = 4

# Unless stated otherwise, row k of a channel stands for kind k; a constant channel has the same number in all rows.
TABLE_CHANNELS = (
    Block("hand", COPIES, "channel c: 1 if the concealed hand holds more than c tiles of the kind"),
    Block("red", 1, "1 if the concealed hand holds the red five of the kind"),
    Block("drawn", 1, "1 for the tile just drawn"),
    Block("offer", 1, "1 for the tile that may be called or won on"),
    Block("unseen", 1, "tiles that the viewer does not see, / 4"),
    Block("dora", 1, "indicators that make the kind dora, / 4"),
    Block("round_wind", 1, "1 in the row of the round wind"),
    Block("own_wind", 1, "1 in the row of the viewer's wind"),
    Block("may_discard", 1, "1 if a tile of the kind may be discarded"),
    Block("may_ankan", 1, "1 if an ankan of the kind is legal"),
    Block("may_kakan", 1, "1 if a kakan of the kind is legal"),
    Block(
        "may",
        PASS - TSUMOGIRI + 1,
        "constant, 1 if it is legal: tsumogiri, riichi, pon, pon with red, daiminkan, nukidora, tsumo, ron, kyushu "
        "kyuhai, pass",
    ),
    Block("shanten", 1, "constant: shanten of the hand, / 6"),
    Block("accepts", 1, "1 if drawing the kind lowers the shanten; only while another seat's tile is on offer"),
    Block("keeps", 1, "1 if discarding the kind leaves the lowest shanten; only on the own turn"),
    Block("ukeire", 1, "unseen tiles that lower the shanten after such a discard, / 40, at most 1"),
    Block("waits", 1, "1 if the kind completes the hand before the draw"),
    Block("furiten", 1, "constant: 1 if the viewer may not win by ron"),
    Block("progress", 1, "constant: rounds of the schedule played, / 6, at most 1"),
    Block("honba", 1, "constant: honba, / 10, at most 1"),
    Block("sticks", 1, "constant: riichi sticks on the table, / 10, at most 1"),
    Block("draws", 1, f"constant: draws left, / {N_DRAWS}"),
)
SEAT_CHANNELS = (  # for each player
    Block("pon", 1, "1 if the player has a pon of the kind"),
    Block("kan", 1, "1 for a daiminkan or kakan"),
    Block("ankan", 1, "1 for an ankan"),
    Block("meld_red", 1, "1 if that meld holds a red five"),
    Block("nukidora", 1, "constant: norths set aside, / 4"),
    Block("discarded", 1, "1 if the player has discarded the kind: it cannot win on it by ron"),
    Block(
        "river",
        COPIES,
        f"channel c: the turn, from 1, of the player's c-th discard of the kind (c from 0), / {MAX_RIVER}",
    ),
    Block("tsumogiri", COPIES, "channel c: 1 if that discard was the tile just drawn"),
    Block("river_red", 1, "1 if the player has discarded the red five of the kind"),
    Block("called", 1, "1 if a discard of the kind was called by another"),
    Block("riichi", 1, "constant: 1 in riichi, double riichi included"),
    Block("riichi_tile", 1, "1 for the tile discarded with riichi"),
    Block("ippatsu", 1, "constant: 1 while a win would be ippatsu"),
    Block("dealer", 1, "constant: 1 for the dealer"),
    Block("score", 1, f"constant: score / {TOTAL_POINTS:,}, from -1 to 1"),
)


AT, SEATS_AT = offsets_of(TABLE_CHANNELS)
SEAT_AT, PER_SEAT = offsets_of(SEAT_CHANNELS)
N_CHANNELS = SEATS_AT + N_SEATS * PER_SEAT
# name -> the channels of a group; those of players as "river 0", "river 1" and "river 2"
CHANNELS = {group.name: slice(at, at + group.n) for group, at in zip(TABLE_CHANNELS, AT)} | {
    f"{group.name} {player}": slice(first + at, first + at + group.n)
    for player in range(N_SEATS)
    for first in (SEATS_AT + player * PER_SEAT,)
    for group, at in zip(SEAT_CHANNELS, SEAT_AT)
}


@inner
def fill(row: np.ndarray, value: float) -> None:
    """A constant channel."""
    for kind in range(N_KINDS):
        row[kind] = value


@inner
def mark(row: np.ndarray, kinds: int) -> None:
    """1 for each kind of a bit mask."""
    for kind in range(N_KINDS):
        row[kind] = np.float32((np.uint64(kinds) >> np.uint64(kind)) & np.uint64(1))


@inner
def put_tiles(t: np.record, x: np.ndarray) -> None:
    """Write the channels of tiles and winds; `x` float32[N_CHANNELS, 34] holds zeros."""
    p = t.seat[t.viewer]
    for kind in SANMA_KINDS:
        for copy in range(p.hand[kind]):
            x[AT.hand + copy, kind] = 1.0
        x[AT.unseen, kind] = unseen(t, kind) / 4
    for tile in (RED_5P, RED_5S):
        if p.red[RED_INDEX[KIND_OF[tile]]]:
            x[AT.red, KIND_OF[tile]] = 1.0
    if t.drawn >= 0:
        x[AT.drawn, KIND_OF[t.drawn]] = 1.0
    if t.phase == RESPONSE and t.offer >= 0:
        x[AT.offer, KIND_OF[t.offer]] = 1.0
    for i in range(t.n_indicators):
        x[AT.dora, DORA_OF[KIND_OF[t.wall[DORA_AT[i]]]]] += 0.25
    x[AT.round_wind, EAST + np.int64(t.round_wind)] = 1.0
    x[AT.own_wind, EAST + seat_wind(t, np.int64(t.viewer))] = 1.0


@inner
def put_choices(t: np.record, x: np.ndarray) -> None:
    """Write the channels of legal actions, which are bits of two words: the kinds of discards begin at bit 0."""
    low, high = t.legal[t.viewer, 0], t.legal[t.viewer, 1]
    mark(x[AT.may_discard], low)
    for tile in (RED_5P, RED_5S):
        if has_kind(low, DISCARD + tile):
            x[AT.may_discard, KIND_OF[tile]] = 1.0
    if t.drawn >= 0 and has_kind(low, TSUMOGIRI):
        x[AT.may_discard, KIND_OF[t.drawn]] = 1.0
    for action in range(TSUMOGIRI, PASS + 1):
        if has_kind(low, action):
            fill(x[AT.may + action - TSUMOGIRI], 1.0)
    mark(x[AT.may_ankan], low >> np.uint64(ANKAN) | high << np.uint64(64 - ANKAN))
    mark(x[AT.may_kakan], high >> np.uint64(KAKAN - 64))


@inner
def put_hand(t: np.record, x: np.ndarray) -> None:
    """Write the channels computed from the hand, which is modified and then restored."""
    p = t.seat[t.viewer]
    n_melds = np.int64(p.n_melds)
    fill(x[AT.shanten], max(shanten(p.hand_keys, n_melds), np.int64(0)) / 6)
    mark(x[AT.waits], p.waits)
    if is_furiten(p):
        fill(x[AT.furiten], 1.0)
    if t.turn != t.viewer or t.phase >= RESPONSE:
        mark(x[AT.accepts], ukeire_kinds(p.hand, p.hand_keys, n_melds) if t.phase == RESPONSE else np.uint64(0))
        return
    keeping = discards_keeping_shanten(p.hand, p.hand_keys, n_melds)
    for kind in SANMA_KINDS:
        if not has_kind(keeping, kind) or x[AT.may_discard, kind] == 0:
            continue
        x[AT.keeps, kind] = 1.0
        move(p, kind, np.int64(-1))
        accepted = ukeire_kinds(p.hand, p.hand_keys, n_melds)
        move(p, kind, np.int64(1))
        x[AT.ukeire, kind] = min(count_unseen(t, accepted) / 40, 1.0)


@inner
def put_seat(t: np.record, seat: int, x: np.ndarray) -> None:
    """Write the channels of one player; `x` float32[PER_SEAT, 34]."""
    p = t.seat[seat]
    for i in range(p.n_melds):
        kind = np.int64(p.meld_kind[i])
        meld = np.int64(p.meld_type[i])
        x[SEAT_AT.pon if meld == PON_MELD else SEAT_AT.ankan if meld == ANKAN_MELD else SEAT_AT.kan, kind] = 1.0
        if p.meld_red[i]:
            x[SEAT_AT.meld_red, kind] = 1.0
    fill(x[SEAT_AT.nukidora], p.nukidora / 4)
    mark(x[SEAT_AT.discarded], p.discarded)
    for i in range(p.n_river):
        entry = np.int64(p.river[i])
        tile = entry & RIVER_TILE
        kind = KIND_OF[tile]
        copy = np.int64(0)
        while x[SEAT_AT.river + copy, kind] > 0:
            copy += 1
        x[SEAT_AT.river + copy, kind] = (i + 1) / MAX_RIVER
        if entry & RIVER_TSUMOGIRI:
            x[SEAT_AT.tsumogiri + copy, kind] = 1.0
        if is_red(tile):
            x[SEAT_AT.river_red, kind] = 1.0
        if entry & RIVER_CALLED:
            x[SEAT_AT.called, kind] = 1.0
        if p.riichi and i == p.riichi_river:
            x[SEAT_AT.riichi_tile, kind] = 1.0
    if p.riichi:
        fill(x[SEAT_AT.riichi], 1.0)
    if p.ippatsu:
        fill(x[SEAT_AT.ippatsu], 1.0)
    if seat == t.dealer:
        fill(x[SEAT_AT.dealer], 1.0)
    fill(x[SEAT_AT.score], min(max(p.score / TOTAL_POINTS, -1.0), 1.0))


@kernel("uint8[::1], float32[:, :, ::1]")
def _put_planes(raw: np.ndarray, x: np.ndarray) -> None:
    views, flat = raw.view(TABLE), x.reshape((len(x), N_CHANNELS * N_KINDS))
    for k in range(len(x)):
        t = views[k]
        for i in range(N_CHANNELS * N_KINDS):
            flat[k, i] = 0.0
        put_tiles(t, x[k])
        put_choices(t, x[k])
        put_hand(t, x[k])
        fill(x[k, AT.progress], min((3 * np.int64(t.round_wind) + np.int64(t.dealer)) / 6, 1.0))
        fill(x[k, AT.honba], min(t.honba / 10, 1.0))
        fill(x[k, AT.sticks], min(t.sticks / 10, 1.0))
        fill(x[k, AT.draws], t.live_left / N_DRAWS)
        for player in range(N_SEATS):
            first = SEATS_AT + player * PER_SEAT
            put_seat(t, (np.int64(t.viewer) + player) % N_SEATS, x[k, first : first + PER_SEAT])


@kernel("uint8[::1], int8[:, ::1]")
def _put_masks(raw: np.ndarray, masks: np.ndarray) -> None:
    views = raw.view(TABLE)
    for k in range(len(masks)):
        for action in range(N_ACTIONS):
            masks[k, action] = is_legal(views[k], np.int64(action))
        if views[k].phase == GAME_OVER:
            masks[k, PASS] = 1


@kernel("uint8[::1], int8[::1], uint8[::1]")
def write_views(raw: np.ndarray, seats: np.ndarray, views: np.ndarray) -> None:
    """Write what seat ``seats[i]`` of each table of the buffer `raw` sees into record i of the buffer `views`."""
    tables, seen = raw.view(TABLE), views.view(TABLE)
    for i in range(len(tables)):
        seen[i] = tables[i]
        blank_for(seen[i], np.int64(seats[i]))


def planes(views: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Return the channels of `CHANNELS` for `views` TABLE[n]: float32[n, N_CHANNELS, 34], from -1 to 1.

    They are written into `out`, an array of that shape and dtype, if it is given; the same applies to the functions
    below.
    """
    x = np.empty((len(views), N_CHANNELS, N_KINDS), dtype=np.float32) if out is None else out
    _put_planes(raw_bytes(views), x)
    return x


def tokens(views: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The tokens that BERT reads (`agents.bert.encoding`) of `views` TABLE[n]: uint16[n, MAX_TOKENS], padded with 0."""
    found = encode(views).input_ids
    return found if out is None else _copied(found, out)


def records(views: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The bytes of `views` TABLE[n], copied: uint8[n, TABLE.itemsize]; ``array.view(TABLE)`` makes records of them."""
    found = raw_bytes(views).reshape(len(views), TABLE.itemsize)
    return _copied(found, np.empty_like(found) if out is None else out)


def _copied(found: np.ndarray, out: np.ndarray) -> np.ndarray:
    out[:] = found
    return out


def action_masks(views: np.ndarray) -> np.ndarray:
    """1 for each legal action of the viewers of `views` TABLE[n]: int8[n, N_ACTIONS].

    If the game is over, it is 1 only for pass, so that every mask allows an action.
    """
    masks = np.zeros((len(views), N_ACTIONS), dtype=np.int8)
    _put_masks(raw_bytes(views), masks)
    return masks


class Encoder(Protocol):
    """A function from `views` TABLE[n] to n arrays, written into `out` if it is given."""

    def __call__(self, views: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Encode `views`."""


class Observation(NamedTuple):
    """A kind of observation: the shape and dtype of one array, its bounds, and a function that fills it from views."""

    shape: tuple[int, ...]
    dtype: type[Any]
    low: int
    high: int
    encode: Encoder
    text: str


OBSERVATIONS = {
    "planes": Observation((N_CHANNELS, N_KINDS), np.float32, -1, 1, planes, "channels x 34 kinds, see below"),
    "tokens": Observation((MAX_TOKENS,), np.uint16, 0, N_TOKENS - 1, tokens, "what BERT reads, padded with 0"),
    "view": Observation((TABLE.itemsize,), np.uint8, 0, 255, records, "the view's record, as bytes"),
}
