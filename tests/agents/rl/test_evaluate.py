"""What the learner makes of an experience: values, and advantages that come to how the round ended for each seat."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from agents.rl import ppo
from agents.rl.oracle import N_ORACLE
from agents.rl.ppo import Learner
from agents.rl.rollouts import Experience
from agents.rl.settings import Hyperparameters
from agents.rl.situation import N_SITUATION
from tests.support.small_rl import weights_of

OVER = np.array([True, False, True])
RANKS = np.array([[2, 1, 3], [0, 0, 0], [1, 3, 2]], dtype=np.float32)
pytestmark = pytest.mark.usefixtures("one_thread")


def experience(table: np.ndarray, seat: np.ndarray) -> Experience:
    """The choices of these seats at these of three tables, in order; features are random."""
    rng, weights, n = np.random.default_rng(2), weights_of(), len(seat)

    def random(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    return Experience(
        states=random(n, weights["state"].shape[0]),
        oracle=random(n, N_ORACLE),
        actions=random(2 * n, weights["action"].shape[0]),
        prior_logits=random(2 * n),
        counts=np.full(n, 2, dtype=np.int64),
        chosen=rng.integers(2, size=n),
        log_probability=np.full(n, np.log(0.5), dtype=np.float32),
        table=table,
        seat=seat,
        before=random(3, 3, N_SITUATION),
        after=random(3, 3, N_SITUATION),
        over=OVER,
        ranks=RANKS,
    )


def test_a_value_is_that_of_the_situation_and_the_change_that_the_critic_expects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ppo, "CRITIC_BATCH", 16)  # of 36 choices
    rng, learner = np.random.default_rng(1), Learner(weights_of(), Hyperparameters(gae_lambda=0.6))
    # Fresh networks are the same everywhere.
    for each in (*learner.critic.parameters(), *learner.situation.parameters()):
        each.data += torch.from_numpy(0.2 * rng.standard_normal(tuple(each.shape))).float()
    of = rng.permutation(np.repeat(np.arange(9), 4))  # four choices of each seat at three tables
    part = experience(of // 3, of % 3)
    choices = learner.evaluate(part)
    with torch.no_grad():
        changes = learner.critic(torch.from_numpy(part.states), torch.from_numpy(part.oracle)).numpy()
    assert changes.std() > 0.1
    np.testing.assert_allclose((choices.value - choices.start).numpy(), changes, rtol=0, atol=1e-4)


def test_advantages_are_those_computed_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seats 1 and 2 of a game that is over, in ranks 1 and 3, and seat 0 of one that goes on; lambda is 0.5."""
    part = experience(np.array([0, 1, 0, 0, 1, 0, 0]), np.array([1, 0, 2, 1, 0, 2, 1]))
    part.before[0, 1, 0], part.before[0, 2, 0], part.before[1, 0, 0] = 0.2, -0.5, 0.1
    part.after[1, 0, 0] = -0.4
    part.oracle[:, 0] = [0.1, 0.2, 0.5, -0.3, 0.0, -0.25, 0.4]
    learner = Learner(weights_of(), Hyperparameters(gae_lambda=0.5))
    monkeypatch.setattr(learner, "situation", lambda situations: situations[..., 0])
    monkeypatch.setattr(learner, "critic", lambda states, oracle: oracle[:, 0])
    choices = learner.evaluate(part)
    assert choices.start.numpy() == pytest.approx([0.2, 0.1, -0.5, 0.2, 0.1, -0.5, 0.2], abs=1e-5)
    assert choices.value.numpy() == pytest.approx([0.3, 0.3, 0.0, -0.1, 0.1, -0.75, 0.6], abs=1e-5)
    # The values of seat 1 go 0.3, -0.1, 0.6 and end in 1: they rise by -0.4, 0.7 and 0.4, so that the advantages are
    # 0.4, then 0.7 + 0.4 / 2 = 0.9, then -0.4 + 0.9 / 2 = 0.05. Those of seat 2 go 0, -0.75 and end in -1; those of
    # seat 0 at the other table go 0.3, 0.1 and end in -0.4.
    assert choices.advantage.numpy() == pytest.approx([0.05, -0.45, -0.875, 0.9, -0.5, -0.25, 0.4], abs=1e-5)
