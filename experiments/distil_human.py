"""Distil `human` into a network of `residual`, from which reinforcement learning can start and stay near people.

    python experiments/distil_human.py FOLDER WALLS RECORDS...

In the choices of people in RECORDS (files, archives or folders), and in those of `human` on WALLS walls, where it plays
two seats beside one `rule`, the network learns the probabilities that `human` has. It begins as the bundled network of
`residual`. FOLDER keeps choices and result as that of `experiments/distil_ensemble.py` does. docs/experiments.md has
results.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from distillation import WALLS_AT_ONCE, Data, Part, collect_people, collect_walls, learn, part_of, run

from agents import human
from agents.bert import bot as bert
from agents.bert.labels import actions_of, labels_of
from agents.linear.data import Records
from agents.residual.bot import BUNDLED
from agents.residual.features import FEATURES
from agents.rl.bot import WEIGHTS
from agents.rl.networks import Policy
from agents.rl.policy import load_weights, save_weights
from agents.rl.rows import encode
from engine.common.program import start

FIRST_SEED = 20_000_000
EPOCHS = 2
EXPLORED = 0.3  # share of choices in which `human` draws an action from its probabilities, for variety
LEAST = -30.0  # log probability


class Human:
    """`human`, which keeps the choices that it is asked about, with its probabilities."""

    def __init__(self, seed: int) -> None:
        self.kept: list[Part] = []
        self._human = bert.make_named("human", human.BUNDLED, None, seed, family="bert")
        self._random = np.random.default_rng(seed)

    def judge(self, views: np.ndarray) -> np.ndarray:
        """Keep the choices in `views`; returns the log probabilities of all actions, float32[n, N_ACTIONS]."""
        opinions = self._human.action_values(views) / np.float32(self._human.value_temperature)
        rows = encode(FEATURES, views)[1]
        of = np.repeat(rows.view, np.diff(rows.first))
        same = actions_of(views[of], labels_of(views[of], rows.numbers))  # the actions that `human` has values for
        self.kept.append(part_of(rows, np.maximum(opinions[of, same], LEAST).astype(np.float32)))
        return opinions

    def act(self, views: np.ndarray) -> np.ndarray:
        """Choose as `human` does, sometimes with noise, and keep the choices."""
        opinions = self.judge(views)
        explored = self._random.random(len(views)) < EXPLORED
        actions: np.ndarray = (opinions + self._random.gumbel(size=opinions.shape) * explored[:, None]).argmax(axis=1)
        return actions


def of_people(records: Records) -> Iterator[Part]:
    """The choices of people in each game, with the probabilities of `human`."""
    teacher = Human(0)
    for views, *_ in records.views(print):
        teacher.judge(views)
        yield teacher.kept.pop()


def distil(folder: Path, walls: int, records: list[Path]) -> None:
    """Collect choices, learn and write the network."""
    people = collect_people(folder, records, of_people)
    data = Data([*people, *collect_walls(folder, walls, Human, FIRST_SEED)])
    torch.manual_seed(0)
    policy = Policy(load_weights(BUNDLED, FEATURES))

    @torch.no_grad()
    def describe() -> str:
        divergence, same = map(float, data.divergence(policy, data.held_out))
        return f"divergence {divergence:.4f}, agreement {same:.4f}"

    learn(policy, data, EPOCHS, lambda batch: data.divergence(policy, batch)[0], describe)
    save_weights(folder / WEIGHTS, policy.numpy())


def main(arguments: list[str] | None = None) -> int:
    """Read the arguments, distil and return the exit code."""
    return run("distil_human", distil, arguments, least_walls=WALLS_AT_ONCE + 1, least_records=1)


if __name__ == "__main__":
    sys.exit(start("__main__:main", launcher="python "))
