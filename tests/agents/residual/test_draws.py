"""What two draws make of the hand that an action leaves, beside the same numbers counted in Python from the views."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from agents.residual.draws import GOOD_WAIT, N_DRAWS
from agents.residual.features import DRAWS_AT, FEATURES, LEFT_AT
from agents.rl.rows import Rows, encode
from agents.selfplay.features import FAR
from engine.actions import ANKAN, DAIMINKAN, KAKAN, KYUSHU_KYUHAI, NUKIDORA, PASS, PON, PON_RED, RIICHI, TSUMOGIRI
from engine.shanten import shanten_batch
from engine.table import RIICHI_DISCARD
from engine.tiles import SANMA_KINDS
from tests.support.hands import with_tiles
from tests.support.views import kind_of, unseen, views_of_games

KINDS = [int(kind) for kind in SANMA_KINDS]
TILES = {"discard": 1, "nukidora": 1, "pass": 0, "pon": 2, "daiminkan": 3, "ankan": 4, "kakan": 1}  # that leave a hand
MELDS = {"pon": 1, "daiminkan": 1, "ankan": 1}


class Left(NamedTuple):
    """The hand that an action leaves."""

    what: str  # in TILES
    hand: np.ndarray  # int8[34]
    n_melds: int
    shanten: int


def name_of(number: int) -> str | None:
    """What an action is, in TILES; None if it leaves no hand, or declares riichi."""
    if number <= TSUMOGIRI:
        return "discard"
    names = {NUKIDORA: "nukidora", PASS: "pass", PON: "pon", PON_RED: "pon", DAIMINKAN: "daiminkan"}
    if number >= ANKAN:
        return "kakan" if number >= KAKAN else "ankan"
    return names.get(number)


def shantens(hands: list[np.ndarray], n_melds: int) -> list[int]:
    return shanten_batch(np.array(hands), np.full(len(hands), n_melds, dtype=np.int8)).tolist() if hands else []


def hand_left(view: Any, number: int) -> Left | None:
    """The hand that an action leaves, if it leaves one and does not declare riichi."""
    what, kind, seat = name_of(number), kind_of(view, number), view["seat"][view["viewer"]]
    if what is None:
        return None
    hand, n_melds = seat["hand"].copy(), int(seat["n_melds"]) + MELDS.get(what, 0)
    hand[kind] -= TILES[what]
    return Left(what, hand, n_melds, shantens([hand], n_melds)[0])


def expected_features(view: Any, left: Left) -> list[float]:
    """The features of a hand, all but the last."""
    counts = {kind: unseen(view, kind) for kind in KINDS}
    drawn = [kind for kind in KINDS if counts[kind] > 0]
    after_one = dict(zip(drawn, shantens([with_tiles(left.hand, kind) for kind in drawn], left.n_melds)))
    useful = {kind for kind in drawn if after_one[kind] < left.shanten}
    pairs = good = gain = gaining = 0
    for first in drawn:
        seconds = [kind for kind in drawn if counts[kind] > (kind == first)]
        after_two = shantens([with_tiles(left.hand, first, second) for second in seconds], left.n_melds)
        lower = {second for second, after in zip(seconds, after_two) if after < after_one[first]}
        if first in useful:
            tiles = sum(counts[second] - (second == first) for second in lower)
            pairs += counts[first] * tiles
            good += counts[first] * (left.shanten == 1 and tiles >= GOOD_WAIT)
        else:
            tiles = sum(counts[second] - (second == first) for second in lower - useful)
            gain += counts[first] * tiles
            gaining += counts[first] * (tiles > 0)
    ukeire = max(sum(counts[kind] for kind in useful), 1)
    others = max(sum(counts.values()) - sum(counts[kind] for kind in useful), 1)
    return [pairs / 1000, pairs / ukeire / 30, good / ukeire, gain / others / 10, gaining / 40]


def in_riichi(view: Any) -> bool:
    """Whether the viewer is in riichi, or has just declared it."""
    return bool(view["seat"][view["viewer"]]["riichi"]) or view["phase"] == RIICHI_DISCARD


def check(view: Any, numbers: list[int], found: np.ndarray) -> set[str]:
    """Compare the features `found` of the actions of a view with those expected; returns what the actions were."""
    hands = [hand_left(view, number) for number in numbers]
    lowest = min((max(hand.shanten, 0) for hand in hands if hand), default=FAR)
    if RIICHI in numbers:
        lowest = 0
    expected = np.zeros((len(hands), N_DRAWS))
    checked = set()
    for k, hand in enumerate(hands):
        if in_riichi(view):
            checked.add("declares riichi" if view["phase"] == RIICHI_DISCARD else "riichi")
            continue
        if hand is None:
            continue
        if hand.what == "discard" and max(hand.shanten, 0) > lowest:
            checked.add("set back")
            continue
        expected[k, :-1] = expected_features(view, hand)
        checked.add(hand.what)
    kept = np.array([hand is not None and max(hand.shanten, 0) == lowest for hand in hands])
    if expected[kept, 0].any():
        expected[kept, -1] = expected[kept, 0] / expected[kept, 0].max()
    np.testing.assert_allclose(found, expected, atol=1e-5)
    return checked


@pytest.fixture(scope="module")
def views() -> np.ndarray:
    """Views of whole games."""
    return views_of_games(8, every=1)


@pytest.fixture(scope="module")
def rows(views: np.ndarray) -> Rows:
    """Their rows."""
    return encode(FEATURES, views)[1]


@pytest.mark.slow
def test_features_of_two_draws(views: np.ndarray, rows: Rows) -> None:
    checked = set()
    for row, k in enumerate(rows.view):
        view, part = views[k], slice(rows.first[row], rows.first[row + 1])
        numbers = rows.numbers[part].tolist()
        rare = max(numbers) >= ANKAN or DAIMINKAN in numbers or KYUSHU_KYUHAI in numbers
        if rare or in_riichi(view) or row % 40 == 0:
            checked |= check(view, numbers, rows.actions[part, DRAWS_AT:LEFT_AT])
    assert checked == {"set back", "riichi", "declares riichi", *TILES}
