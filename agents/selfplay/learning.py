"""Learning from kept games: advantages, the loss, and a step of Adam. Needs torch.

There is no search that could say what would have been better, and imitating one's own moves teaches nothing. What a
choice was worth is estimated by what came after it: its *advantage* is generalized advantage estimation (Schulman et
al. 2015, https://arxiv.org/abs/1506.02438) over the choices of one seat in one round. A round ends in the value of the
situation that it leads to, and the game in its final points, so that neither later rounds nor, thanks to the values in
between, later draws make an estimate noisy. The games in the buffer were played by earlier weights: the loss of the
policy is weighted by how much likelier the choice has become, and clipped (Schulman et al. 2017,
https://arxiv.org/abs/1707.06347), so that nothing is learned from a game twice over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from agents.selfplay.games import Exploration
from agents.selfplay.network import RESULT_UNIT, SHAPES, Weights
from agents.selfplay.replay import Choices
from engine.compiling import kernel

LAMBDA = 0.95  # of generalized advantage estimation
CLIP = 0.2  # how much likelier or less likely than in the game a choice is made before it counts no more
ENTROPY = 0.005  # weight of the entropy of the policy
VALUE_WEIGHT = 0.5
MAX_GRADIENT = 1.0  # norm


class Losses(NamedTuple):
    """The parts of the loss, each a mean over the choices of a minibatch."""

    policy: torch.Tensor
    entropy: torch.Tensor
    value: torch.Tensor  # squared error, in units of RESULT_UNIT
    situation: torch.Tensor  # the same for situations
    l2: torch.Tensor  # sum of the squares of all weights


class Batch(NamedTuple):
    """A minibatch of n choices, and the situations of the games that they come from."""

    states: torch.Tensor  # float32[n, N_STATE]
    actions: torch.Tensor  # float32[m, N_ACTION]
    choice: torch.Tensor  # int64[m]: the choice that each of `actions` belongs to
    position: torch.Tensor  # int64[m]: its index among the actions of that choice
    chosen: torch.Tensor  # int64[n]
    temperature: torch.Tensor  # float32[n]
    log_probability: torch.Tensor  # float32[n]
    advantage: torch.Tensor  # float32[n]
    value: torch.Tensor  # float32[n]: target
    situations: torch.Tensor  # float32[k, N_SITUATION]
    results: torch.Tensor  # float32[k]: target


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


class Learner:
    """The weights while they are learned."""

    def __init__(self, weights: Weights, learning_rate: float, l2: float) -> None:
        self.parameters = {name: torch.from_numpy(weights[name].copy()).requires_grad_() for name in SHAPES}
        self.optimizer = torch.optim.Adam(self.parameters.values(), lr=learning_rate, eps=1e-5)
        self._l2 = l2

    @property
    def weights(self) -> Weights:
        """A copy of the present weights."""
        return {name: tensor.detach().numpy().copy() for name, tensor in self.parameters.items()}

    def values(self, states: torch.Tensor) -> torch.Tensor:
        """What the game is expected to bring, float32[n], for `states` float32[n, N_STATE]."""
        p = self.parameters
        hidden = torch.relu(torch.addmm(p["value_bias"], states, p["value"]))
        hidden = torch.relu(torch.addmm(p["value_hidden_bias"], hidden, p["value_hidden"]))
        return hidden @ p["value_out"] + p["value_out_bias"]

    def situation_values(self, situations: torch.Tensor) -> torch.Tensor:
        """The same at the start of a round, float32[k], for `situations` float32[k, N_SITUATION]."""
        p = self.parameters
        hidden = torch.relu(torch.addmm(p["situation_bias"], situations, p["situation"]))
        return hidden @ p["situation_out"] + p["situation_out_bias"]

    def log_policy(self, batch: Batch) -> torch.Tensor:
        """Logarithms of the probabilities of the actions of each choice, float32[n, most actions]; -inf: no action."""
        p = self.parameters
        joint = torch.addmm(p["state_bias"], batch.states, p["state"])
        hidden = torch.relu(joint[batch.choice] + batch.actions @ p["action"])
        hidden = torch.relu(torch.addmm(p["hidden_bias"], hidden, p["hidden"]))
        logits = torch.full((len(batch.states), int(batch.position.max()) + 1), -torch.inf)
        logits = logits.index_put((batch.choice, batch.position), hidden @ p["logit"])
        return torch.log_softmax(logits / batch.temperature[:, None], dim=1)

    def losses(self, batch: Batch) -> Losses:
        """The parts of the loss of a minibatch."""
        log_policy = self.log_policy(batch)
        ratio = (log_policy.gather(1, batch.chosen[:, None])[:, 0] - batch.log_probability).exp()
        gain = torch.minimum(ratio * batch.advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * batch.advantage)
        finite = log_policy.clamp_min(-50)  # 0 * -inf is no number
        return Losses(
            -gain.mean(),
            -(finite.exp() * finite).sum(1).mean(),
            (self.values(batch.states) - batch.value).square().mean(),
            (self.situation_values(batch.situations) - batch.results).square().mean(),
            sum((tensor.square().sum() for tensor in self.parameters.values()), torch.zeros(())),
        )

    def total(self, losses: Losses) -> torch.Tensor:
        """The loss that a step lowers."""
        values = losses.value + losses.situation
        return losses.policy - ENTROPY * losses.entropy + VALUE_WEIGHT * values + self._l2 * losses.l2

    def step(self, batch: Batch) -> Losses:
        """One step of Adam on a minibatch; returns the loss before it."""
        losses = self.losses(batch)
        self.optimizer.zero_grad()
        self.total(losses).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.parameters.values(), MAX_GRADIENT)
        self.optimizer.step()
        return losses

    def batches(
        self, choices: Choices, batch_size: int, exploration: Exploration, generator: np.random.Generator
    ) -> Iterator[Batch]:
        """The choices of some games in random minibatches of about `batch_size`, with advantages by these weights."""
        results = choices.results / np.float32(RESULT_UNIT)
        situations = torch.from_numpy(choices.situations.reshape(-1, choices.situations.shape[-1]))
        with torch.no_grad():
            values = self.values(torch.from_numpy(choices.states)).numpy()
            starts = self.situation_values(situations).numpy().reshape(-1, 3)
        over = choices.following < 0
        ends = np.where(over[:, None], results[choices.game], starts[choices.following]).astype(np.float32)
        advantages = np.empty(len(values), dtype=np.float32)
        estimate_advantages(choices.round, choices.seat, values, ends, LAMBDA, advantages)
        targets = values + advantages
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
        temperatures = exploration.temperatures(choices.late).astype(np.float32)
        counts = np.diff(choices.first)
        order = generator.permutation(len(values))
        for rows in np.array_split(order, max(round(len(order) / batch_size), 1)):
            choice = np.repeat(np.arange(len(rows)), counts[rows])
            position = np.arange(len(choice)) - np.repeat(np.cumsum(counts[rows]) - counts[rows], counts[rows])
            arrays: list[Any] = [
                choices.states[rows],
                choices.actions[choices.first[rows][choice] + position],
                choice,
                position,
                choices.chosen[rows],
                temperatures[rows],
                choices.log_probability[rows],
                advantages[rows],
                targets[rows],
            ]
            of_games = (situations, torch.from_numpy(results[choices.game].ravel()))
            yield Batch._make([*map(torch.from_numpy, arrays), *of_games])
