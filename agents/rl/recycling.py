"""Recycling of dormant units (ReDo: Sokar et al. 2023, https://arxiv.org/abs/2302.12902). Needs torch.

A unit of a ReLU layer that is never active has no gradient, so nothing brings it back, while noisy steps make more and
more units like it. Recycling gives them new inputs at random, and outputs of 0, which changes no logit.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from agents.rl.networks import Policy

DORMANT = 0.001  # a unit that is active for a smaller share of the actions is recycled
# The weights of each layer: those into its units, their bias, those out of them.
LAYERS = ((("state", "action"), "state_bias", "hidden"), (("hidden",), "hidden_bias", "logit"))


@torch.no_grad()
def recycle(
    policy: Policy,
    optimizer: torch.optim.Optimizer,
    states: torch.Tensor,
    actions: torch.Tensor,
    choice: torch.Tensor,
    generator: np.random.Generator,
) -> int:
    """Recycle the units that are dormant for these actions, given as to `Policy.forward`; returns how many.

    New inputs are drawn as in `agents.rl.policy.random_weights`. What `optimizer`, an Adam, knows of them is forgotten.
    """
    recycled = 0
    for units, (inputs, bias, output) in zip(policy.units(states, actions, choice), LAYERS, strict=True):
        dormant = torch.nonzero((units > 0).float().mean(0) < DORMANT)[:, 0]
        recycled += len(dormant)
        for name in inputs:
            matrix = policy.weights[name]
            drawn = generator.standard_normal((len(matrix), len(dormant))) * np.sqrt(2 / len(matrix))
            for each in with_moments(matrix, optimizer):
                each[:, dormant] = 0
            matrix[:, dormant] = torch.from_numpy(drawn.astype(np.float32)).to(matrix.device)
        for name in (bias, output):
            for each in with_moments(policy.weights[name], optimizer):
                each[dormant] = 0
    return recycled


def with_moments(weights: nn.Parameter, optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """The weights, and the two moments that Adam keeps of their gradients once it has made a step."""
    state = optimizer.state.get(weights, {})
    return [weights, *(state[name] for name in ("exp_avg", "exp_avg_sq") if name in state)]
