"""Dormant units of the policy get new inputs, and no logit changes."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from agents.rl.learning import Learner
from agents.rl.recycling import recycle
from agents.rl.settings import Hyperparameters
from tests.support.small_rl import played, weights_of

pytestmark = pytest.mark.usefixtures("one_thread")


def learner_with_dormant_units() -> Learner:
    """A learner that has made some steps, after which units 2 and 5 of the first layer and 3 of the second died."""
    learner = Learner(weights_of(), Hyperparameters(batch_size=64))
    learner.learn([played()], np.random.default_rng(0))
    with torch.no_grad():
        learner.policy.weights["logit"] += 0.1  # what was random at the start leads nowhere yet
        learner.policy.weights["state_bias"][[2, 5]] = -1000
        learner.policy.weights["hidden_bias"][3] = -1000
    return learner


def test_dormant_units_get_new_inputs_and_lead_nowhere_at_first() -> None:
    learner = learner_with_dormant_units()
    weights, before = learner.policy.weights, learner.policy.numpy()
    inputs = torch.rand(6, len(weights["state"])), torch.rand(40, len(weights["action"])), torch.arange(40) % 6
    logits = learner.policy(*inputs)
    living = [(units > 0).float().mean(0) > 0 for units in learner.policy.units(*inputs)]
    assert not living[0][[2, 5]].any()
    assert not living[1][3]
    recycled = recycle(learner.policy, learner.optimizer, *inputs, np.random.default_rng(1))
    assert recycled == sum(int((~each).sum()) for each in living)
    torch.testing.assert_close(learner.policy(*inputs), logits)
    first, second = (units[:, number] for units, number in zip(learner.policy.units(*inputs), (2, 3), strict=True))
    assert first.any()
    assert second.any()
    assert not weights["hidden"][2, living[1]].any()
    assert weights["logit"][3] == 0
    for name, kept in (("state", living[0]), ("action", living[0]), ("hidden_bias", living[1]), ("logit", living[1])):
        after = weights[name].detach().numpy()
        np.testing.assert_array_equal(after[..., kept], before[name][..., kept])
        moments = learner.optimizer.state[weights[name]]
        assert not moments["exp_avg"][..., ~kept].any()
        assert not moments["exp_avg_sq"][..., ~kept].any()
        assert moments["exp_avg_sq"][..., kept].any()


def test_recycled_units_learn_again() -> None:
    learner, part = learner_with_dormant_units(), played(2)
    before = learner.policy.numpy()
    assert learner.learn([part], np.random.default_rng(2), recycling=True)["recycled"] >= 3
    after = learner.policy.numpy()
    assert after["hidden"][2].any()
    assert after["logit"][3] != 0
    assert not np.array_equal(after["state"][:, 2], before["state"][:, 2])


def test_nothing_is_recycled_unasked() -> None:
    learner = learner_with_dormant_units()
    assert "recycled" not in learner.learn([played(2)], np.random.default_rng(2))
    assert learner.policy.numpy()["state_bias"][2] < -900
