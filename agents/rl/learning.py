"""Learning from experience by proximal policy optimization. Needs torch.

The advantage of a choice is generalized advantage estimation (Schulman et al. 2015, https://arxiv.org/abs/1506.02438)
over the choices of one seat in one round. A round ends in the value of the situation that it leads to, an expected
placement, and the last one in the placement. The values in between are those of a critic that sees all hands and the
wall. The policy is raised by the clipped objective of Schulman et al. 2017 (https://arxiv.org/abs/1707.06347).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from agents.rl.acting import Experience
from agents.rl.oracle import N_ORACLE
from agents.rl.policy import NAMES, Weights
from agents.rl.settings import Hyperparameters
from agents.rl.situation import N_SITUATION
from engine.compiling import kernel

CLIP = 0.2
MAX_GRADIENT = 1.0  # norm
SITUATION_STEPS = 4  # an iteration and actor
CRITIC_BATCH = 8192  # choices that the critic evaluates at once
LEAST = -50.0  # log probability: minus infinity times a probability of 0 would be no number


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


class Critic(nn.Module):
    """The change of 2 - placement that a seat can expect in this round, from all that there is to see."""

    def __init__(self, n_state: int, width: int = 256, hidden: int = 128) -> None:
        super().__init__()
        last = nn.Linear(hidden, 1)
        nn.init.zeros_(last.weight)
        self.layers = nn.Sequential(
            nn.Linear(n_state + N_ORACLE, width), nn.ReLU(), nn.Linear(width, hidden), nn.ReLU(), last
        )

    def forward(self, states: torch.Tensor, oracle: torch.Tensor) -> torch.Tensor:
        """float32[n] for `states` float32[n, n_state] and `oracle` float32[n, N_ORACLE]."""
        out: torch.Tensor = self.layers(torch.cat([states, oracle], dim=1))
        return out[:, 0]


class SituationValue(nn.Module):
    """2 - the expected final placement of a seat at the start of a round."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        last = nn.Linear(width, 1)
        nn.init.zeros_(last.weight)
        self.layers = nn.Sequential(nn.Linear(N_SITUATION, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), last)

    def forward(self, situations: torch.Tensor) -> torch.Tensor:
        """float32[..., 3] for `situations` float32[..., 3, N_SITUATION]: the three seats sum to 0."""
        out = self.layers(situations)[..., 0]
        return out - out.mean(dim=-1, keepdim=True)


