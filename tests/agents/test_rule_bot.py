"""The rule bot in positions where the right action is clear, and its action values."""

from __future__ import annotations

import numpy as np
import pytest

from agents import registry
from agents.base import ActionValues
from engine.actions import TSUMOGIRI, actions_of
from engine.table import TURN
from engine.tables import Tables
from engine.tiles import KIND_OF
from tests.support.scenario import Scenario
from tests.support.scripted_positions import ATTACKER, answer


def against_riichi(hand: str, drawn: str) -> Scenario:
    """The dealer holds `hand` and draws `drawn` against a riichi; 7z, 9p and 9m are safe."""
    return Scenario([hand, ATTACKER, ""], "7z9p9m" + drawn).do("7z", "riichi", "9p", "9m")


@pytest.mark.parametrize("drawn", ["1m", "7z"])
def test_folds_a_bad_hand_against_riichi(drawn: str) -> None:
    assert answer("rule", against_riichi("1379p2468s135z9m", drawn), 0) in {"9m", "9p", "7z"}


@pytest.mark.parametrize(
    ("hand", "drawn", "discard"), [("111222p33367s55z", "9s", "9s"), ("111222333p679s9p", "8s", "9p")]
)
def test_declares_riichi_against_riichi_with_a_good_hand(hand: str, drawn: str, discard: str) -> None:
    scenario = against_riichi(hand, drawn)
    assert answer("rule", scenario, 0) == "riichi"
    assert answer("rule", scenario.do("riichi"), 0) == discard


@pytest.mark.parametrize("hand", ["123456p23s55s567s", "345678p99p67s888s"])
def test_declares_riichi_with_a_good_wait(hand: str) -> None:
    assert answer("rule", Scenario([hand, "", ""], "9m"), 0) == "riichi"


@pytest.mark.parametrize(
    ("hand", "discarded", "indicators", "call"),
    [
        ("55z567p2378s19m44p", "5z", "3p", "pon"),  # value tiles, fast, with a dora
        ("55z1479p147s19m12z", "5z", "", "pass"),  # value tiles, but no hand
        ("88p234567s0444p2z", "8p", "4p", "pon"),  # tanyao, two doras
        ("99p234567s0444p2z", "9p", "4p", "pass"),  # no yaku
    ],
)
def test_calls_if_the_hand_has_a_yaku_and_gains_by_it(hand: str, discarded: str, indicators: str, call: str) -> None:
    scenario = Scenario(["189p159s1234567z", hand, ""], "1m", indicators=indicators).do(discarded)
    assert "pon" in scenario.menu(1)
    assert answer("rule", scenario, 1) == call


@pytest.mark.parametrize(
    ("hand", "drawn", "action"),
    [
        ("19m19p19s12347z5z6z", "7z", "tsumo"),
        ("123456p789p1123s", "4z", "nukidora"),
        ("19m199p19s12356z2p", "4z", "2p"),  # the north completes a tenpai kokushi
        ("1111p456789p23s5z", "5z", "ankan 1p"),
        ("19m19p19s123z5678p", "2s", "kyushu kyuhai"),
        ("19m19p19s12357z46p", "2s", "2s"),  # eleven kinds: on to kokushi
    ],
)
def test_action_at_the_first_draw(hand: str, drawn: str, action: str) -> None:
    assert answer("rule", Scenario([hand, "", ""], drawn), 0) == action


@pytest.fixture(scope="module")
def threatened() -> np.ndarray:
    """TABLE[n]: views with an opponent in riichi, all changed so that the viewer is the dealer of South 3."""
    kept: list[np.ndarray] = []
    bot = registry.make("efficiency")

    def watch(views: np.ndarray) -> np.ndarray:
        seats = views["seat"]
        own = seats["riichi"][np.arange(len(views)), views["viewer"]] > 0
        kept.append(views[(views["phase"] == TURN) & (seats["riichi"] > 0).any(1) & ~own].copy())
        return bot.act(views)

    for _ in Tables(list(range(700, 760))).play([watch], np.zeros((60, 3), dtype=np.int8)):
        pass
    views = np.concatenate(kept)
    views["round_wind"], views["dealer"] = 1, views["viewer"]
    return views


def share_of_safe_discards(views: np.ndarray, scores: tuple[int, int, int]) -> float:
    """Share of discards in `views` that are genbutsu against every riichi; `scores`: the viewer's, then the others'."""
    seats = np.arange(3)
    views = views.copy()
    for view in views:
        for step, score in enumerate(scores):
            view["seat"]["score"][(view["viewer"] + step) % 3] = score
    actions = registry.make("rule").act(views)
    discarding = actions <= TSUMOGIRI
    views, actions = views[discarding], actions[discarding]
    kinds = KIND_OF[np.where(actions == TSUMOGIRI, views["drawn"], actions)]
    riichi = (views["seat"]["riichi"] > 0) & (seats != views["viewer"][:, None])
    safe = views["seat"]["discarded"] >> kinds.astype(np.uint64)[:, None] & np.uint64(1) != 0
    return float((safe | ~riichi).all(1).mean())


def test_the_leader_of_the_last_round_folds_more(threatened: np.ndarray) -> None:
    leading = share_of_safe_discards(threatened, (50_000, 30_000, 25_000))
    trailing = share_of_safe_discards(threatened, (25_000, 30_000, 50_000))
    assert len(threatened) > 1000
    assert leading > trailing + 0.1


def test_action_values_agree_with_the_actions() -> None:
    """The chosen action has the highest value, and illegal actions have none."""
    bot = registry.make("rule")
    assert isinstance(bot, ActionValues)
    n_compared = 0

    def check(views: np.ndarray) -> np.ndarray:
        nonlocal n_compared
        actions, values = bot.act(views), bot.action_values(views)
        chosen = values[np.arange(len(views)), actions]
        assert np.isfinite(chosen).all()
        assert (chosen >= values.max(axis=1)).all()
        for view, row in zip(views, values, strict=True):
            legal = set(actions_of(*view["legal"][view["viewer"]].tolist()))
            assert set(np.flatnonzero(np.isfinite(row)).tolist()) <= legal
            n_compared += np.isfinite(row).sum() > 1
        return actions

    for _ in Tables(range(6)).play([check] * 3, np.tile(np.arange(3, dtype=np.int8), (6, 1))):
        pass
    assert n_compared > 500
