"""Train `residual` further by a critic of actions (experiments/action_critic.py), mixed with the advantages of PPO.

    python experiments/action_critic_training.py FOLDER [MINUTES [COLLECTED]]    # 30 minutes, 100 rounds

For COLLECTED rounds `residual` plays as in action_critic.py, and the critic of actions learns. For MINUTES more the
policy learns, too: its objective is SHARE of the mean value of an action by that critic, and the rest of PPO's clipped
objective; entropy and KL divergence from the start have weights as in the run after the distillation
(docs/experiments.md). The critic of actions goes on learning from each round, and again from one of the collected ones,
of which the round replaces one. FOLDER gets network.npz. It cannot be resumed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event
from time import monotonic

import action_critic
import numpy as np
import torch
from action_critic import BATCH, GAMES, TABLES, ActionCritic, Kept, RecordingActor, bundled_learner, expected, valued

from agents.rl.bot import WEIGHTS
from agents.rl.policy import save_weights
from agents.rl.ppo import CLIP, Choices, Learner, descend
from agents.rl.rollouts import Experience
from agents.rl.settings import Hyperparameters
from agents.rl.training import LEAST_CRITIC_RATE
from agents.training.memory import keep_freed_memory
from engine.common.progress import Progress

SHARE = 0.8  # of the critic of actions in the objective of the policy
HYPERPARAMETERS = Hyperparameters(learning_rate=0.002, entropy=0.004, kl_start=0.008)
CRITIC_RATE = 2e-4  # of the critic of actions
MINIBATCH = 8192


def kept_of(part: Choices, after: torch.Tensor) -> Kept:
    """What the critic of actions learns from, of choices and the tables `after` them."""
    seen = torch.cat([part.states, part.actions[part.first + part.chosen]], dim=1).half()
    return Kept(seen, after, part.advantage)


def objective(learner: Learner, part: Choices, values: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """The objective of the policy in the choices `rows` int64[:]; `values` float32[actions]: what actions are worth."""
    mean, std = part.advantage.mean(), part.advantage.std() + 1e-6
    with torch.autocast("cpu", torch.bfloat16):
        log_policy, _, log_start = learner.log_policies(part, rows, part.states[rows])
    log_chosen = log_policy.gather(1, part.chosen[rows, None])[:, 0]
    ratio = (log_chosen - part.log_probability[rows]).exp()
    advantage = (part.advantage[rows] - mean) / std
    clipped = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage)
    policy = log_policy.exp()
    by_critic = expected(policy, part, values, rows) / std
    entropy, kl = -(policy * log_policy).sum(1), (policy * (log_policy - log_start)).sum(1)
    weights = learner.hyperparameters
    return (SHARE * by_critic + (1 - SHARE) * clipped + weights.entropy * entropy - weights.kl_start * kl).mean()


class Training:
    """The networks, and the tables that they learn from."""

    def __init__(self) -> None:
        self.choices = 0
        self._learner, self._actor = bundled_learner(HYPERPARAMETERS), RecordingActor(GAMES, TABLES, 0)
        self._random = np.random.default_rng(0)
        self._kept: list[Kept] = []

    def _play(self) -> tuple[Experience, Choices, torch.Tensor]:
        """A round at all tables: its choices, and the tables after the chosen or all actions."""
        self._actor.after = []
        experience = self._actor.play(self._learner.policy.numpy(), [], Event())
        return experience, self._learner.evaluate(experience), torch.from_numpy(np.concatenate(self._actor.after))

    def collect(self, rounds: int) -> None:
        """Play `rounds` rounds, after those of the warm-up, and learn the value of actions from them."""
        with Progress("rounds", action_critic.WARM_UP + rounds) as progress:
            for number in range(-action_critic.WARM_UP, rounds):
                experience, part, after = self._play()
                if number == -1:
                    self._learner.whiten([experience])
                elif number >= 0:
                    self._kept.append(kept_of(part, after))
                progress.advance()
        self._critic: ActionCritic = action_critic.learn(Kept(*map(torch.cat, zip(*self._kept))))
        self._optimizer = torch.optim.Adam(self._critic.parameters(), lr=CRITIC_RATE)
        self._actor.every = True

    def iterate(self, rate: float) -> None:
        """Play a round and learn from it; `rate`: the factor of the learning rates."""
        learner = self._learner
        learner.set_rates(rate, max(rate, LEAST_CRITIC_RATE))
        experience, part, after = self._play()
        n = len(part.chosen)
        self.choices += n
        values = valued(self._critic, part, after)
        for rows in torch.from_numpy(self._random.permutation(n)).chunk(max(round(n / MINIBATCH), 1)):
            descend(learner.optimizer, learner.policy, -objective(learner, part, values, rows))
            value = part.start[rows] + learner.critic(part.states[rows], part.oracle[rows])
            error = value - part.value[rows] - part.advantage[rows]
            descend(learner.value_optimizer, learner.critic, error.square().mean())
        learner.learn_situations(experience)
        self._learn_actions(kept_of(part, after[part.first + part.chosen]), rate)

    def _learn_actions(self, new: Kept, rate: float) -> None:
        """Learn the value of actions from a round and from a collected one."""
        for group in self._optimizer.param_groups:
            group["lr"] = CRITIC_RATE * max(rate, LEAST_CRITIC_RATE)
        self._kept[self._random.integers(len(self._kept))] = new
        for part in (new, self._kept[self._random.integers(len(self._kept))]):
            for rows in torch.split(torch.randperm(len(part.advantage)), BATCH):
                descend(self._optimizer, self._critic, action_critic.loss(self._critic, part, rows))

    def save(self, folder: Path) -> None:
        """Write the policy."""
        folder.mkdir(parents=True, exist_ok=True)
        save_weights(folder / WEIGHTS, self._learner.policy.numpy())


def main(folder: Path, minutes: float = 30.0, collected: int = 100) -> None:
    """Train and write the network."""
    torch.manual_seed(0)
    keep_freed_memory()
    training = Training()
    training.collect(collected)
    began, spent = monotonic(), 0.0
    with Progress("seconds", round(60 * minutes)) as progress:
        while spent < 60 * minutes:
            training.iterate(1 - spent / (60 * minutes))
            before, spent = spent, monotonic() - began
            progress.advance(round(spent) - round(before))
    training.save(folder)
    print(f"{training.choices:,} choices")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f"usage: python {sys.argv[0]} FOLDER [MINUTES [COLLECTED]]")
    main(Path(sys.argv[1]), *(number(text) for number, text in zip((float, int), sys.argv[2:])))
