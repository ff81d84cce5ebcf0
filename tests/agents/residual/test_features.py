"""The bot `residual`: with a network that adds nothing it is `rule`, and the network may change that."""

from __future__ import annotations

import numpy as np

from agents.base import ActionValues
from agents.blocks import Block
from agents.registry import make
from agents.residual.features import (
    ACTION,
    FEATURES,
    MAX_GAP,
    NEAR_AT,
    RIVERS_AT,
    RULE_ACTION,
    RULE_ACTION_AT,
    RULE_STATE,
    RULE_STATE_AT,
    TEMPERATURE,
    encode_positions,
)
from agents.rl.bot import LOGIT_VALUE, NetworkBot
from agents.rl.policy import random_weights
from agents.rl.rows import encode
from engine.actions import KAKAN, NUKIDORA, PASS, RIICHI, RON, TSUMO, TSUMOGIRI, actions_of
from engine.table import raw_bytes
from tests.support.scenario import Scenario
from tests.support.scripted_positions import view_of
from tests.support.views import views_of_games


def plain() -> NetworkBot:
    """The bot with a network that adds nothing."""
    return NetworkBot("plain", FEATURES, random_weights(FEATURES, 8, 8, 0))


def test_without_a_residual_it_plays_as_rule() -> None:
    views = views_of_games(12)
    rule = make("rule")
    assert isinstance(rule, ActionValues)
    theirs, ours, values = rule.act(views), plain().act(views), rule.action_values(views)
    differ = np.flatnonzero(theirs != ours)
    assert len(differ) < 0.02 * len(views)
    for k in differ:  # ties alone are broken otherwise
        assert abs(values[k, theirs[k]] - values[k, ours[k]]) < 1e-6


def test_positions_without_actions_have_the_same_features() -> None:
    views = views_of_games(12, every=1)
    expected, rows = encode(FEATURES, views)
    n = len(views)
    forced, view = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    states = np.empty((n, FEATURES.n_state), dtype=np.float32)
    count = encode_positions(raw_bytes(views), forced, view, states)
    assert 1000 < count < n
    np.testing.assert_array_equal(forced, expected)
    np.testing.assert_array_equal(view[:count], rows.view)
    np.testing.assert_array_equal(states[:count], rows.states)


def test_its_logits_are_the_values_of_rule_in_units_of_the_temperature() -> None:
    views = views_of_games(4)
    rule = make("rule")
    assert isinstance(rule, ActionValues)
    theirs, ours = rule.action_values(views), plain().action_values(views) * (TEMPERATURE / LOGIT_VALUE)
    best = np.nanmax(np.where(np.isfinite(theirs), theirs, np.nan), axis=1, keepdims=True)
    near = np.isfinite(theirs) & (theirs > best - MAX_GAP) & (np.isfinite(theirs).sum(axis=1, keepdims=True) > 1)
    near &= np.isfinite(ours).sum(axis=1, keepdims=True) > 1
    compared = near & ~np.isfinite(ours[:, NUKIDORA : NUKIDORA + 1])
    compared &= ~np.isfinite(ours[:, KAKAN - 34 :]).any(axis=1, keepdims=True)
    assert compared.sum() > 1000
    np.testing.assert_allclose(ours[compared], (theirs - best)[compared], atol=5e-5)


def test_wins_are_taken_and_what_rule_takes_unasked_may_be_learned() -> None:
    views = views_of_games(12)
    forced, rows = encode(FEATURES, views)
    menus = [actions_of(*view["legal"][view["viewer"]].tolist()) for view in views]
    for win in (TSUMO, RON):
        assert {int(forced[k]) for k, menu in enumerate(menus) if win in menu} == {win}
    choices = {int(k): set(rows.numbers[a:b].tolist()) for k, a, b in zip(rows.view, rows.first, rows.first[1:])}
    norths = [k for k, menu in enumerate(menus) if NUKIDORA in menu and k in choices]
    assert norths
    assert all(NUKIDORA in choices[k] for k in norths)
    assert any(len(choices[k]) > 2 for k in norths)
    assert any({PASS} < found for found in choices.values())
    assert any(RIICHI in found for found in choices.values())
    assert all(TSUMOGIRI in choices[k] for k in choices if views[k]["seat"][views[k]["viewer"]]["riichi"])


def test_a_network_changes_choices() -> None:
    views = views_of_games(4)
    weights = random_weights(FEATURES, 8, 8, 0)
    weights["logit"] += 5
    changed = NetworkBot("changed", FEATURES, weights).act(views)
    assert 0.05 < (changed != plain().act(views)).mean() < 0.95


def columns_of(rows: np.ndarray, blocks: tuple[Block, ...], first: int) -> dict[str, np.ndarray]:
    """The columns of each block of `rows`, of which the first begins at `first`."""
    found = {}
    for block in blocks:
        found[block.name] = rows[:, first : first + block.n]
        first += block.n
    return found


def test_what_rule_thinks_stands_in_the_blocks_of_the_tables() -> None:
    _, rows = encode(FEATURES, views_of_games(12))
    state, action = rows.states[:, RULE_STATE_AT:RIVERS_AT], rows.actions[:, RULE_ACTION_AT:NEAR_AT]
    of_state, of_action = columns_of(state, RULE_STATE, 0), columns_of(action, RULE_ACTION, 0)
    assert sum(each.shape[1] for each in of_state.values()) == state.shape[1]
    assert sum(each.shape[1] for each in of_action.values()) == action.shape[1]
    for name, columns in (of_state | of_action).items():
        assert columns.any(axis=0).all(), f"a number of {name} is never written"
    for flags in (of_state["threat_level"], of_state["is_last"], of_action["has_value"], of_action["is_best"]):
        assert set(np.unique(flags)) == {0, 1}
    assert (of_state["threat_level"].sum(axis=1) == 1).all()
    rounds = 8 * of_state["rounds"]
    assert ((rounds == 0) == of_state["is_last"]).all()
    np.testing.assert_allclose(of_state["rounds_inverse"], 1 / (1 + rounds), rtol=1e-6)
    assert (of_state["risks"][:, 0] <= of_state["risks"][:, 1]).all()
    assert (np.diff(of_state["win_gains"], axis=1) >= -1e-6).all()
    for chances in (of_state["tenpai"], of_state["tedashi"], of_action["deal_in"] / 5):
        assert ((chances >= 0) & (chances <= 1 + 1e-6)).all()


def test_one_action_is_what_rule_takes_also_in_riichi() -> None:
    scenario = Scenario(["123456789p1122s"], "1z3z3z4z").do("riichi", "1z").quiet(2)
    views = view_of(scenario.side.raw, 0)
    _, rows = encode(FEATURES, views)
    assert set(rows.numbers.tolist()) == {NUKIDORA, TSUMOGIRI}
    taken = rows.actions[:, RULE_ACTION_AT + ACTION.is_best].tolist()
    assert [number for number, flag in zip(rows.numbers, taken) if flag] == make("rule").act(views).tolist()
