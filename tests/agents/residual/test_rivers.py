"""What `residual` reads from the rivers, beside the same numbers counted in Python from the views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agents.residual.features import ACTION_SUITS, FEATURES, RIVERS_AT, STATE_SUITS, TILE_AT
from agents.residual.rivers import (
    DISTANCES,
    DORA_AT,
    FIRST_AT,
    HELD_AT,
    LAST_AT,
    MADE_AT,
    N_CLASSES,
    N_NEAR,
    N_READ,
    N_RIVER,
    REST_AT,
    SUIT_AT,
    UNSEEN_AT,
    WAITS_AT,
)
from agents.rl.rows import Rows, encode
from agents.selfplay.features import CLASS_OF
from engine.actions import RIICHI, TSUMOGIRI
from engine.shanten import shanten_of
from engine.table import DORA_AT as WALL_DORA_AT
from engine.table import RIVER_TILE, RIVER_TSUMOGIRI
from engine.tiles import KIND_OF, SANMA_KINDS
from tests.agents.rl.test_policy import some_views

KINDS = [int(kind) for kind in SANMA_KINDS]


@pytest.fixture(scope="module")
def views() -> np.ndarray:
    """Views of whole games."""
    return some_views(6)


@pytest.fixture(scope="module")
def rows(views: np.ndarray) -> Rows:
    """Their rows, with pin and sou in their own places (see `agents.rl.suits`)."""
    rows = encode(FEATURES, views)[1]
    for row, k in enumerate(rows.view):
        if more_sou(views[k]):
            actions = rows.actions[rows.first[row] : rows.first[row + 1]]
            rows.states[row, STATE_SUITS] = rows.states[row, STATE_SUITS[:, ::-1]]
            actions[:, ACTION_SUITS] = actions[:, ACTION_SUITS[:, ::-1]]
    return rows


def more_sou(view: Any) -> bool:
    """Whether the viewer has more sou than pin."""
    me = view["seat"][view["viewer"]]
    suits = [kind // 9 for kind, count in enumerate(me["hand"].tolist()) for _ in range(count)]
    suits += [kind // 9 for kind in me["meld_kind"][: me["n_melds"]].tolist() for _ in range(3)]
    return suits.count(2) > suits.count(1)


def opponents(view: Any) -> Iterator[tuple[int, Any]]:
    """0 and the next seat, 1 and the one after."""
    for step in range(2):
        yield step, view["seat"][(view["viewer"] + step + 1) % 3]


def river_of(seat: Any) -> list[tuple[int, bool]]:
    """The discards of a seat: kind, and whether it came from the hand."""
    entries = seat["river"][: seat["n_river"]].tolist()
    return [(int(KIND_OF[each & RIVER_TILE]), not each & RIVER_TSUMOGIRI) for each in entries]


def tile_of(view: Any, number: int) -> int | None:
    """The kind that a discard is about, or None."""
    if number > TSUMOGIRI:
        return None
    return int(KIND_OF[view["drawn"] if number == TSUMOGIRI else number])


def unseen(view: Any, kind: int) -> int:
    """How many tiles of a kind the viewer does not see."""
    return int(4 - view["seat"][view["viewer"]]["hand"][kind] - view["seen"][kind])


def test_rivers(views: np.ndarray, rows: Rows) -> None:
    for k, state in zip(rows.view, rows.states, strict=True):
        for step, seat in opponents(views[k]):
            found = state[RIVERS_AT + step * N_RIVER :][:N_RIVER]
            river = river_of(seat)
            expected = [
                max([1.0 if hand else 0.5 for each, hand in river if each == kind], default=0) for kind in KINDS
            ]
            assert found[:FIRST_AT].tolist() == expected
            for at, part in (FIRST_AT, river[:6]), (REST_AT, river[6:]):
                classes = Counter(int(CLASS_OF[kind]) for kind, _ in part)
                suits = Counter("mpsz"[kind // 9] for kind, _ in part)
                counts = [classes[i] for i in range(N_CLASSES)] + [suits["p"], suits["s"], suits["m"] + suits["z"]]
                np.testing.assert_allclose(found[at : at + len(counts)], np.array(counts) / 6, atol=1e-5)
            last = np.zeros(N_CLASSES)
            if river:
                last[CLASS_OF[river[-1][0]]] = 1
            assert found[LAST_AT:MADE_AT].tolist() == last.tolist()
            tedashi = [i for i, (_, hand) in enumerate(river) if hand]
            since = len(river) - 1 - tedashi[-1] if tedashi else len(river)
            riichi = int(seat["riichi_river"])
            made = [len(tedashi) / 12, bool(river) and since == 0, since / 6]
            made += [riichi / 12, (len(river) - riichi) / 12] if riichi >= 0 else [0, 0]
            np.testing.assert_allclose(found[MADE_AT:], made, atol=1e-5)


def discards(views: np.ndarray, rows: Rows) -> Iterator[tuple[Any, int, int, np.ndarray]]:
    """The discards among the actions: the view, the number and kind, the features of the tile."""
    for row, k in enumerate(rows.view):
        for i in range(rows.first[row], rows.first[row + 1]):
            kind = tile_of(views[k], int(rows.numbers[i]))
            if kind is not None:
                yield views[k], int(rows.numbers[i]), kind, rows.actions[i, TILE_AT:]


def test_a_tile_in_the_light_of_the_rivers(views: np.ndarray, rows: Rows) -> None:
    read = 0
    for view, _, kind, found in discards(views, rows):
        if not 9 <= kind < 27:
            assert not found[:WAITS_AT].any()
            continue
        suit = range(kind // 9 * 9, kind // 9 * 9 + 9)
        near = [kind + distance if kind + distance in suit else None for distance in DISTANCES.tolist()]
        for step, seat in opponents(view):
            river = river_of(seat)
            expected = [any(each == other for each, _ in river) for other in near]
            expected += [any(each == other for each, _ in river[:6]) for other in near[:N_NEAR]]
            tedashi = [each for each, hand in river if hand]
            expected.append(bool(tedashi) and tedashi[-1] in near[:N_NEAR])
            assert found[step * N_READ :][: N_READ - 1].tolist() == expected
            share = sum(each in suit for each, _ in river) / max(len(river), 1)
            assert abs(found[step * N_READ + N_READ - 1] - share) < 1e-5
            read += any(expected)
        assert found[SUIT_AT:UNSEEN_AT].tolist() == [kind < 18, kind >= 18]
        hand = view["seat"][view["viewer"]]["hand"]
        counts = [0 if other is None else unseen(view, other) / 4 for other in near]
        assert found[UNSEEN_AT:HELD_AT].tolist() == counts
        assert found[HELD_AT:DORA_AT].tolist() == [0 if other is None else hand[other] / 2 for other in near[N_NEAR:]]
    assert read > 1000


def test_dora_near_a_tile(views: np.ndarray, rows: Rows) -> None:
    seen = 0
    for view, _, kind, found in discards(views, rows):
        if not 9 <= kind < 27:
            continue
        doras = Counter[int]()
        for tile in view["wall"][WALL_DORA_AT : WALL_DORA_AT + int(view["n_indicators"])]:
            indicator = int(KIND_OF[tile])
            doras[indicator // 9 * 9 + (indicator + 1) % 9 if indicator < 27 else -1] += 1
        expected = [doras[kind + d] if (kind + d) // 9 == kind // 9 else 0 for d in DISTANCES[:N_NEAR].tolist()]
        assert found[DORA_AT:WAITS_AT].tolist() == expected
        seen += any(expected)
    assert seen > 100


def with_one_more(hand: list[int], kind: int) -> list[int]:
    """The hand with one more tile of a kind."""
    return [count + (each == kind) for each, count in enumerate(hand)]


def test_waits_by_what_opponents_may_discard(views: np.ndarray, rows: Rows) -> None:
    tenpai = 0
    for view, number, kind, found in discards(views, rows):
        me = view["seat"][view["viewer"]]
        hand = me["hand"].tolist()
        hand[kind] -= 1
        melds = int(me["n_melds"])
        if number == RIICHI or shanten_of(hand, melds) > 0:
            assert not found[WAITS_AT:].any()
            continue
        waits = [each for each in KINDS if hand[each] < 4 and shanten_of(with_one_more(hand, each), melds) < 0]
        outer = sum(unseen(view, each) for each in waits if each >= 27 or each % 9 in (0, 8)) / 4
        assert abs(found[WAITS_AT] - outer) < 1e-5
        for step, seat in opponents(view):
            discarded = {each for each, _ in river_of(seat)}
            least = sum(unseen(view, each) for each in waits if each in discarded) / 4
            most = sum(unseen(view, each) for each in waits) / 4
            assert least - 1e-5 <= found[WAITS_AT + 1 + step] <= most + 1e-5
        tenpai += bool(waits)
    assert tenpai > 50
