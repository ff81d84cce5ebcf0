"""Every legal action has a label, and every legal label an action."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from agents import registry
from agents.bert.labels import N_LABELS, PON_LABEL, actions_of, labels_of, legal_masks, legal_table
from engine.actions import ACTION_NAMES, ANKAN, KAKAN, PON_RED, TSUMOGIRI
from engine.actions import actions_of as actions_in
from engine.rules import MAJSOUL, TENHOU, Rules
from engine.table import TABLE
from engine.tables import Policy, Tables
from engine.tiles import KIND_OF, MJAI_NAMES
from tests.support.reference_encoder import LABELS, label_name
from tests.support.scenario import Scenario
from tests.support.scripted_positions import view_of

ALL_RULES = (TENHOU, MAJSOUL, TENHOU.with_length("east"))


def meaning(t: np.record) -> dict[int, int]:
    """Label -> its action in a view, by the names of the reference table and the rules stated there."""
    drawn = int(t.drawn)
    first = {TSUMOGIRI, PON_RED} | ({base + int(KIND_OF[drawn]) for base in (ANKAN, KAKAN)} if drawn >= 0 else set())
    legal = actions_in(*t.legal[t.viewer].tolist())
    found: dict[int, int] = {}
    for action in sorted(legal, key=lambda action: (action not in first, action)):
        found.setdefault(LABELS.index(label_name(action, MJAI_NAMES[drawn])), action)
    return found


def check(views: np.ndarray) -> set[int]:
    """Check the labels of some decisions against `meaning`; returns the labels that were legal in any of them."""
    masks = legal_masks(views)
    legal = [actions_in(*view["legal"][view["viewer"]].tolist()) for view in views]
    numbers = np.repeat(np.arange(len(views)), [len(actions) for actions in legal])
    labels = labels_of(views[numbers], np.concatenate(legal))
    meant = actions_of(views[numbers], labels)
    assert labels_of(views[numbers], meant).tolist() == labels.tolist()
    for number, view in enumerate(views):
        expected = meaning(view)
        of_view = numbers == number
        assert dict(zip(labels[of_view].tolist(), meant[of_view].tolist(), strict=True)) == expected
        assert int(masks[number]) == sum(1 << label for label in expected)
        assert set(expected.values()) <= set(legal[number])
    return set(labels.tolist())


def checking(policy: Policy, seen: set[int]) -> Policy:
    def act(views: np.ndarray) -> np.ndarray:
        seen.update(check(views))
        actions = policy(views)
        chosen = actions_of(views, labels_of(views, actions))
        assert labels_of(views, chosen).tolist() == labels_of(views, actions).tolist()
        return actions

    return act


def play(seeds: Sequence[int], bots: Sequence[str], rules: Rules) -> set[int]:
    """Play games, one bot in each seat, and check every decision; returns the labels that were legal in any."""
    seen: set[int] = set()
    policies = [checking(registry.make(bot, seeds[0]).act, seen) for bot in bots]
    for _ in Tables(seeds, rules).play(policies, np.tile(np.arange(3, dtype=np.int8), (len(seeds), 1))):
        pass
    return seen


# Every legal action ---------------------------------------------------------------------------------------------------

BOTS = ("rule", "efficiency", "random")
ABSENT = set(range(9)) - {1}  # the tiles three players do not use


@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: f"{rules.name} {rules.length}")
def test_every_decision_of_many_games(rules: Rules) -> None:
    assert play(range(20), BOTS, rules) == set(range(N_LABELS)) - ABSENT


def test_no_views_at_all() -> None:
    views, none = np.zeros(0, dtype=TABLE), np.zeros(0, dtype=np.int64)
    assert legal_masks(views).size == labels_of(views, none).size == actions_of(views, none).size == 0


# The action of a label ------------------------------------------------------------------------------------------------


def named(scenario: Scenario, seat: int) -> dict[str, str]:
    """Names of the legal labels of a seat -> names of their actions."""
    view = view_of(scenario.side.raw, seat)
    labels = [label for label in range(N_LABELS) if int(legal_masks(view)[0]) >> label & 1]
    actions = actions_of(np.repeat(view, len(labels)), np.array(labels))
    return {LABELS[label]: ACTION_NAMES[action] for label, action in zip(labels, actions, strict=True)}


@pytest.mark.parametrize(("hand", "meant"), [("55p", "pon"), ("550p", "pon with red"), ("50p", "pon with red")])
def test_pon_takes_the_red_five(hand: str, meant: str) -> None:
    assert named(Scenario(["5p", hand]).do("5p"), 1)["pon"] == meant


@pytest.mark.parametrize(
    ("hand", "drawn", "meant"),
    [
        ("1111p9999s777z", "7z", "ankan C"),  # of the kind just drawn, though the highest
        ("1111p9999s777z", "2s", "ankan 1p"),  # else the lowest
        ("999m1111p9999s", "9m", "ankan 9m"),
        ("550p1111s7777z", "5p", "ankan 5p"),
        ("555p1111s7777z", "0p", "ankan 5p"),
    ],
)
def test_ankan(hand: str, drawn: str, meant: str) -> None:
    scenario = Scenario([hand], drawn, indicators="2p")
    assert sum(name.startswith("ankan") for name in scenario.menu(0)) > 1
    assert named(scenario, 0)["ankan"] == meant


@pytest.mark.parametrize(
    ("held", "drawn", "meant"), [("9p", "1s", "kakan 1s"), ("1s", "9p", "kakan 9p"), ("9p1s", "2s", "kakan 9p")]
)
def test_kakan(held: str, drawn: str, meant: str) -> None:
    """Of the kind just drawn, else the lowest, which is 9p."""
    scenario = Scenario(["9p1s", f"99p11s6z7z{held}"], f"2p3p4p6p7p{drawn}", indicators="9m")
    scenario.do("9p", "pon", "6z", "tsumogiri", "1s", "pon", "7z", "tsumogiri", "tsumogiri")
    assert {"kakan 9p", "kakan 1s"} <= scenario.menu(1)
    assert named(scenario, 1)["kakan"] == meant


# Faults ---------------------------------------------------------------------------------------------------------------


def test_labels_and_actions_may_be_columns_of_an_array(views: np.ndarray) -> None:
    actions = actions_of(views, legal_table(views).argmax(axis=1))
    labels = labels_of(views, np.stack([actions, actions], axis=1)[:, 0])
    assert (actions_of(views, np.stack([labels, labels], axis=1)[:, 0]) == actions).all()


def test_an_illegal_label_is_refused() -> None:
    views = np.repeat(view_of(Scenario(["4z"], "7z").side.raw, 0), 3)
    tsumogiri = LABELS.index("dahai C")
    with pytest.raises(ValueError, match=r"^view 2: no legal action is 'pon'; legal: discard .*, tsumogiri, nukidora$"):
        actions_of(views, np.array([tsumogiri, tsumogiri, PON_LABEL]))
    for label in set(range(N_LABELS)) - {LABELS.index(name) for name in named(Scenario(["4z"], "7z"), 0)}:
        with pytest.raises(ValueError, match=f"no legal action is '{LABELS[label]}'; legal: "):
            actions_of(views[:1], np.array([label]))


@pytest.mark.parametrize("number", [-1, 46, 255])
def test_a_number_that_is_not_a_label_is_refused(number: int) -> None:
    views = view_of(Scenario([]).side.raw, 0)
    with pytest.raises(ValueError, match=f"^view 0: {number} is not a label: labels are numbered 0 … 45$"):
        actions_of(views, np.array([number]))
