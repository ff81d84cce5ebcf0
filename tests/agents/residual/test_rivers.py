"""What `residual` reads from the rivers, beside the same numbers counted in Python from the views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agents.residual.features import (
    ACTION_SUITS,
    DRAWS_AT,
    FEATURES,
    NEAR_AT,
    RIVERS_AT,
    RULE_STATE_AT,
    STATE,
    STATE_SUITS,
)
from agents.residual.rivers import DISTANCES, N_CLASSES, N_CLOSE, N_READ, N_RIVER, NEAR, READ, RIVER
from agents.rl.rows import Rows, encode
from agents.selfplay.layout import CLASS_OF
from engine.actions import ANKAN, PASS, PON, TSUMOGIRI
from engine.shanten import shanten_of
from engine.table import DORA_AT
from engine.tiles import KIND_OF, SANMA_KINDS
from tests.support.hands import with_tiles
from tests.support.swapped_suits import unswapped
from tests.support.views import kind_of, river_of, safe_kinds, unseen, views_of_games

KINDS = [int(kind) for kind in SANMA_KINDS]


@pytest.fixture(scope="module")
def views() -> np.ndarray:
    """Views of whole games."""
    return views_of_games(6)


@pytest.fixture(scope="module")
def rows(views: np.ndarray) -> Rows:
    """Their rows, with the suits as they are."""
    return unswapped(encode(FEATURES, views)[1], views, STATE_SUITS, ACTION_SUITS)


def opponents(view: Any) -> Iterator[tuple[int, Any]]:
    """0 and the next seat, 1 and the one after."""
    for step in range(2):
        yield step, view["seat"][(view["viewer"] + step + 1) % 3]


def counts_for(view: Any, seat: int, kind: int) -> bool:
    """Whether a triplet of a kind is a yaku of a seat."""
    return kind >= 31 or kind in (27 + (seat - view["dealer"]) % 3, 27 + view["round_wind"])


@pytest.mark.slow
def test_rivers(views: np.ndarray, rows: Rows) -> None:
    for k, state in zip(rows.view, rows.states, strict=True):
        for step, seat in opponents(views[k]):
            owner = (int(views[k]["viewer"]) + step + 1) % 3
            found = state[RIVERS_AT + step * N_RIVER :][:N_RIVER]
            river = river_of(seat)
            expected = [
                max([1.0 if hand else 0.5 for each, hand in river if each == kind], default=0) for kind in KINDS
            ]
            assert found[: RIVER.first_line].tolist() == expected
            for at, part in (RIVER.first_line, river[:6]), (RIVER.rest, river[6:]):
                classes = Counter(int(CLASS_OF[kind]) for kind, _ in part)
                suits = Counter("mpsz"[kind // 9] for kind, _ in part)
                classes[1] = sum(counts_for(views[k], owner, kind) for kind, _ in part)
                counts = [classes[i] for i in range(N_CLASSES)] + [suits["p"], suits["s"], suits["m"] + suits["z"]]
                np.testing.assert_allclose(found[at : at + len(counts)], np.array(counts) / 6, atol=1e-5)
            last = np.zeros(N_CLASSES)
            if river:
                last[CLASS_OF[river[-1][0]]] = 1
                last[1] = counts_for(views[k], owner, river[-1][0])
            assert found[RIVER.last : RIVER.tedashi].tolist() == last.tolist()
            tedashi = [i for i, (_, hand) in enumerate(river) if hand]
            since = len(river) - 1 - tedashi[-1] if tedashi else len(river)
            riichi = int(seat["riichi_river"])
            made = [len(tedashi) / 12, bool(river) and since == 0, since / 6]
            made += [riichi / 12, (len(river) - riichi) / 12] if riichi >= 0 else [0, 0]
            np.testing.assert_allclose(found[RIVER.tedashi :], made, atol=1e-5)


def test_what_rule_thinks_of_an_opponent_stands_in_its_place(views: np.ndarray, rows: Rows) -> None:
    """A chance of tenpai, which is 1 in riichi, and how many of the last three discards came from the hand."""
    riichi = 0
    for k, state in zip(rows.view, rows.states, strict=True):
        chances, recent = (state[RULE_STATE_AT + at :][:2] for at in (STATE.tenpai, STATE.tedashi))
        for step, seat in opponents(views[k]):
            hands = sum(hand for _, hand in river_of(seat)[-3:])
            assert recent[step] == pytest.approx(hands / 3)
            if seat["riichi"]:
                assert chances[step] == 1
                riichi += 1
    assert riichi > 100


def tiles(views: np.ndarray, rows: Rows) -> Iterator[tuple[Any, int, int | None, np.ndarray]]:
    """The actions: the view, the number, the kind it is about, and the features of what is near that."""
    for row, k in enumerate(rows.view):
        for i in range(rows.first[row], rows.first[row + 1]):
            number = int(rows.numbers[i])
            yield views[k], number, kind_of(views[k], number), rows.actions[i, NEAR_AT:DRAWS_AT]


def test_what_is_near_a_tile(views: np.ndarray, rows: Rows) -> None:
    types = set()
    read = 0
    for view, number, kind, found in tiles(views, rows):
        if kind is None or not 9 <= kind < 27:
            assert not found[: NEAR.waits].any()
            continue
        types.add(min(number, ANKAN) if number >= TSUMOGIRI else 0)
        suit = range(kind // 9 * 9, kind // 9 * 9 + 9)
        near = [kind + distance if kind + distance in suit else None for distance in DISTANCES.tolist()]
        for step, seat in opponents(view):
            river = river_of(seat)
            expected = [any(each == other for each, _ in river) for other in near]
            expected += [any(each == other for each, _ in river[:6]) for other in near[:N_CLOSE]]
            tedashi = [each for each, hand in river if hand]
            expected.append(bool(tedashi) and tedashi[-1] in near[:N_CLOSE])
            assert found[step * N_READ :][: READ.share].tolist() == expected
            share = sum(each in suit for each, _ in river) / max(len(river), 1)
            assert abs(found[step * N_READ + READ.share] - share) < 1e-5
            read += any(expected)
        assert found[NEAR.suits : NEAR.unseen].tolist() == [kind < 18, kind >= 18]
        hand = view["seat"][view["viewer"]]["hand"]
        counts = [0 if other is None else unseen(view, other) / 4 for other in near]
        assert found[NEAR.unseen : NEAR.held].tolist() == counts
        held = [0 if other is None else hand[other] / 2 for other in near[N_CLOSE:]]
        assert found[NEAR.held : NEAR.dora].tolist() == held
    assert read > 1000
    assert types >= {0, TSUMOGIRI, PON, PASS}


def test_dora_near_a_tile(views: np.ndarray, rows: Rows) -> None:
    seen = 0
    for view, _, kind, found in tiles(views, rows):
        if kind is None or not 9 <= kind < 27:
            continue
        doras = Counter[int]()
        for tile in view["wall"][DORA_AT[: view["n_indicators"]]]:
            indicator = int(KIND_OF[tile])
            doras[indicator // 9 * 9 + (indicator + 1) % 9 if indicator < 27 else -1] += 1
        expected = [doras[kind + d] if (kind + d) // 9 == kind // 9 else 0 for d in DISTANCES[:N_CLOSE].tolist()]
        assert found[NEAR.dora : NEAR.waits].tolist() == expected
        seen += any(expected)
    assert seen > 100


def test_waits_that_opponents_may_discard(views: np.ndarray, rows: Rows) -> None:
    tenpai = 0
    for view, number, kind, found in tiles(views, rows):
        if kind is None or number > TSUMOGIRI:
            assert not found[NEAR.waits :].any()
            continue
        me = view["seat"][view["viewer"]]
        hand, melds = me["hand"].copy(), int(me["n_melds"])
        hand[kind] -= 1
        if shanten_of(hand.tolist(), melds) > 0:
            assert not found[NEAR.waits :].any()
            continue
        drawable = [each for each in KINDS if hand[each] < 4]
        waits = [each for each in drawable if shanten_of(with_tiles(hand, each).tolist(), melds) < 0]
        left = {each: (unseen(view, each)) / 4 for each in waits}
        outer = sum(left[each] for each in waits if each >= 27 or each % 9 in (0, 8))
        safe = [safe_kinds(view, (int(view["viewer"]) + step) % 3) for step in (1, 2)]
        expected = [outer, *(sum(left[each] for each in waits if each in kinds) for kinds in safe)]
        np.testing.assert_allclose(found[NEAR.waits :], expected, atol=1e-5)
        tenpai += bool(waits)
    assert tenpai > 50
