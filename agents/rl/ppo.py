"""Learning from experience by proximal policy optimization. Needs torch.

The advantage of a choice is generalized advantage estimation (Schulman et al. 2015, https://arxiv.org/abs/1506.02438)
over the choices of one seat in one round. A round ends in the value of the score situation that it leads to, which
is 2 - the expected placement; the last round ends in 2 - the placement. The values in between are those of a critic
that sees all hands and the wall. The policy maximizes the clipped objective of Schulman et al. 2017
(https://arxiv.org/abs/1707.06347).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from agents.rl.critic import CriticWeights
from agents.rl.networks import Critic, Policy, SituationValue, list_actions
from agents.rl.oracle import N_ORACLE, ORACLE
from agents.rl.policy import Weights
from agents.rl.rollouts import Experience
from agents.rl.settings import Hyperparameters
from agents.training.devices import has_bf16
from engine.compiling import kernel

CLIP = 0.2
MAX_GRADIENT = 1.0  # norm
SITUATION_STEPS = 4  # an iteration and actor
CRITIC_BATCH = 8192  # choices that the critic evaluates at once
MIN_LOG_PROBABILITY = -50.0  # minus infinity times a probability of 0 would be NaN


@kernel("int64[::1], int64[::1], float32[::1], float32[:, ::1], float64, float32[::1]")
def estimate_advantages(
    rounds: np.ndarray, seats: np.ndarray, values: np.ndarray, ends: np.ndarray, decay: float, advantages: np.ndarray
) -> None:
    """Generalized advantage estimation over the choices of each seat in each round.

    `rounds`, `seats` and `values` of the n choices in order; `ends` float32[rounds, 3]: what each round ended in;
    `decay`: lambda. Writes `advantages` float32[n].
    """
    after = ends.copy()  # the value after the choice at hand
    later = np.zeros_like(ends)  # the advantage of the next choice
    for i in range(len(values) - 1, -1, -1):
        r, s = rounds[i], seats[i]
        later[r, s] = after[r, s] - values[i] + decay * later[r, s]
        advantages[i] = later[r, s]
        after[r, s] = values[i]


class Choices(NamedTuple):
    """The choices of an `Experience` on the device of the learner, with the critic's values."""

    states: torch.Tensor  # float32[n, n_state]
    oracle: torch.Tensor  # float32[n, N_ORACLE]
    actions: torch.Tensor  # float32[m, n_action]
    prior_logits: torch.Tensor  # float32[m]
    counts: torch.Tensor  # int64[n]: actions of each choice
    first: torch.Tensor  # int64[n]: index of the first of them
    chosen: torch.Tensor  # int64[n]
    log_probability: torch.Tensor  # float32[n]
    start: torch.Tensor  # float32[n]: value of the score situation at the start of the round
    value: torch.Tensor  # float32[n]: of the critic, before it learns
    advantage: torch.Tensor  # float32[n]


