"""What `residual` sees kind by kind, and of what an action leaves, beside the same numbers counted in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents.residual.features import ACTION_SUITS, FEATURES, LEFT_AT, STATE_SUITS, TILES_AT
from agents.residual.plans import LEFT, N_LEFT, N_TILES, TILES
from agents.rl.rows import Rows, encode
from agents.selfplay.features import LEAVES_HAND, MELDS_OF_TYPE, TILES_OF_TYPE, TYPE_OF
from engine.actions import TSUMOGIRI
from engine.shanten import shanten_of
from engine.table import DORA_AT, RIVER_TILE, RIVER_TSUMOGIRI
from engine.tiles import DORA_OF, KIND_OF, SANMA_KINDS
from tests.support.swapped_suits import unswapped
from tests.support.views import kind_of, safe_kinds, views_of_games

KINDS = [int(kind) for kind in SANMA_KINDS]


@pytest.fixture(scope="module")
def views() -> np.ndarray:
    """Views of whole games."""
    return views_of_games(6)


@pytest.fixture(scope="module")
def rows(views: np.ndarray) -> Rows:
    """Their rows, with the suits as they are."""
    return unswapped(encode(FEATURES, views)[1], views, STATE_SUITS, ACTION_SUITS)


def read(numbers: np.ndarray, offsets: Any, n: int, first: int) -> dict[str, list[float]]:
    """The numbers of each block, by `offsets` of `offsets_of` behind `first`, `n` in all."""
    ends = (*offsets[1:], n)
    blocks = zip(offsets._fields, offsets, ends, strict=True)
    return {name: numbers[first + start : first + end].tolist() for name, start, end in blocks}


def dora_of(view: Any) -> list[int]:
    """How often each kind is dora."""
    indicated = [int(DORA_OF[KIND_OF[view["wall"][DORA_AT[i]]]]) for i in range(view["n_indicators"])]
    return [indicated.count(kind) for kind in range(34)]


def han_of(view: Any, kind: int) -> int:
    """Han of a triplet of a kind for the viewer."""
    wind = 27 + (int(view["viewer"]) - int(view["dealer"])) % 3
    return (kind >= 31) + (kind == wind) + (kind == 27 + view["round_wind"])


@pytest.mark.slow
def test_kinds_of_the_position(views: np.ndarray, rows: Rows) -> None:
    for k, state in zip(rows.view, rows.states, strict=True):
        view, found = views[k], read(state, TILES, N_TILES, TILES_AT)
        seats = [view["seat"][(view["viewer"] + step) % 3] for step in range(3)]
        hand, dora = seats[0]["hand"], dora_of(view)
        assert found["two"] == [hand[kind] >= 2 for kind in KINDS]
        assert found["three"] == [hand[kind] >= 3 for kind in KINDS]
        assert found["dora"] == [dora[kind] for kind in KINDS]
        assert found["reds"] == seats[0]["red"].tolist()
        melds = [seat["meld_kind"][: seat["n_melds"]].tolist() for seat in seats]
        assert found["melds"] == [kind in each for each in melds for kind in KINDS]
        safe = [safe_kinds(view, (int(view["viewer"]) + step) % 3) for step in (1, 2)]
        assert found["safe"] == [kind in each for each in safe for kind in KINDS]
        turns: list[float] = []
        for seat in seats[1:]:
            river = seat["river"][: seat["n_river"]].tolist()
            last = {
                int(KIND_OF[each & RIVER_TILE]): i + 1 for i, each in enumerate(river) if not each & RIVER_TSUMOGIRI
            }
            turns += [last.get(kind, 0) / max(len(river), 1) for kind in KINDS]
        np.testing.assert_allclose(found["tedashi"], turns, rtol=1e-6)


@pytest.mark.slow
def test_what_an_action_leaves(views: np.ndarray, rows: Rows) -> None:
    of = np.repeat(rows.view, np.diff(rows.first))
    for view, number, action in zip(views[of], rows.numbers.tolist(), rows.actions, strict=True):
        found, kind = read(action, LEFT, N_LEFT, LEFT_AT), kind_of(view, number)
        assert found["kind"] == [each == kind for each in KINDS]
        what = TYPE_OF[number]
        if kind is None or not LEAVES_HAND[what]:
            assert not action[LEFT_AT + len(KINDS) :].any()
            continue
        p, new = view["seat"][view["viewer"]], int(MELDS_OF_TYPE[what])
        n_melds = int(p["n_melds"]) + new
        hand = p["hand"].astype(int)
        hand[kind] -= TILES_OF_TYPE[what]
        two, three = [k for k in KINDS if hand[k] == 2], [k for k in KINDS if hand[k] >= 3]
        orphans = [k for k in KINDS if hand[k] and (k >= 27 or k % 9 in (0, 8))]
        pairs, kinds = sum(hand >= 2), sum(hand > 0)
        sets = len(three) + n_melds
        tile = view["drawn"] if number == TSUMOGIRI else number
        reds = int(p["red"].sum()) - (number <= TSUMOGIRI and tile != KIND_OF[tile])
        dora = dora_of(view)
        held = sum(int(hand[k]) * dora[k] for k in KINDS) + int(p["nukidora"]) * (1 + dora[30]) + reds
        for m in range(p["n_melds"]):
            size = 3 if p["meld_type"][m] == 1 else 4
            held += size * dora[p["meld_kind"][m]] + int(p["meld_red"][m])
        alone = [
            k for k in KINDS if k < 27 and hand[k] == 1
            and not any(k >= 9 and (k + d) // 9 == k // 9 and hand[k + d] for d in (-2, -1, 1, 2))
        ]  # fmt: skip
        suits = [hand[9:18], hand[18:27]]
        expected = {
            "seven_pairs": [(6 - pairs + max(7 - kinds, 0)) / 6 if n_melds == 0 else 1],
            "thirteen_orphans": [(13 - len(orphans) - any(hand[k] >= 2 for k in orphans)) / 6 if n_melds == 0 else 2],
            "toitoi": [(8 - 2 * sets - min(len(two), 5 - sets + new)) / 6],
            "dora_han": [held / 4],
            "pairs": [len(two) / 4],
            "triplets": [len(three) / 4],
            "value_pairs": [sum(han_of(view, k) for k in two) / 2],
            "ranks": [(suit > 0).sum() / 9 for suit in suits],
            "suits": [suit.sum() / 14 for suit in suits],
            "isolated": [len(alone) / 4],
            "middle": [sum(suit[3:6].sum() for suit in suits) / 14],
        }
        for name, numbers in expected.items():
            np.testing.assert_allclose(found[name], numbers, rtol=1e-5, atol=1e-6, err_msg=name)
        if n_melds == 0 and sum(hand) % 3 == 1:
            lowest = min(found[name][0] for name in ("seven_pairs", "thirteen_orphans", "regular"))
            assert 6 * lowest == pytest.approx(shanten_of(hand.tolist()), abs=1e-5)
