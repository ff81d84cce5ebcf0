"""What the discards of the opponents say: features of their rivers, of a tile in their light, and of waits."""

from __future__ import annotations

import numpy as np

from agents.compiled.unseen import unseen
from agents.rl.suits import by_kind, side_by_side
from agents.selfplay.features import CLASS_OF
from engine.compiling import inner
from engine.hand import has_kind, move
from engine.shanten import waits
from engine.table import N_SEATS, RIVER_TILE, RIVER_TSUMOGIRI
from engine.tiles import HONOUR, KIND_OF, N_KINDS, PIN, SANMA_KINDS, TERMINALS_HONOURS_MASK

ONE = np.uint64(1)
N_OPPONENTS = N_SEATS - 1
N_SANMA = len(SANMA_KINDS)
INDEX_OF = np.zeros(N_KINDS, dtype=np.int64)  # of a kind among SANMA_KINDS
INDEX_OF[SANMA_KINDS] = np.arange(N_SANMA)
EARLY = 6  # discards in the first line of a river
N_CLASSES = int(CLASS_OF.max()) + 1
N_LINE = N_CLASSES + 3  # a part of a river: how many discards of each class, and of pin, sou and the rest

# A river: whether each kind is in it, its first line, the rest, the last discard, and how it was made.
FIRST_AT = N_SANMA
REST_AT = FIRST_AT + N_LINE
LAST_AT = REST_AT + N_LINE
MADE_AT = LAST_AT + N_CLASSES
N_RIVER = MADE_AT + 5

# A tile. For each opponent: which kinds at these distances it has discarded, which at the first four it discarded
# early, whether its last tedashi is near, and its share of discards in the suit. Then the suit, and what is near.
DISTANCES = np.array([-2, -1, 1, 2, -3, 3], dtype=np.int64)
NEAR = 2
N_NEAR = 4  # distances up to NEAR
N_READ = len(DISTANCES) + N_NEAR + 2
SUIT_AT = N_OPPONENTS * N_READ
UNSEEN_AT = SUIT_AT + 2
HELD_AT = UNSEEN_AT + len(DISTANCES)
DORA_AT = HELD_AT + 2
WAITS_AT = DORA_AT + N_NEAR
N_TILE = WAITS_AT + 3


def river_suits(at: int) -> list[tuple[int, int]]:
    """The features of pin and sou among those of a river that begin at `at`; see `agents.rl.suits`."""
    return [*by_kind(at), *side_by_side(at + line + N_CLASSES for line in (FIRST_AT, REST_AT))]


def tile_suits(at: int) -> list[tuple[int, int]]:
    """The same of a tile."""
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
        out[INDEX_OF[kind]] = max(out[INDEX_OF[kind]], np.float32(1 if tedashi else 0.5))
        at = FIRST_AT if i < EARLY else REST_AT
        out[at + CLASS_OF[kind]] += 1 / EARLY
        suit = kind // 9
        out[at + N_CLASSES + (suit - 1 if PIN <= kind < HONOUR else 2)] += 1 / EARLY
        since = np.int64(0) if tedashi else since + 1
        out[MADE_AT] += tedashi / 12
    if n > 0:
        out[LAST_AT + CLASS_OF[KIND_OF[p.river[n - 1] & RIVER_TILE]]] = 1
        out[MADE_AT + 1] = since == 0
        out[MADE_AT + 2] = since / EARLY
    if p.riichi_river >= 0:
        out[MADE_AT + 3] = p.riichi_river / 12
        out[MADE_AT + 4] = (n - p.riichi_river) / 12


@inner
def read_rivers(t: np.record, masks: np.ndarray, shares: np.ndarray) -> None:
    """Fill what `tile_features` needs of both opponents.

    `masks` uint64[2, 3]: the kinds discarded, those discarded early, and that of the last tedashi, as bit masks;
    `shares` float32[2, 2]: the shares of discards that are pin and sou.
    """
    masks[:] = np.uint64(0)
    shares[:] = 0
    for step in range(N_OPPONENTS):
        p = t.seat[(np.int64(t.viewer) + step + 1) % 3]
        masks[step, 0] = np.uint64(p.discarded)
        for i in range(p.n_river):
            kind = KIND_OF[p.river[i] & RIVER_TILE]
            bit = ONE << np.uint64(kind)
            if i < EARLY:
                masks[step, 1] |= bit
            if (p.river[i] & RIVER_TSUMOGIRI) == 0:
                masks[step, 2] = bit
            if PIN <= kind < HONOUR:
                shares[step, kind // 9 - 1] += 1 / np.float64(p.n_river)


@inner
def tile_features(
    t: np.record, dora: np.ndarray, masks: np.ndarray, shares: np.ndarray, kind: int, out: np.ndarray
) -> None:
    """Write the features of a tile of `kind` into `out` float32[N_TILE], which is zero.

    `dora` int64[N_KINDS]: the dora a tile of each kind counts. Honours and man have none of these features.
    """
    if kind < PIN or kind >= HONOUR:
        return
    p = t.seat[t.viewer]
    suit = kind // 9
    out[SUIT_AT + suit - 1] = 1
    for step in range(N_OPPONENTS):
        out[(step + 1) * N_READ - 1] = shares[step, suit - 1]
    for i in range(len(DISTANCES)):
        near = kind + DISTANCES[i]
        if near // 9 != suit:
            continue
        out[UNSEEN_AT + i] = unseen(t, near) / 4
        if i < N_NEAR:
            out[DORA_AT + i] = dora[near]
        else:
            out[HELD_AT + i - N_NEAR] = p.hand[near] / 2
        for step in range(N_OPPONENTS):
            read = out[step * N_READ : (step + 1) * N_READ]
            read[i] = has_kind(masks[step, 0], near)
            if i < N_NEAR:
                read[len(DISTANCES) + i] = has_kind(masks[step, 1], near)
                if has_kind(masks[step, 2], near):
                    read[N_READ - 2] = 1


@inner
def wait_features(t: np.record, safe: np.ndarray, kind: int, out: np.ndarray) -> None:
    """Write the features of the waits that a discard of `kind` to tenpai leaves into `out` float32[3].

    The unseen tiles among them that are terminals or honours, and those that are safe against each opponent: which the
    other one may discard when it folds.
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
                if has_kind(safe[(np.int64(t.viewer) + step + 1) % 3], each):
                    out[1 + step] += left
