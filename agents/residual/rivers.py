"""What the discards of the opponents say: features of their rivers, of the tiles near a tile, and of waits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.blocks import Block, offsets_of
from agents.bots.rule.value import value_han
from agents.compiled.unseen import unseen
from agents.rl.suits import by_kind, side_by_side
from agents.selfplay.layout import CLASS_OF, N_CLASSES, VALUE_CLASS
from engine.compiling import inner
from engine.hand import has_kind, move
from engine.shanten import waits
from engine.table import N_SEATS, RIVER_TILE, RIVER_TSUMOGIRI
from engine.tiles import HONOUR, KIND_OF, N_KINDS, N_SANMA, PIN, SANMA_INDEX, SANMA_KINDS, SOU, TERMINALS_HONOURS_MASK

ONE = np.uint64(1)
N_OPPONENTS = N_SEATS - 1
FIRST_LINE = 6  # discards in the first line of a river
SCALE = 12  # counts and turns of a river are divided by it
PIN_COLUMN, SOU_COLUMN, REST_COLUMN = range(3)
COLUMN_OF = np.full(N_KINDS, REST_COLUMN, dtype=np.int64)  # of a kind
COLUMN_OF[PIN:SOU], COLUMN_OF[SOU:HONOUR] = PIN_COLUMN, SOU_COLUMN
N_PART = N_CLASSES + 3  # how many discards of each class, and of pin, sou and the rest

RIVER, N_RIVER = offsets_of(
    (
        Block("kinds", N_SANMA, "for each kind 1 after a tedashi, 0.5 after tsumogiri alone"),
        Block("first_line", N_PART, "discards of the first line by class and column, / 6"),
        Block("rest", N_PART, "discards after it by class and column, / 6"),
        Block("last", N_CLASSES, "the class of the last discard"),
        Block("tedashi", 1, "tedashi in all, / 12"),
        Block("last_tedashi", 1, "1 if the last discard was a tedashi"),
        Block("since", 1, "discards since the last tedashi, / 6"),
        Block("riichi", 1, "index of the riichi discard, / 12"),
        Block("after_riichi", 1, "discards from the riichi discard on, / 12"),
    )
)

# What is near a tile of pin or sou.
DISTANCES = np.array([-2, -1, 1, 2, -3, 3], dtype=np.int64)
N_CLOSE = 4  # distances up to 2, the first ones
READ, N_READ = offsets_of(
    (  # the river of an opponent
        Block("discarded", len(DISTANCES), "1 if it has discarded the kind at a distance"),
        Block("first_line", N_CLOSE, "1 if it has done so in the first line"),
        Block("last_tedashi", 1, "1 if its last tedashi is one of the close kinds"),
        Block("share", 1, "share of this suit among its discards"),
    )
)
NEAR, N_NEAR = offsets_of(
    (
        Block("read", N_OPPONENTS * N_READ, "READ of the next seat and of the one after"),
        Block("suits", 2, "pin, sou"),
        Block("unseen", len(DISTANCES), "unseen tiles at a distance, / 4"),
        Block("held", len(DISTANCES) - N_CLOSE, "held tiles at the far distances, / 2"),
        Block("dora", N_CLOSE, "dora at a close distance"),
        Block("waits", 3, "see `wait_features`"),
    )
)


def river_suits(at: int) -> list[tuple[int, int]]:
    """The pairs of features for pin and sou in those of a river that begin at `at`; see `agents.rl.suits`."""
    return [*by_kind(at), *side_by_side(at + part + N_CLASSES for part in (RIVER.first_line, RIVER.rest))]


@inner
def river_features(t: np.record, seat: int, out: np.ndarray) -> None:
    """Write the features of the river of `seat` into `out` float32[N_RIVER], which is zero."""
    p = t.seat[seat]
    n = np.int64(p.n_river)
    since = np.int64(0)  # discards since the last tedashi
    for i in range(n):
        kind = KIND_OF[p.river[i] & RIVER_TILE]
        tedashi = (p.river[i] & RIVER_TSUMOGIRI) == 0
        held = np.float32(1 if tedashi else 0.5)
        at = RIVER.kinds + SANMA_INDEX[kind]
        out[at] = max(out[at], held)
        part = out[RIVER.first_line : RIVER.rest] if i < FIRST_LINE else out[RIVER.rest : RIVER.last]
        part[CLASS_OF[kind]] += 1 / FIRST_LINE
        part[VALUE_CLASS] += (value_han(t, seat, kind) > 0) / FIRST_LINE
        part[N_CLASSES + COLUMN_OF[kind]] += 1 / FIRST_LINE
        since = np.int64(0) if tedashi else since + 1
        out[RIVER.tedashi] += tedashi / SCALE
    if n > 0:
        last = KIND_OF[p.river[n - 1] & RIVER_TILE]
        out[RIVER.last + CLASS_OF[last]] = 1
        out[RIVER.last + VALUE_CLASS] = value_han(t, seat, last) > 0
        out[RIVER.last_tedashi] = since == 0
        out[RIVER.since] = since / FIRST_LINE
    if p.riichi_river >= 0:
        out[RIVER.riichi] = p.riichi_river / SCALE
        out[RIVER.after_riichi] = (n - p.riichi_river) / SCALE


class Rivers(NamedTuple):
    """What `near_features` needs of the rivers of the opponents."""

    first_line: np.ndarray  # uint64[2]: kinds in the first line of each, a bit mask
    last_tedashi: np.ndarray  # uint64[2]: the kind of the last tedashi of each, a bit mask
    shares: np.ndarray  # float32[2, 3]: the shares of pin, sou and the rest in each


@inner
def read_rivers(t: np.record) -> Rivers:
    """Read the rivers of the next seat and of the one after."""
    rivers = Rivers(
        np.zeros(N_OPPONENTS, dtype=np.uint64),
        np.zeros(N_OPPONENTS, dtype=np.uint64),
        np.zeros((N_OPPONENTS, 3), dtype=np.float32),
    )
    for step in range(N_OPPONENTS):
        p = t.seat[(np.int64(t.viewer) + step + 1) % N_SEATS]
        for i in range(p.n_river):
            kind = KIND_OF[p.river[i] & RIVER_TILE]
            bit = ONE << np.uint64(kind)
            if i < FIRST_LINE:
                rivers.first_line[step] |= bit
            if (p.river[i] & RIVER_TSUMOGIRI) == 0:
                rivers.last_tedashi[step] = bit
            rivers.shares[step, COLUMN_OF[kind]] += 1 / np.float64(p.n_river)
    return rivers


@inner
def near_features(t: np.record, dora: np.ndarray, rivers: Rivers, kind: int, out: np.ndarray) -> None:
    """Write the features of what is near a tile of `kind` into `out` float32[N_NEAR], which is zero; waits apart.

    `dora` int64[N_KINDS]: the dora a tile of each kind counts. Honours and man have none of these features.
    """
    suit = COLUMN_OF[kind]
    if suit == REST_COLUMN:
        return
    me = np.int64(t.viewer)
    out[NEAR.suits + suit] = 1
    for step in range(N_OPPONENTS):
        out[step * N_READ + READ.share] = rivers.shares[step, suit]
    for i in range(len(DISTANCES)):
        near = kind + DISTANCES[i]
        if near // 9 != kind // 9:
            continue
        out[NEAR.unseen + i] = unseen(t, near) / 4
        if i < N_CLOSE:
            out[NEAR.dora + i] = dora[near]
        else:
            out[NEAR.held + i - N_CLOSE] = t.seat[me].hand[near] / 2
        for step in range(N_OPPONENTS):
            read = out[step * N_READ : (step + 1) * N_READ]
            read[READ.discarded + i] = has_kind(np.uint64(t.seat[(me + step + 1) % N_SEATS].discarded), near)
            if i < N_CLOSE:
                read[READ.first_line + i] = has_kind(rivers.first_line[step], near)
                if has_kind(rivers.last_tedashi[step], near):
                    read[READ.last_tedashi] = 1


@inner
def wait_features(t: np.record, safe: np.ndarray, kind: int, out: np.ndarray) -> None:
    """Write the features of the waits that a discard of `kind` to tenpai leaves into `out` float32[3].

    How many unseen tiles of the waits, in fours, are terminals or honours; are safe against the next seat; against the
    one after. Tiles that are safe against one opponent are what the other discards when it folds.
    """
    p = t.seat[t.viewer]
    move(p, kind, np.int64(-1))
    waiting = np.uint64(waits(p.hand, p.hand_keys, np.int64(p.n_melds)))
    move(p, kind, np.int64(1))
    for each in SANMA_KINDS:
        if has_kind(waiting, each):
            left = unseen(t, each) / 4
            if has_kind(np.uint64(TERMINALS_HONOURS_MASK), each):
                out[0] += left
            for step in range(N_OPPONENTS):
                if has_kind(safe[(np.int64(t.viewer) + step + 1) % N_SEATS], each):
                    out[1 + step] += left
