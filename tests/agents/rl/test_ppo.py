"""Advantages, the loss, and what steps of learning change."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from agents.rl.families import FAMILIES
from agents.rl.oracle import ORACLE
from agents.rl.policy import NAMES
from agents.rl.ppo import Learner, descend, estimate_advantages
from agents.rl.rollouts import Experience
from agents.rl.settings import Games, Hyperparameters
from tests.support.small_rl import played, weights_of

LAMBDA = 0.9
pytestmark = pytest.mark.usefixtures("one_thread")


def test_advantages_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(2)
    n, rounds = 60, 4
    round_of, seat = np.sort(rng.integers(rounds, size=n)), rng.integers(3, size=n)
    values = rng.standard_normal(n).astype(np.float32)
    ends = rng.standard_normal((rounds, 3)).astype(np.float32)
    found = np.empty(n, dtype=np.float32)
    estimate_advantages(round_of, seat, values, ends, LAMBDA, found)
    for r in range(rounds):
        for s in range(3):
            mine = np.flatnonzero((round_of == r) & (seat == s))
            path = [*values[mine], ends[r, s]]
            for k, i in enumerate(mine):
                steps = range(k, len(mine))
                expected = sum(LAMBDA ** (j - k) * (path[j + 1] - path[j]) for j in steps)
                assert found[i] == pytest.approx(expected, abs=1e-4)


def log_probability(learner: Learner, part: Experience) -> np.ndarray:
    """The logarithm of the probability of what was chosen, by the present policy."""
    rows = torch.arange(len(part.seat))
    with torch.no_grad():
        log_policy, *_ = learner.log_policies(learner.evaluate(part), rows, torch.from_numpy(part.states))
    return log_policy.numpy()[rows.numpy(), part.chosen]


def test_the_critic_can_be_kept_from_hidden_tiles() -> None:
    part = played(3)
    changed = part._replace(oracle=part.oracle.copy())
    changed.oracle[:, : ORACLE.line_up] = 0
    for sees, alike in (("everything", False), ("view", True)):
        learner = Learner(weights_of(), Hyperparameters(critic_sees=sees, batch_size=64))
        learner.learn([part], np.random.default_rng(0))
        advantages = (learner.evaluate(each).advantage for each in (part, changed))
        assert torch.equal(*advantages) == alike


@pytest.mark.parametrize("family", FAMILIES)
def test_acting_and_learning_agree_on_the_probabilities(family: str) -> None:
    part = played(1, 3, Games(family))
    learner = Learner(weights_of(family), Hyperparameters())
    np.testing.assert_allclose(log_probability(learner, part), part.log_probability, atol=1e-4)


def test_the_sum_of_a_logit_is_not_rounded_to_bf16() -> None:
    learner, choices = Learner(weights_of(), Hyperparameters()), torch.zeros(5, dtype=torch.int64)
    n_state, n_action = (learner.policy.weights[name].shape[0] for name in ("state", "action"))
    inputs = torch.ones(1, n_state), torch.ones(5, n_action), choices
    learner.policy.weights["logit"].data[:] = 1 + torch.arange(len(learner.policy.weights["logit"])) / 1000
    exact = learner.policy(*inputs)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = learner.policy(*inputs)
    assert rounded.dtype == torch.float32
    assert not torch.equal(rounded, rounded.bfloat16().float())
    torch.testing.assert_close(rounded, exact, rtol=0.02, atol=0.02)


def test_learning_makes_choices_that_turned_out_well_likelier() -> None:
    part = played(3)
    learner = Learner(weights_of(), Hyperparameters(learning_rate=3e-3, epochs=10, batch_size=128, entropy=0.0))
    advantage, before = learner.evaluate(part).advantage.numpy(), log_probability(learner, part)
    metrics = learner.learn([part], np.random.default_rng(0))
    gained = log_probability(learner, part) - before
    good, bad = advantage > np.quantile(advantage, 0.9), advantage < np.quantile(advantage, 0.1)
    assert gained[good].mean() > gained[bad].mean() + 0.005
    assert metrics["surrogate"] > 0
    again = learner.learn([part], np.random.default_rng(0))
    assert again["value_loss"] < metrics["value_loss"]
    assert again["explained_variance"] > metrics["explained_variance"]


@pytest.mark.parametrize(
    ("ratio", "advantage", "moves"),
    [(1.15, 1, True), (1.25, 1, False), (1.25, -1, True), (0.85, -1, True), (0.75, -1, False), (0.75, 1, True)],
)
def test_a_step_does_not_go_on_beyond_a_fifth(ratio: float, advantage: int, moves: bool) -> None:
    part, learner = played(), Learner(weights_of(), Hyperparameters(entropy=0.0))
    n, before = len(part.seat), learner.policy.numpy()
    earlier = torch.from_numpy(log_probability(learner, part)) - np.log(ratio)
    choices = learner.evaluate(part)._replace(log_probability=earlier, advantage=torch.full((n,), float(advantage)))
    metrics = learner._step(choices, torch.arange(n), mean=0.0, std=1.0)
    assert metrics["clip_fraction"] == (abs(ratio - 1) > 0.2)
    assert any((learner.policy.numpy()[name] != before[name]).any() for name in NAMES) == moves


@pytest.mark.parametrize(("gradient", "step"), [(0.5, 0.5), (100.0, 1.0)])
def test_the_norm_of_a_gradient_is_at_most_1(gradient: float, step: float) -> None:
    network = nn.Linear(4, 1, bias=False)
    before = network.weight.detach().clone()
    descend(torch.optim.SGD(network.parameters(), lr=1.0), network, gradient / 2 * network.weight.sum())
    assert float((network.weight - before).norm()) == pytest.approx(step, rel=1e-4)


@pytest.mark.parametrize("over", [True, False])
def test_values_of_situations_approach_what_rounds_lead_to(over: bool) -> None:
    part, learner = played(3), Learner(weights_of(), Hyperparameters())
    generator = torch.Generator().manual_seed(0)
    for each in learner.situation.parameters():  # those of the last layer are 0
        each.data += 0.1 * torch.randn(each.shape, generator=generator)
    ranks = np.tile(np.array([2, 3, 1], dtype=np.float32), (len(part.ranks), 1))
    part = part._replace(over=np.full_like(part.over, over), ranks=ranks)

    @torch.no_grad()
    def value(situations: np.ndarray) -> torch.Tensor:
        return learner.situation(torch.from_numpy(situations))

    target = 2 - torch.from_numpy(ranks) if over else value(part.after)
    before = (value(part.before) - target).square().mean()
    learner.learn([part], np.random.default_rng(0))
    assert (value(part.before) - target).square().mean() < before


def test_the_value_of_a_logit_is_the_slope_of_the_advantage_over_it() -> None:
    part, learner = played(), Learner(weights_of(), Hyperparameters())  # whose policy is the prior
    choices = learner.evaluate(part)
    rows = torch.from_numpy(np.flatnonzero(part.counts == 2)[:2])
    for row, chosen, advantage in zip(rows, (0, 1), (0.03, -0.05), strict=True):
        choices.prior_logits[choices.first[row] :][:2] = torch.tensor([0.8, 0.2]).log()
        choices.chosen[row], choices.advantage[row] = chosen, advantage
    found = learner._step(choices, rows, mean=0.0, std=1.0)["logit_value"]
    # log 0.8 and log 0.2 are 0.27726 above and 1.10904 below their mean, -0.50040; their variance is 0.30749
    assert found == pytest.approx((0.03 * 0.27726 + 0.05 * 1.10904) / 2 / 0.30749, rel=1e-4)


def test_learning_rates_can_be_zero() -> None:
    learner, part = Learner(weights_of(), Hyperparameters(batch_size=64)), played()
    before = learner.policy.numpy(), [each.detach().clone() for each in learner.critic.parameters()]
    learner.set_rates(0.0, 1.0)
    learner.learn([part], np.random.default_rng(0))
    assert all((learner.policy.numpy()[name] == before[0][name]).all() for name in NAMES)
    assert not all(map(torch.equal, learner.critic.parameters(), before[1]))


def test_nothing_is_learned_where_nothing_was_chosen() -> None:
    part, learner = played(), Learner(weights_of(), Hyperparameters())
    none = Experience(*(each[:0] for each in part[:9]), *part[9:])
    before = learner.policy.numpy()
    learner.whiten([none])
    assert learner.learn([none], np.random.default_rng(0)) == {}
    assert all((learner.policy.numpy()[name] == before[name]).all() for name in NAMES)


def test_entropy_and_divergence_hold_the_policy() -> None:
    part = played(3)
    found = {}
    for entropy, kl in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)):
        chosen = Hyperparameters(epochs=8, batch_size=128, entropy=entropy, kl=kl, learning_rate=3e-3)
        learner = Learner(weights_of(), chosen)
        learner.learn([part], np.random.default_rng(0))
        found[entropy, kl] = learner.learn([part], np.random.default_rng(0))
    assert found[1.0, 0.0]["entropy"] > found[0.0, 0.0]["entropy"] + 0.05
    assert found[0.0, 1.0]["kl_from_prior"] < found[0.0, 0.0]["kl_from_prior"]


def test_divergence_from_the_start_holds_the_policy() -> None:
    part, found = played(3), []
    for kl_start in (1e-9, 10.0):
        chosen = Hyperparameters(epochs=8, batch_size=128, entropy=0.0, kl_start=kl_start, learning_rate=3e-3)
        learner = Learner(weights_of(), chosen)
        learner.learn([part], np.random.default_rng(0))
        again = Learner(learner.policy.numpy(), chosen)  # a run that goes on still has the policy of its first start
        again.load_state(learner.state())
        found.append(again.learn([part], np.random.default_rng(0))["kl_from_start"])
    assert found[1] < found[0] / 2
    assert "kl_from_start" not in Learner(weights_of(), Hyperparameters()).learn([part], np.random.default_rng(0))


def test_an_anchor_draws_the_policy_towards_it() -> None:
    part, anchor = played(3), weights_of(seed=9)
    anchor["logit"] = np.full_like(anchor["logit"], 0.5)  # far from the start, whose logits are those of the prior
    found = []
    for kl_start in (1e-9, 10.0):
        chosen = Hyperparameters(epochs=10, batch_size=128, entropy=0.0, kl_start=kl_start, learning_rate=3e-3)
        learner = Learner(weights_of(), chosen, anchor=anchor)
        found.append([learner.learn([part], np.random.default_rng(0))["kl_from_start"] for _ in range(3)])
    (*_, free), (first, *_, held) = found
    assert held < min(free, first) / 2