class Learner:
    """The networks and their optimizers during training."""

    def __init__(
        self,
        weights: Weights,
        hyperparameters: Hyperparameters,
        seed: int = 0,
        device: str = "cpu",
        anchor: Weights | None = None,
    ) -> None:
        """`weights` of the policy; `seed` of those of the critic. Raises ValueError for a missing device.

        `anchor`: the policy that `kl_start` keeps it near; without one, the policy as it is now.
        """
        self.device = device_named(device)
        self.bf16 = has_bf16(self.device)  # whether steps multiply matrices in bf16
        self.hyperparameters = hyperparameters
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.critic = Critic(weights["state"].shape[0]).to(self.device)
            self.situation = SituationValue().to(self.device)
        self.policy = Policy(weights).to(self.device)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=hyperparameters.learning_rate, eps=1e-5)
        values = [*self.critic.parameters(), *self.situation.parameters()]
        self.value_optimizer = torch.optim.Adam(values, lr=hyperparameters.critic_rate, eps=1e-5)
        self._parts: dict[str, Any] = {
            "policy": self.policy,
            "critic": self.critic,
            "situation": self.situation,
            "optimizer": self.optimizer,
            "value_optimizer": self.value_optimizer,
        }
        self.start: Policy | None = None  # the policy as the run began, or the anchor, for `kl_start`
        if hyperparameters.kl_start:
            self.start = self._parts["start"] = Policy(anchor or weights).to(self.device).requires_grad_(False)

    def state(self) -> dict[str, Any]:
        """The weights and the states of the optimizers."""
        return {name: part.state_dict() for name, part in self._parts.items()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned. Raises KeyError, RuntimeError or ValueError for anything else."""
        for name, part in self._parts.items():
            part.load_state_dict(state[name])

    def critic_weights(self) -> CriticWeights:
        """The weights of the critic and of the value of score situations, as `agents.rl.critic` takes them.

        Inputs that the critic has not seen in training have the weight 0.
        """
        found = {}
        for network, module in (("critic", self.critic), ("situation", self.situation)):
            linear = [each for each in module.layers if isinstance(each, nn.Linear)]
            for i, layer in enumerate(linear):
                found[f"{network}.{i}.weight"] = layer.weight.detach().cpu().numpy().T.copy()
                found[f"{network}.{i}.bias"] = layer.bias.detach().cpu().numpy()
        if self.hyperparameters.critic_sees == "view":
            first = found["critic.0.weight"]
            first[len(first) - N_ORACLE :][: ORACLE.line_up] = 0
        return found

    def _tensor(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)

    def set_rates(self, policy: float, critic: float) -> None:
        """Multiply the learning rates of the hyperparameters by these factors."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.hyperparameters.learning_rate * policy
        for group in self.value_optimizer.param_groups:
            group["lr"] = self.hyperparameters.critic_rate * critic

    def whiten(self, experience: Sequence[Experience]) -> None:
        """Whiten the features that the policy learns from, by the experience of some actors."""
        states = np.concatenate([part.states for part in experience])
        actions = np.concatenate([part.actions for part in experience])
        if len(states) == 0:
            return
        self.policy.whiten(self._tensor(states), self._tensor(actions))
        self.optimizer.state.clear()  # its moments are of other coordinates

    def is_finite(self) -> bool:
        """Whether all weights are finite numbers."""
        parameters = [*self.policy.parameters(), *self.critic.parameters(), *self.situation.parameters()]
        return all(bool(each.isfinite().all()) for each in parameters)

    def learn(self, experience: Sequence[Experience], generator: np.random.Generator) -> dict[str, float]:
        """Learn from the experience of some actors; returns metrics, means over the minibatches; {} without choices."""
        parts = [self.evaluate(part) for part in experience if len(part.seat)]
        if not parts:
            return {}
        advantages = torch.cat([part.advantage for part in parts])
        changes = torch.cat([part.value + part.advantage - part.start for part in parts])
        mean, std = float(advantages.mean()), float(advantages.std(correction=0)) + 1e-6  # of one choice: 0
        metrics: dict[str, list[float]] = {
            "explained_variance": [1 - float(advantages.var(correction=0) / (changes.var(correction=0) + 1e-12))],
            "advantage_std": [std],
        }
        for _ in range(self.hyperparameters.epochs):
            for part, rows in self._minibatches(parts, generator):
                for name, value in self._step(part, rows, mean, std).items():
                    metrics.setdefault(name, []).append(value)
        metrics["situation_loss"] = [self.learn_situations(part) for part in experience]
        return {name: float(np.mean(values)) for name, values in metrics.items()}

    def _minibatches(
        self, parts: Sequence[Choices], generator: np.random.Generator
    ) -> Iterator[tuple[Choices, torch.Tensor]]:
        """Random minibatches: a part, and indices of its choices, int64[:]."""
        batches = []
        for part in parts:
            n = len(part.chosen)
            pieces = max(round(n / self.hyperparameters.batch_size), 1)
            batches += [(part, rows) for rows in np.array_split(generator.permutation(n), pieces)]
        for i in generator.permutation(len(batches)):
            part, rows = batches[i]
            yield part, self._tensor(rows)

    def evaluate(self, part: Experience) -> Choices:
        """The choices of an experience, with their advantages by the present critic."""
        states, oracle = self._tensor(part.states), self._tensor(part.oracle)
        if self.hyperparameters.critic_sees == "view":
            oracle = oracle.clone()
            oracle[:, : ORACLE.line_up] = 0
        with torch.no_grad():
            before, after = (self.situation(self._tensor(each)).cpu().numpy() for each in (part.before, part.after))
            batches = zip(torch.split(states, CRITIC_BATCH), torch.split(oracle, CRITIC_BATCH))
            changes = torch.cat([self.critic(*batch) for batch in batches]).cpu().numpy()
        ends = np.where(part.over[:, None], 2 - part.ranks, after).astype(np.float32)
        start = before[part.table, part.seat]
        values, advantages = start + changes, np.empty_like(changes)
        estimate_advantages(part.table, part.seat, values, ends, self.hyperparameters.gae_lambda, advantages)
        first = np.cumsum(part.counts) - part.counts
        rest = (
            part.actions,
            part.prior_logits,
            part.counts,
            first,
            part.chosen,
            part.log_probability,
            start,
            values,
            advantages,
        )
        return Choices(states, oracle, *map(self._tensor, rest))

    def _step(self, part: Choices, rows: torch.Tensor, mean: float, std: float) -> dict[str, float]:
        """One step of Adam of the policy and one of the critic, on the choices `rows` int64[:] of a part.

        The metric `logit_value` is the slope of the advantage, in placements, over the logit of what was chosen.
        """
        states = part.states.index_select(0, rows)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            log_policy, log_prior, log_start = self.log_policies(part, rows, states)
            value = part.start[rows] + self.critic(states, part.oracle.index_select(0, rows))
        log_chosen = log_policy.gather(1, part.chosen[rows, None])[:, 0]
        ratio = (log_chosen - part.log_probability[rows]).exp()
        advantage = (part.advantage[rows] - mean) / std
        surrogate = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
        probabilities = log_policy.exp()
        entropies = -(probabilities * log_policy).sum(1)
        entropy = entropies.mean()
        kl, kl_start = ((probabilities * (log_policy - each)).sum(1).mean() for each in (log_prior, log_start))
        weights = self.hyperparameters
        loss = -surrogate - weights.entropy * entropy + weights.kl * kl + weights.kl_start * kl_start
        descend(self.optimizer, self.policy, loss)
        value_loss = (value - part.value[rows] - part.advantage[rows]).square().mean()
        descend(self.value_optimizer, self.critic, value_loss)
        named = {"surrogate": surrogate, "entropy": entropy, "kl_from_prior": kl, "value_loss": value_loss}
        if self.start is not None:
            named["kl_from_start"] = kl_start
        with torch.no_grad():
            named["clip_fraction"] = ((ratio - 1).abs() > CLIP).float().mean()
            variance = (probabilities * (log_policy + entropies[:, None]).square()).sum(1).mean()
            named["logit_value"] = (part.advantage[rows] * (log_chosen + entropies)).mean() / (variance + 1e-9)
        return {name: float(each.detach()) for name, each in named.items()}

    def log_policies(
        self, part: Choices, rows: torch.Tensor, states: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log probabilities of the actions of each choice: by the policy, by the prior logits alone, and by `start`.

        float32[n, most actions]; MIN_LOG_PROBABILITY where there is no action. Without `start` the last are the first.
        """
        counts = part.counts[rows]
        actions = list_actions(part.first[rows], counts)
        prior_logits = part.prior_logits[actions.row]

        def normalized(logits: torch.Tensor) -> torch.Tensor:
            return torch.log_softmax(actions.padded(logits, counts), 1).clamp_min(MIN_LOG_PROBABILITY)

        inputs = states, part.actions.index_select(0, actions.row), actions.choice
        by_policy = normalized(prior_logits + self.policy(*inputs))
        by_start = by_policy if self.start is None else normalized(prior_logits + self.start(*inputs))
        return by_policy, normalized(prior_logits), by_start

    def learn_situations(self, part: Experience) -> float:
        """Take some temporal-difference steps for the values of score situations; return the mean loss."""
        with torch.no_grad():
            after = self.situation(self._tensor(part.after))
            targets = torch.where(self._tensor(part.over)[:, None], 2 - self._tensor(part.ranks), after)
        before = self._tensor(part.before)
        total = 0.0
        for _ in range(SITUATION_STEPS):
            loss = (self.situation(before) - targets).square().mean()
            descend(self.value_optimizer, self.situation, loss)
            total += float(loss.detach()) / SITUATION_STEPS
        return total


def device_named(name: str) -> torch.device:
    """A device of PyTorch, tried. Raises ValueError, in one line."""
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ValueError(f"--device {name}: {next(iter(str(error).splitlines()), 'not there')}") from None
    return device


def descend(optimizer: torch.optim.Optimizer, network: nn.Module, loss: torch.Tensor) -> None:
    """Take one step of `optimizer` to minimize `loss`, with the norm of the gradient of `network` clipped."""
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(network.parameters(), MAX_GRADIENT)
    optimizer.step()
