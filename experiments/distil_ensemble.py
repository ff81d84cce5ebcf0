"""Distil the bot `ensemble` into a network of `residual` (policy distillation, Rusu et al. 2015), with games of people.

    python experiments/distil_ensemble.py FOLDER WALLS [RECORDS...]

`ensemble` plays WALLS walls, in three rotations, at two seats beside one `rule`: 600 choices a wall. RECORDS are games
of people, as files, archives or folders. A network that begins as the first expert of `ensemble`, widened, learns two
things:

- in the choices of `ensemble`, its probabilities;
- in those of people, that their action is likely by the network's logits less those of the first expert: since
  `ensemble` is the product of its probabilities and of those of a network that plays as people do, the rest is that
  network.

The last file of choices of each kind is not learned from, but measured with; so it takes more than WALLS_AT_ONCE walls
and GAMES_AT_ONCE games. FOLDER keeps the choices, from which the same command goes on, and `network.npz`, which
`residual:FOLDER` plays. A million choices take 3.6 GB of disk and of memory, and while they are read, half as
much memory again. docs/experiments.md has results.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from distillation import (
    BATCH,
    GAMES_AT_ONCE,
    WALLS_AT_ONCE,
    Data,
    Part,
    batches,
    collect_people,
    collect_walls,
    learn,
    part_of,
    run,
)

from agents.ensemble import bot as ensemble
from agents.ensemble.bot import EXPERT
from agents.linear.data import Records
from agents.residual.features import FEATURES
from agents.rl.bot import LOGIT_VALUE, WEIGHTS
from agents.rl.networks import Policy
from agents.rl.policy import load_weights, logits_of, save_weights, widen
from agents.rl.rows import encode
from engine.actions import TSUMOGIRI
from engine.common.program import start
from engine.tiles import KIND_OF

FIRST_SEED = 10_000_000
WIDTH, HIDDEN = 320, 128
EPOCHS = 3
PEOPLE = 0.3  # weight of the loss of people's choices
EXPLORED = 0.15  # share of choices in which `ensemble` draws an action from its probabilities, for variety


class Recorder:
    """`ensemble`, which keeps its choices."""

    def __init__(self, seed: int) -> None:
        self.kept: list[Part] = []
        self._ensemble, self._random = ensemble.make(None, 0), np.random.default_rng(seed)

    def act(self, views: np.ndarray) -> np.ndarray:
        """Choose as `ensemble` does, sometimes with noise, and keep the choices."""
        values = self._ensemble.action_values(views)
        rows = encode(FEATURES, views)[1]
        of = np.repeat(rows.view, np.diff(rows.first))
        self.kept.append(part_of(rows, (values[of, rows.numbers] / LOGIT_VALUE).astype(np.float32)))
        noise = self._random.gumbel(size=values.shape) * (self._random.random(len(views)) < EXPLORED)[:, None]
        return (values + LOGIT_VALUE * noise).argmax(axis=1)


def kinds_of(views: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """The kinds that actions discard, int64[n]; other actions are 100 and their number."""
    tiles = np.where(actions == TSUMOGIRI, views["drawn"], actions)
    return np.where(actions <= TSUMOGIRI, KIND_OF[np.clip(tiles, 0, len(KIND_OF) - 1)], 100 + actions)


def of_people(records: Records) -> Iterator[Part]:
    """The choices of people in each game, -1 where theirs is not among the candidates of `residual`."""
    expert = load_weights(EXPERT, FEATURES)
    for views, actions, *_ in records.views(print):
        rows = encode(FEATURES, views)[1]
        counts = np.diff(rows.first)
        of = np.repeat(np.arange(len(counts)), counts)
        same = kinds_of(views[rows.view][of], rows.numbers) == kinds_of(views, actions)[rows.view][of]
        yield part_of(rows, logits_of(expert, rows), first_of(same, rows.first))


def first_of(same: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The index of the first true one of `same` bool[m] within each choice, or -1."""
    found = np.full(len(first) - 1, -1)
    at = np.flatnonzero(same)[::-1]
    choice = np.searchsorted(first, at, side="right") - 1
    found[choice] = at - first[choice]
    return found


def surprise(people: Data, policy: Policy, choices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean cross-entropy of people's choices, and the agreement, by the network's logits less the expert's."""
    network, expert = people.logits_in(policy, choices)
    difference = torch.where(expert.isfinite(), network - expert, expert)
    loss = torch.nn.functional.cross_entropy(difference, people.chosen[choices])
    return loss, (difference.argmax(1) == people.chosen[choices]).float().mean()


@torch.no_grad()
def describe(policy: Policy, games: Data, people: Data | None) -> str:
    """How close the network is."""
    said = [("ensemble: divergence {:.4f}, agreement {:.4f}", games.divergence(policy, games.held_out))]
    if people is not None:
        said.append(("people: loss {:.4f}, agreement {:.4f}", surprise(people, policy, people.held_out)))
    return "; ".join(text.format(*map(float, values)) for text, values in said)


def distil(folder: Path, walls: int, records: list[Path]) -> None:
    """Collect choices, learn and write the network."""
    files = collect_people(folder, records, of_people)
    if records and len(files) < 2:
        raise ValueError(f"RECORDS: at most {GAMES_AT_ONCE} games, which would all be held out; give more, or none")
    games = Data(collect_walls(folder, walls, Recorder, FIRST_SEED))
    people = Data(files) if files else None
    torch.manual_seed(0)
    policy = Policy(widen(load_weights(EXPERT, FEATURES), FEATURES, WIDTH, HIDDEN, seed=5))
    batches_of_people = None if people is None else batches(people.train, -(-len(games.train) // BATCH))

    def loss(batch: torch.Tensor) -> torch.Tensor:
        found = games.divergence(policy, batch)[0]
        if people is not None and batches_of_people is not None:
            found = found + PEOPLE * surprise(people, policy, next(batches_of_people))[0]
        return found

    learn(policy, games, EPOCHS, loss, lambda: describe(policy, games, people))
    save_weights(folder / WEIGHTS, policy.numpy())


def main(arguments: list[str] | None = None) -> int:
    """Read the arguments, distil and return the exit code."""
    return run("distil_ensemble", distil, arguments, least_walls=WALLS_AT_ONCE + 1)


if __name__ == "__main__":
    sys.exit(start("__main__:main", launcher="python "))
