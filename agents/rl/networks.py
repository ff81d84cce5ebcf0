"""The networks of training: policy, critic, and the value of score situations. Needs torch."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn

from agents.rl.oracle import N_ORACLE
from agents.rl.policy import NAMES, Weights
from agents.rl.situation import N_SITUATION

WHITENED = ("state", "action")  # the matrices of the first layer
DAMPING = 0.003  # of the mean variance of a feature


class Critic(nn.Module):
    """The expected change of 2 - placement of a seat in this round, from everything at the table, hidden or not."""

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
        """float32[..., 3] for the score `situations` float32[..., 3, N_SITUATION]: the three seats sum to 0."""
        out = self.layers(situations)[..., 0]
        return out - out.mean(dim=-1, keepdim=True)


class Policy(nn.Module):
    """The policy network of `agents.rl.policy`, learned in coordinates in which the features can be whitened (ZCA).

    A first-layer matrix W of `agents.rl.policy` is P V: V is learned. With P as the inverse square root of the
    covariance of the features, directions in which they vary little are learned about as fast as others (Desjardins et
    al. 2015, https://arxiv.org/abs/1507.00210). P is the identity until `whiten`.
    """

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.weights = nn.ParameterDict({name: nn.Parameter(torch.from_numpy(weights[name].copy())) for name in NAMES})
        for name in WHITENED:
            n = len(weights[name])
            self.register_buffer(f"{name}_whitening", torch.eye(n))  # P
            self.register_buffer(f"{name}_mean", torch.zeros(n))  # of the features

    def plain(self) -> dict[str, torch.Tensor]:
        """The weights as `agents.rl.policy` has them."""
        plain: dict[str, torch.Tensor] = dict(self.weights.items())
        for name in WHITENED:
            plain[name] = self.get_buffer(f"{name}_whitening") @ plain[name]
            plain["state_bias"] = plain["state_bias"] - self.get_buffer(f"{name}_mean") @ plain[name]
        return plain

    def forward(self, states: torch.Tensor, actions: torch.Tensor, choice: torch.Tensor) -> torch.Tensor:
        """What is added to the logit of each action, float32[m]; `choice` int64[m]: the row of `states` of each."""
        with torch.autocast(states.device.type, enabled=False):  # bf16 would round the products that `plain` is made of
            w = self.plain()
        joint = torch.addmm(w["state_bias"], states, w["state"])
        hidden = torch.relu(joint.index_select(0, choice) + actions @ w["action"])
        hidden = torch.relu(torch.addmm(w["hidden_bias"], hidden, w["hidden"]))
        return (hidden * w["logit"]).sum(1)  # autocast would round a matrix product to bf16

    @torch.no_grad()
    def whiten(self, states: torch.Tensor, actions: torch.Tensor) -> None:
        """Whiten the features by the covariances of `states` and `actions`; the function does not change."""
        plain = self.plain()
        bias = plain["state_bias"].clone()
        for name, features in zip(WHITENED, (states, actions), strict=True):
            whitening, mean = self.get_buffer(f"{name}_whitening"), self.get_buffer(f"{name}_mean")
            whitening.copy_(whitening_of(features))
            mean.copy_(features.mean(0))
            self.weights[name].copy_(torch.linalg.solve(whitening, plain[name]))
            bias += mean @ plain[name]
        self.weights["state_bias"].copy_(bias)

    def numpy(self) -> Weights:
        """A copy of the present weights, as `agents.rl.policy` has them."""
        return {name: weight.detach().float().cpu().numpy().copy() for name, weight in self.plain().items()}


class Listed(NamedTuple):
    """The actions of n choices, one after another: int64[m] each."""

    choice: torch.Tensor  # of which choice, below n
    position: torch.Tensor  # among the actions of that choice
    row: torch.Tensor  # among the actions of all choices, which these are taken from

    def padded(self, logits: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        """`logits` float32[m] as float32[n, most actions], minus infinity where there is no action."""
        none = torch.full((len(counts), int(counts.max())), -torch.inf, device=logits.device)
        return none.index_put((self.choice, self.position), logits)


def list_actions(first: torch.Tensor, counts: torch.Tensor) -> Listed:
    """List the actions of choices; int64[n]: the row of the `first` action of each, and the `counts` of its actions."""
    choice = torch.repeat_interleave(counts)
    position = torch.arange(len(choice), device=counts.device) - (counts.cumsum(0) - counts)[choice]
    return Listed(choice, position, first[choice] + position)


def whitening_of(features: torch.Tensor) -> torch.Tensor:
    """The symmetric P, float32[k, k], by which `features` float32[n, k] become uncorrelated, with equal variances.

    Their mean variance is unchanged. A share DAMPING of it is added to all variances, since features can be constant.
    """
    covariance = torch.cov(features.double().T, correction=0)
    variance = covariance.diagonal().mean()
    eigenvalues, vectors = torch.linalg.eigh(covariance)
    scales = ((eigenvalues.clamp_min(0) + DAMPING * variance) / variance).rsqrt()
    whitening = (vectors * scales) @ vectors.T
    kept = (whitening @ covariance @ whitening).diagonal().mean()
    return (whitening * (variance / kept).sqrt()).float()