class Policy(nn.Module):
    """The policy network of `agents.rl.policy`."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.weights = nn.ParameterDict({name: nn.Parameter(torch.from_numpy(weights[name].copy())) for name in NAMES})

    def forward(self, states: torch.Tensor, actions: torch.Tensor, choice: torch.Tensor) -> torch.Tensor:
        """What is added to the logit of each action, float32[m]; `choice` int64[m]: the row of `states` of each."""
        w = self.weights
        joint = torch.addmm(w["state_bias"], states, w["state"])
        hidden = torch.relu(joint.index_select(0, choice) + actions @ w["action"])
        hidden = torch.relu(torch.addmm(w["hidden_bias"], hidden, w["hidden"]))
        return hidden @ w["logit"]

    def numpy(self) -> Weights:
        """A copy of the present weights."""
        return {name: self.weights[name].detach().float().cpu().numpy().copy() for name in NAMES}


class Prepared(NamedTuple):
    """What the critic says of an `Experience` before it is learned from."""

    advantage: np.ndarray  # float32[n]
    target: np.ndarray  # float32[n]: of the critic
    value: np.ndarray  # float32[n]: of the critic as it is
    start: np.ndarray  # float32[n]: of the situation at the start of the round
    first: np.ndarray  # int64[n]: index of the first action of each choice


class Learner:
    """The networks and their optimizers during training."""

    def __init__(self, weights: Weights, hyperparameters: Hyperparameters, seed: int = 0, device: str = "cpu") -> None:
        """`weights` of the policy; `seed` of those of the critic. Raises ValueError for a device that is not there."""
        self.device = device_named(device)
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

    def state(self) -> dict[str, Any]:
        """The weights and the states of the optimizers."""
        return {name: part.state_dict() for name, part in self._parts.items()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned. Raises KeyError, RuntimeError or ValueError for anything else."""
        for name, part in self._parts.items():
            part.load_state_dict(state[name])

    def _tensor(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)

    def set_rates(self, policy: float, critic: float) -> None:
        """Multiply the learning rates of the hyperparameters by these factors."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.hyperparameters.learning_rate * policy
        for group in self.value_optimizer.param_groups:
            group["lr"] = self.hyperparameters.critic_rate * critic

    def learn(self, experience: Sequence[Experience], generator: np.random.Generator) -> dict[str, float]:
        """Learn from the experience of some actors; returns metrics, means over the minibatches; {} without choices."""
        parts = [part for part in experience if len(part.seat)]
        if not parts:
            return {}
        data = [self._prepare(part) for part in parts]
        advantages, values, starts = (
            np.concatenate([getattr(each, name) for each in data]) for name in ("advantage", "value", "start")
        )
        mean, std = float(advantages.mean()), float(advantages.std()) + 1e-6
        explained = 1 - float(advantages.var() / ((values + advantages - starts).var() + 1e-12))
        metrics: dict[str, list[float]] = {"explained_variance": [explained], "advantage_std": [std]}
        for _ in range(self.hyperparameters.epochs):
            for k, rows in self._minibatches([len(part.seat) for part in parts], generator):
                for name, value in self._step(parts[k], data[k], rows, mean, std).items():
                    metrics.setdefault(name, []).append(value)
        metrics["situation_loss"] = [self._learn_situations(part) for part in parts]
        return {name: float(np.mean(values)) for name, values in metrics.items()}

    def _minibatches(self, counts: list[int], generator: np.random.Generator) -> list[tuple[int, np.ndarray]]:
        """Random minibatches of parts with `counts` choices: the index of the part, and the choices int64[:]."""
        batches = []
        for k, n in enumerate(counts):
            parts = max(round(n / self.hyperparameters.batch_size), 1)
            batches += [(k, rows) for rows in np.array_split(generator.permutation(n), parts)]
        return [batches[i] for i in generator.permutation(len(batches))]

    def _prepare(self, part: Experience) -> Prepared:
        """Advantages and targets by the present critic."""
        with torch.no_grad():
            before, after = (self.situation(self._tensor(each)).cpu().numpy() for each in (part.before, part.after))
            pieces = zip(
                *(np.array_split(each, len(part.seat) // CRITIC_BATCH + 1) for each in (part.states, part.oracle))
            )
            changes = [self.critic(self._tensor(s), self._tensor(o)).cpu().numpy() for s, o in pieces]
        ends = np.where(part.over[:, None], 2 - part.ranks, after).astype(np.float32)
        start = before[part.table, part.seat]
        values = start + np.concatenate(changes)
        advantages = np.empty(len(values), dtype=np.float32)
        estimate_advantages(part.table, part.seat, values, ends, self.hyperparameters.gae_lambda, advantages)
        first = np.cumsum(part.counts) - part.counts
        return Prepared(advantages, values + advantages, values, start, first)

    def _step(self, part: Experience, data: Prepared, rows: np.ndarray, mean: float, std: float) -> dict[str, float]:
        """One step of Adam of the policy and one of the critic, on the choices `rows` int64[:] of a part."""
        states = self._tensor(part.states[rows])
        log_policy, log_base = self._log_policy(part, data, rows, states)
        chosen = self._tensor(part.chosen[rows])
        ratio = (log_policy.gather(1, chosen[:, None])[:, 0] - self._tensor(part.log_probability[rows])).exp()
        advantage = (self._tensor(data.advantage[rows]) - mean) / std
        gain = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
        probabilities = log_policy.exp()
        entropy = -(probabilities * log_policy).sum(1).mean()
        kl = (probabilities * (log_policy - log_base)).sum(1).mean()
        descend(
            self.optimizer, self.policy, -gain - self.hyperparameters.entropy * entropy + self.hyperparameters.kl * kl
        )
        value = self._tensor(data.start[rows]) + self.critic(states, self._tensor(part.oracle[rows]))
        value_loss = (value - self._tensor(data.target[rows])).square().mean()
        descend(self.value_optimizer, self.critic, value_loss)
        clipped = ((ratio - 1).abs() > CLIP).float().mean()
        named = {"gain": gain, "entropy": entropy, "kl": kl, "value_loss": value_loss, "clipped": clipped}
        return {name: float(each.detach()) for name, each in named.items()}

    def _log_policy(
        self, part: Experience, data: Prepared, rows: np.ndarray, states: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log probabilities of the actions of each choice, by the policy and by the base logits alone.

        float32[n, most actions]; LEAST where there is no action.
        """
        counts = part.counts[rows]
        choice = np.repeat(np.arange(len(rows)), counts)
        position = np.arange(len(choice)) - (np.cumsum(counts) - counts)[choice]
        flat = data.first[rows][choice] + position
        at, base = self._tensor(choice), self._tensor(part.base[flat])
        none = torch.full((len(rows), int(counts.max())), -torch.inf, device=self.device)
        where = (at, self._tensor(position))
        logits = none.index_put(where, base + self.policy(states, self._tensor(part.actions[flat]), at))
        return (
            torch.log_softmax(logits, dim=1).clamp_min(LEAST),
            torch.log_softmax(none.index_put(where, base), dim=1).clamp_min(LEAST),
        )

    def _learn_situations(self, part: Experience) -> float:
        """Some steps of temporal difference for the values of situations; returns the mean loss."""
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
    """One step of `optimizer` down `loss`, with the norm of the gradient of `network` clipped."""
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(network.parameters(), MAX_GRADIENT)
    optimizer.step()
