"""`python -m agents.rl train` where Adam sees the first layer in coordinates in which the features are white.

    python experiments/whitened_features.py train FOLDER --minutes 10        (the options of agents.rl)

The first layer's weights W are P V, for the features of positions and of actions each; Adam steps V. P is a multiple of
(C + damping)^-1/2 (ZCA), where C is the covariance of the features in the last iteration in which only the critic
learns, so that directions in which they vary little are learned about as fast as others (Desjardins et al. 2015,
https://arxiv.org/abs/1507.00210). Not for runs that are resumed. docs/experiments.md has the results.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import torch

import agents.rl.training
from agents.rl.acting import Experience
from agents.rl.cli import main
from agents.rl.learning import Learner
from agents.rl.networks import Policy
from agents.rl.policy import Weights
from agents.rl.settings import Hyperparameters
from agents.rl.training import WARM_UP

DAMPING = 0.003  # of the mean variance of a feature, added to each: constants have none


class WhiteAdam(torch.optim.Adam):
    """Adam for a `Policy`, with whitened features in its first layer once `measure` has seen some."""

    def __init__(self, policy: Policy, rate: float) -> None:
        self.w = policy.weights
        self.white = {name: torch.nn.Parameter(self.w[name].detach().clone()) for name in ("state", "action")}
        others = [self.w[name] for name in ("state_bias", "hidden", "hidden_bias", "logit")]
        super().__init__([*self.white.values(), *others], lr=rate, eps=1e-5)
        sizes = {name: len(each) for name, each in self.white.items()}
        self.whitening = {name: (torch.eye(n), torch.zeros(n)) for name, n in sizes.items()}  # P, mean of the features

    def measure(self, name: str, features: torch.Tensor) -> None:
        """Take P and the mean of float32[n, k] `features` of "state" or "action"; P keeps their mean variance."""
        mean = features.mean(0)
        covariance = torch.cov(features.double().T, correction=0)
        damped = covariance + DAMPING * covariance.diagonal().mean() * torch.eye(len(covariance), dtype=torch.float64)
        eigenvalues, vectors = torch.linalg.eigh(damped)
        p = (vectors / eigenvalues.sqrt()) @ vectors.T
        p = p * (covariance.trace() / (p @ covariance @ p).trace()).sqrt()
        self.whitening[name] = p.float(), mean
        self.white[name].data = torch.linalg.inv(p).float() @ self.w[name].data

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of the weights themselves."""
        for weight in self.w.values():
            weight.grad = None

    def step(self, closure: None = None) -> None:
        """One step of the white weights and the others; the bias makes up for the mean of the features."""
        of_bias = self.w["state_bias"].grad
        for name, white in self.white.items():
            p, mean = self.whitening[name]
            white.grad = p @ (self.w[name].grad - torch.outer(mean, of_bias))
        super().step()
        with torch.no_grad():
            for name, white in self.white.items():
                p, mean = self.whitening[name]
                after = p @ white
                self.w["state_bias"] -= mean @ (after - self.w[name])
                self.w[name].copy_(after)


class WhiteLearner(Learner):
    """A learner whose policy has `WhiteAdam`."""

    def __init__(self, weights: Weights, hyperparameters: Hyperparameters, seed: int = 0, device: str = "cpu") -> None:
        super().__init__(weights, hyperparameters, seed, device)
        self.white_adam = WhiteAdam(self.policy, hyperparameters.learning_rate)
        self.optimizer = self._parts["optimizer"] = self.white_adam
        self.iterations = 0

    def learn(self, experience: Sequence[Experience], generator: np.random.Generator) -> dict[str, float]:
        """As `Learner.learn`."""
        metrics = super().learn(experience, generator)
        self.iterations += 1
        if self.iterations == WARM_UP:  # by then the tables are in all rounds of a game
            self.white_adam.measure("state", torch.from_numpy(np.concatenate([each.states for each in experience])))
            self.white_adam.measure("action", torch.from_numpy(np.concatenate([each.actions for each in experience])))
            self.white_adam.state.clear()
        return metrics


if __name__ == "__main__":
    agents.rl.training.Learner = WhiteLearner  # type: ignore[misc]
    sys.exit(main(sys.argv[1:]))
