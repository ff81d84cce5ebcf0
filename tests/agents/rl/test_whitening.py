"""Whitened features: the policy stays the same function, and learns in other coordinates."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from agents.rl.networks import Policy, whitening_of
from agents.rl.policy import NAMES, Weights
from agents.rl.ppo import Learner
from agents.rl.settings import Hyperparameters
from tests.support.small_rl import played, weights_of

pytestmark = pytest.mark.usefixtures("one_thread")


def with_logits() -> Weights:
    """Weights of a network that adds something to every logit."""
    weights, rng = weights_of(), np.random.default_rng(3)
    for name in ("state_bias", "hidden_bias", "logit"):
        weights[name] = rng.standard_normal(weights[name].shape).astype(np.float32)
    return weights


def test_whitened_features_are_uncorrelated_and_vary_alike() -> None:
    rng = np.random.default_rng(1)
    features = torch.from_numpy(
        rng.standard_normal((20000, 6)) @ (np.eye(6) + 0.3 * rng.standard_normal((6, 6))) + 5
    ).float()
    variance = features.var(0, correction=0).mean()
    whitening = whitening_of(features)
    covariance = torch.cov((features @ whitening).T, correction=0)
    torch.testing.assert_close(covariance.diagonal().mean(), variance, rtol=1e-3, atol=0)
    torch.testing.assert_close(covariance / variance, torch.eye(6), rtol=0, atol=0.1)
    torch.testing.assert_close(whitening, whitening.T)


def test_features_that_hardly_vary_are_not_made_large() -> None:
    features = torch.from_numpy(np.random.default_rng(1).standard_normal((5000, 3))).float()
    features[:, 2] = 1.0
    assert torch.isfinite(whitening_of(features)).all()
    assert float(whitening_of(features)[2, 2]) < 25


def test_whitening_does_not_change_what_is_played() -> None:
    part, weights = played(3), with_logits()
    policy = Policy(weights)
    states, actions = torch.from_numpy(part.states), torch.from_numpy(part.actions)
    choice = torch.repeat_interleave(torch.from_numpy(part.counts))
    before = policy(states, actions, choice)
    for _ in range(2):  # whitened features can be whitened again
        policy.whiten(states, actions)
        assert not torch.allclose(policy.weights["state"], torch.from_numpy(weights["state"]), atol=0.01)
        torch.testing.assert_close(policy(states, actions, choice), before, rtol=1e-3, atol=1e-3)
        for name in NAMES:
            np.testing.assert_allclose(policy.numpy()[name], weights[name], rtol=0, atol=1e-4)


def test_the_mean_of_the_features_is_left_to_the_bias() -> None:
    """A step of the learned weights does not move the mean of what the first layer gives."""
    part, policy = played(3), Policy(with_logits())
    states, actions = torch.from_numpy(part.states), torch.from_numpy(part.actions)
    policy.whiten(states, actions)

    def mean_of_joint() -> torch.Tensor:
        w = policy.plain()
        return states.mean(0) @ w["state"] + actions.mean(0) @ w["action"] + w["state_bias"]

    before = mean_of_joint()
    with torch.no_grad():
        for name in ("state", "action"):
            policy.weights[name] += 0.1
    torch.testing.assert_close(mean_of_joint(), before, rtol=1e-3, atol=1e-3)


def test_a_whitened_learner_learns_and_can_be_saved() -> None:
    part = played(3)
    learner = Learner(weights_of(), Hyperparameters(batch_size=64))
    learner.learn([part], np.random.default_rng(0))
    learner.whiten([part])
    assert not learner.optimizer.state
    before = learner.policy.numpy()
    learner.learn([part], np.random.default_rng(1))
    assert any((learner.policy.numpy()[name] != before[name]).any() for name in NAMES)
    again = Learner(weights_of(seed=5), Hyperparameters(batch_size=64))
    again.load_state(deepcopy(learner.state()))
    for each in (learner, again):
        each.learn([part], np.random.default_rng(2))
    assert all((learner.policy.numpy()[name] == again.policy.numpy()[name]).all() for name in NAMES)
