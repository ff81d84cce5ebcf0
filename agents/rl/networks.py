"""The networks of training: policy, critic, and the value of situations. Needs torch."""

from __future__ import annotations

import torch
from torch import nn

from agents.rl.oracle import N_ORACLE
from agents.rl.policy import NAMES, Weights
from agents.rl.situation import N_SITUATION


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
        return (hidden * w["logit"]).sum(1)  # a product of matrices would be rounded to bf16 by autocast

    def numpy(self) -> Weights:
        """A copy of the present weights."""
        return {name: self.weights[name].detach().float().cpu().numpy().copy() for name in NAMES}
