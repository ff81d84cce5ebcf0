"""The settings of a run of reinforcement learning, with their defaults."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from engine.rules import EVEN_SCORES, Scores

WIDTH, HIDDEN = 160, 64  # of a policy that starts at random
MAX_WIDTH = 1024  # of a layer


@dataclass(frozen=True)
class Games:
    """Which games are played."""

    bot: str  # whose network learns, in FAMILIES
    opponents: tuple[str, ...] = ("rule",)  # bots, as the registry reads them
    against: float = 0.5  # share of the games with opponents; one and two of them are equally likely
    handicaps: tuple[Scores, ...] = (EVEN_SCORES,)  # starting scores; each game has one, seats at random


class Hyperparameters(NamedTuple):
    """Hyperparameters of the learner."""

    learning_rate: float = 4e-3  # of the policy, at the start
    critic_rate: float = 1e-3  # of the critic, at the start
    gae_lambda: float = 0.6
    entropy: float = 0.012  # weight of the entropy of the policy
    kl: float = 0.0  # weight of the Kullback-Leibler divergence from the policy of the prior logits
    batch_size: int = 8192
    epochs: int = 1
    critic_sees: str = "everything"  # or "view": an ablation


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a run."""

    games: Games
    hyperparameters: Hyperparameters = field(default_factory=Hyperparameters)
    seed: int = 0
    jobs: int = 2  # actors
    tables: int = 1024  # of an actor
    width: int | None = None  # of the first layer of a new policy; None: that of the weights it starts from, or WIDTH
    hidden: int | None = None  # of its second layer; None: that of the weights, or HIDDEN
    minutes: float = 480.0  # the learning rate falls linearly to 0 by then
    measured_against: tuple[str, ...] = ("rule",)
    walls: int = 1000  # of a measurement, each played three times
    device: str = "cpu"
    former_every: float = math.inf  # minutes after which, again and again, the current policy becomes one more opponent

    def fixed_options(self) -> dict[str, str]:
        """The settings that a run cannot change, by name, as texts; saved with it, after two hyphens."""
        options = asdict(self.games) | self.hyperparameters._asdict()
        options |= {"seed": self.seed, "jobs": self.jobs, "tables": self.tables, "former_every": self.former_every}
        options["handicaps"] = ["-".join(map(str, scores)) for scores in self.games.handicaps]
        texts = {name: ",".join(value) if isinstance(value, list | tuple) else value for name, value in options.items()}
        return {"--" + name.replace("_", "-"): str(text) for name, text in texts.items()}
