"""Distil `human` into a network of `residual`, from which reinforcement learning can start and stay near people.

    python experiments/distil_human.py FOLDER WALLS RECORDS...

In the choices of people in RECORDS (files, archives or folders), and in those of `human` on WALLS walls, where it plays
two seats beside one `rule`, the network learns the probabilities that `human` has. It begins as the bundled network of
`residual`. Choices and results lie in FOLDER as those of `experiments/distil_ensemble.py` do. docs/experiments.md has
results.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from distil_ensemble import (
    BATCH,
    GAMES_AT_ONCE,
    ROTATIONS,
    WARM_UP,
    Data,
    Part,
    batches,
    collect_people,
    collect_walls,
    part_of,
)

from agents import human
from agents.bert import bot as bert
from agents.bert.labels import actions_of, labels_of
from agents.linear.data import Records
from agents.registry import make
from agents.residual.bot import BUNDLED
from agents.residual.features import FEATURES
from agents.rl.bot import WEIGHTS
from agents.rl.networks import Policy
from agents.rl.policy import load_weights, save_weights
from agents.rl.rows import encode
from engine.tables import Tables

EPOCHS, RATE = 2, 0.003
EXPLORED = 0.3  # share of choices in which `human` draws an action from its probabilities, for variety
LEAST = -30.0  # log probability


class Teacher:
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
        logits = np.maximum(opinions[of, same], LEAST).astype(np.float32)
        self.kept.append(part_of(rows, logits, np.zeros(len(rows.view), dtype=np.int64)))
        return opinions

    def act(self, views: np.ndarray) -> np.ndarray:
        """Choose as `human` does, sometimes with noise, and keep the choices."""
        opinions = self.judge(views)
        explored = self._random.random(len(views)) < EXPLORED
        actions: np.ndarray = (opinions + self._random.gumbel(size=opinions.shape) * explored[:, None]).argmax(axis=1)
        return actions


def of_people(records: Records) -> Iterator[list[Part]]:
    """The choices of people, some games at a time, with the probabilities of `human`."""
    teacher = Teacher(0)
    for views, *_ in records.views(print):
        teacher.judge(views)
        if len(teacher.kept) == GAMES_AT_ONCE:
            yield teacher.kept
            teacher.kept = []
    if teacher.kept:
        yield teacher.kept


def played(first: int, walls: int) -> list[Part]:
    """The choices of `human` on `walls` walls from the wall `first` on."""
    teacher, tables = Teacher(first), Tables(np.repeat(np.arange(first, first + walls) + 20_000_000, 3))
    for _ in tables.play([teacher.act, make("rule").act], np.tile(ROTATIONS, (walls, 1))):
        pass
    return teacher.kept


def learn(data: Data) -> Policy:
    """Return the network, after some epochs with a linearly decaying rate."""
    policy, n = Policy(load_weights(BUNDLED, FEATURES)), len(data.counts)
    policy.whiten(data.states[:: max(n // 60_000, 1)].float(), data.actions[:: max(n // 20_000, 1)].float())
    optimizer = torch.optim.Adam(policy.parameters(), eps=1e-5)
    an_epoch = -(-len(data.train) // BATCH)
    for step, batch in zip(range(EPOCHS * an_epoch), batches(data.train, an_epoch)):
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / WARM_UP) * (1 - step / (EPOCHS * an_epoch))
        loss = data.divergence(policy, batch)[0]
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        if (step + 1) % an_epoch == 0:
            with torch.no_grad():
                divergence, same = map(float, data.divergence(policy, data.held_out))
            print(f"epoch {(step + 1) // an_epoch}: divergence {divergence:.4f}, agreement {same:.4f}", flush=True)
    return policy


def main(folder: Path, walls: int, records: list[Path]) -> None:
    """Collect choices, learn and write the network."""
    folder.mkdir(parents=True, exist_ok=True)
    data = Data([*collect_people(folder, records, of_people), *collect_walls(folder, walls, played)])
    torch.manual_seed(0)
    save_weights(folder / WEIGHTS, learn(data).numpy())


if __name__ == "__main__":
    if len(sys.argv) < 4 or not sys.argv[2].isdecimal() or int(sys.argv[2]) < 1:
        sys.exit(f"usage: python {sys.argv[0]} FOLDER WALLS RECORDS..., at least one of the WALLS")
    main(Path(sys.argv[1]), int(sys.argv[2]), [Path(each) for each in sys.argv[3:]])
