"""The policy network: its logits, samples of it, and the rows that it reads."""

from __future__ import annotations

import numpy as np
import pytest

from agents.rl.families import FAMILIES, features_named
from agents.rl.policy import NAMES, choose_best, logits_of, random_weights, sample, widen
from agents.rl.rows import encode
from engine.actions import actions_of
from tests.support.views import views_of_games


@pytest.mark.parametrize("family", FAMILIES)
def test_every_view_is_forced_or_a_row_of_legal_actions(family: str) -> None:
    views, features = views_of_games(3), features_named(family)
    forced, rows = encode(features, views)
    assert np.array_equal(np.flatnonzero(forced < 0), rows.view)
    assert (np.diff(rows.first) >= 2).all()
    assert np.isfinite(rows.states).all()
    assert np.isfinite(rows.actions).all()
    assert max(abs(rows.states).max(), abs(rows.actions).max()) < 15
    for k, view in enumerate(views):
        legal = actions_of(*view["legal"][view["viewer"]].tolist())
        assert forced[k] < 0 or forced[k] in legal
    for row, k in enumerate(rows.view):
        numbers = rows.numbers[rows.first[row] : rows.first[row + 1]].tolist()
        assert set(numbers) <= set(actions_of(*views[k]["legal"][views[k]["viewer"]].tolist()))
        assert numbers == sorted(set(numbers))


@pytest.mark.parametrize(("joint", "hidden"), [(48, 40), (24, 40), (48, 16), (24, 16)])
def test_a_widened_network_is_the_same_function(joint: int, hidden: int) -> None:
    features = features_named("residual")
    weights = random_weights(features, 24, 16, 3)
    weights["logit"] = np.random.default_rng(1).standard_normal(16).astype(np.float32)
    wide = widen(weights, features, joint, hidden, 4)
    assert wide["hidden"].shape == (joint, hidden)
    assert wide["state"][:, 24:].all(), "a new unit of the first layer has no inputs"
    assert wide["hidden"][:, 16:].all(), "a new unit of the second layer has no inputs"
    _, rows = encode(features, views_of_games(1))
    np.testing.assert_allclose(logits_of(wide, rows), logits_of(weights, rows), atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_logits_are_those_of_plain_matrix_products(family: str) -> None:
    features = features_named(family)
    weights = random_weights(features, 24, 16, 3)
    weights["logit"] = np.random.default_rng(1).standard_normal(16).astype(np.float32)
    _, rows = encode(features, views_of_games(2))
    state_w, state_b, action_w, hidden_w, hidden_b, out = (weights[name] for name in NAMES)
    of = np.repeat(np.arange(len(rows.view)), np.diff(rows.first))
    joint = np.maximum(rows.states[of] @ state_w + state_b + rows.actions @ action_w, 0)
    expected = rows.prior_logits + np.maximum(joint @ hidden_w + hidden_b, 0) @ out
    np.testing.assert_allclose(logits_of(weights, rows), expected, atol=1e-3)


def test_samples_have_the_frequencies_of_softmax() -> None:
    n, logits = 20_000, np.array([0.0, 1.0, 2.0], dtype=np.float32)
    first = np.arange(0, 3 * n + 1, 3)
    chosen, log_probabilities = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.float32)
    sample(np.tile(logits, n), first, (np.arange(n) + 0.5) / n, chosen, log_probabilities)
    odds = np.exp(logits) / np.exp(logits).sum()
    for action, chance in enumerate(odds):
        assert (chosen == action).mean() == pytest.approx(chance, abs=2e-4)
        assert log_probabilities[chosen == action] == pytest.approx(np.log(chance), abs=1e-5)
    choose_best(np.array([1, 3, 3, 5, 2], dtype=np.float32), np.array([0, 3, 5]), chosen[:2])
    assert chosen[:2].tolist() == [1, 0]


def test_an_action_of_no_probability_is_never_drawn() -> None:
    logits = np.array([0, -200, -200], dtype=np.float32)
    chosen, log_probabilities = np.empty(1, dtype=np.int64), np.empty(1, dtype=np.float32)
    sample(logits, np.array([0, 3]), np.array([1 - 1e-16]), chosen, log_probabilities)
    assert chosen.tolist() == [0]
