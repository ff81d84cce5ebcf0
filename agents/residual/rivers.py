"""What the discards of the opponents say: features of their rivers, of the tiles near a tile, and of waits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.bots.rule.value import value_han
from agents.compiled.unseen import unseen
from agents.rl.suits import by_kind, side_by_side
from agents.selfplay.features import CLASS_OF
from engine.compiling import inner
from engine.hand import has_kind, move
from engine.shanten import waits
from engine.table import N_SEATS, RIVER_TILE, RIVER_TSUMOGIRI
from engine.tiles import HONOUR, KIND_OF, N_KINDS, N_SANMA, PIN, SANMA_INDEX, SANMA_KINDS, SOU, TERMINALS_HONOURS_MASK

ONE = np.uint64(1)
N_OPPONENTS = N_SEATS - 1
FIRST_LINE = 6  # discards in the first line of a river
SCALE = 12  # counts and turns of a river are divided by it
VALUE_CLASS = 1  # of honours that count for the seat, which are of class 0 as well; CLASS_OF leaves it free
N_CLASSES = int(CLASS_OF.max()) + 1
PIN_COLUMN, SOU_COLUMN, REST_COLUMN = range(3)
COLUMN_OF = np.full(N_KINDS, REST_COLUMN, dtype=np.int64)  # of a kind
COLUMN_OF[PIN:SOU], COLUMN_OF[SOU:HONOUR] = PIN_COLUMN, SOU_COLUMN
N_PART = N_CLASSES + 3  # how many discards of each class, and of pin, sou and the rest

# A river: for each kind 1 after a tedashi, 0.5 after tsumogiri alone; the first line and the rest of it, a part each;
# the class of the last discard; then tedashi in all, whether the last discard was one, discards since, the index of the
# riichi discard and the discards from there on.
FIRST_LINE_AT = N_SANMA
REST_AT = FIRST_LINE_AT + N_PART
LAST_AT = REST_AT + N_PART
TEDASHI_AT = LAST_AT + N_CLASSES
N_RIVER = TEDASHI_AT + 5

# What is near a tile of pin or sou. For each opponent: which kinds at DISTANCES it has discarded, which of the first
# four in the first line of its river, whether its last tedashi is one of these four, and the share of this suit among
# its discards. Then the suit; unseen tiles at DISTANCES, held ones at the last two, dora at the first four; and waits.
DISTANCES = np.array([-2, -1, 1, 2, -3, 3], dtype=np.int64)
N_CLOSE = 4  # distances up to 2, the first ones
N_READ = len(DISTANCES) + N_CLOSE + 2
SUIT_AT = N_OPPONENTS * N_READ
UNSEEN_AT = SUIT_AT + 2
HELD_AT = UNSEEN_AT + len(DISTANCES)
NEAR_DORA_AT = HELD_AT + 2
WAITS_AT = NEAR_DORA_AT + N_CLOSE
N_NEAR = WAITS_AT + 3


def river_suits(at: int) -> list[tuple[int, int]]:
    """The pairs of features for pin and sou in those of a river that begin at `at`; see `agents.rl.suits`."""
    return [*by_kind(at), *side_by_side(at + part + N_CLASSES for part in (FIRST_LINE_AT, REST_AT))]


def near_suits(at: int) -> list[tuple[int, int]]:
    """The pairs of features for pin and sou in those of what is near a tile."""
    return side_by_side([at + SUIT_AT])


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
        out[SANMA_INDEX[kind]] = max(out[SANMA_INDEX[kind]], held)
        part = out[FIRST_LINE_AT:REST_AT] if i < FIRST_LINE else out[REST_AT:LAST_AT]
        part[CLASS_OF[kind]] += 1 / FIRST_LINE
        part[VALUE_CLASS] += (value_han(t, seat, kind) > 0) / FIRST_LINE
        part[N_CLASSES + COLUMN_OF[kind]] += 1 / FIRST_LINE
        since = np.int64(0) if tedashi else since + 1
        out[TEDASHI_AT] += tedashi / SCALE
    if n > 0:
        last = KIND_OF[p.river[n - 1] & RIVER_TILE]
        out[LAST_AT + CLASS_OF[last]] = 1
        out[LAST_AT + VALUE_CLASS] = value_han(t, seat, last) > 0
        out[TEDASHI_AT + 1] = since == 0
        out[TEDASHI_AT + 2] = since / FIRST_LINE
    if p.riichi_river >= 0:
        out[TEDASHI_AT + 3] = p.riichi_river / SCALE
        out[TEDASHI_AT + 4] = (n - p.riichi_river) / SCALE


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
    out[SUIT_AT + suit] = 1
    for step in range(N_OPPONENTS):
        out[(step + 1) * N_READ - 1] = rivers.shares[step, suit]
    for i in range(len(DISTANCES)):
        near = kind + DISTANCES[i]
        if near // 9 != kind // 9:
            continue
        out[UNSEEN_AT + i] = unseen(t, near) / 4
        if i < N_CLOSE:
            out[NEAR_DORA_AT + i] = dora[near]
        else:
            out[HELD_AT + i - N_CLOSE] = t.seat[me].hand[near] / 2
        for step in range(N_OPPONENTS):
            read = out[step * N_READ : (step + 1) * N_READ]
            read[i] = has_kind(np.uint64(t.seat[(me + step + 1) % N_SEATS].discarded), near)
            if i < N_CLOSE:
                read[len(DISTANCES) + i] = has_kind(rivers.first_line[step], near)
                if has_kind(rivers.last_tedashi[step], near):
                    read[N_READ - 2] = 1


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
