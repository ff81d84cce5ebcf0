"""Distil the bot `ensemble` into a network of `residual` (policy distillation, Rusu et al. 2015).

    python experiments/distil_ensemble.py FOLDER [WALLS]

`ensemble` plays WALLS walls (default 2,000), in three rotations, at two seats beside one `rule`. A network of twice the
width of `residual`, which begins as `residual`, learns its probabilities. Both are kept in FOLDER: `choices.npz`, from
which the same command goes on, and `network.npz`, which `residual:FOLDER` plays. 2,000 walls are 0.9 million choices
and take 5 GB of memory. docs/experiments.md has results.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

from agents.registry import make
from agents.residual.bot import BUNDLED
from agents.residual.features import FEATURES
from agents.rl.bot import LOGIT_VALUE, WEIGHTS
from agents.rl.networks import Policy
from agents.rl.policy import load_weights, save_weights, widen
from agents.rl.rows import encode
from engine.common.files import write_atomically
from engine.tables import Tables

WIDTH, HIDDEN = 448, 192
WALLS_AT_ONCE = 200
ROTATIONS = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], dtype=np.int8)  # 0: ensemble, 1: rule
EPOCHS, BATCH, RATE, WARM_UP = 9, 2048, 0.002, 50
EXPLORED = 0.15  # share of choices in which it draws an action from its probabilities, for variety
HELD_OUT = 20_000  # choices
NONE = -50.0  # log probability of no action: minus infinity times a probability of 0 would be NaN


class Recorder:
    """`ensemble`, which keeps the features of its choices and its logits."""

    def __init__(self, seed: int) -> None:
        self.kept: list[tuple[np.ndarray, ...]] = []
        self._ensemble, self._random = make("ensemble"), np.random.default_rng(seed)

    def act(self, views: np.ndarray) -> np.ndarray:
        """Choose as `ensemble` does, sometimes with noise, and keep the choices."""
        values = self._ensemble.action_values(views)
        rows = encode(FEATURES, views)[1]
        counts = np.diff(rows.first)
        of = np.repeat(rows.view, counts)
        logits = (values[of, rows.numbers] / LOGIT_VALUE).astype(np.float32)
        arrays = rows.states.astype(np.float16), rows.actions.astype(np.float16), rows.prior_logits, counts, logits
        self.kept.append(tuple(each.copy() for each in arrays))
        noise = self._random.gumbel(size=values.shape) * (self._random.random(len(views)) < EXPLORED)[:, None]
        return (values + LOGIT_VALUE * noise).argmax(axis=1)


def record(walls: int) -> dict[str, np.ndarray]:
    """Play and return the choices."""
    parts = []
    for first in range(0, walls, WALLS_AT_ONCE):
        seeds = np.arange(first, min(first + WALLS_AT_ONCE, walls))
        recorder, tables = Recorder(first), Tables(np.repeat(seeds + 10_000_000, 3))
        for _ in tables.play([recorder.act, make("rule").act], np.tile(ROTATIONS, (len(seeds), 1))):
            pass
        parts += recorder.kept
        print(f"{seeds[-1] + 1:,} of {walls:,} walls", flush=True)
    names = ("states", "actions", "prior_logits", "counts", "logits")
    return {name: np.concatenate(each) for name, each in zip(names, zip(*parts, strict=True), strict=True)}


class Data:
    """Choices and what to learn in them."""

    def __init__(self, choices: dict[str, np.ndarray]) -> None:
        self.states, self.actions, self.prior_logits, self.counts, self.logits = map(torch.from_numpy, choices.values())
        self.first = self.counts.cumsum(0) - self.counts

    def log_probabilities(self, policy: Policy, choices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Those of the network and of `ensemble` for the actions of `choices` int64[n]: float32[n, most actions]."""
        counts = self.counts[choices]
        choice = torch.repeat_interleave(counts)
        position = torch.arange(len(choice)) - (counts.cumsum(0) - counts)[choice]
        at = self.first[choices][choice] + position
        with torch.autocast("cpu", torch.bfloat16):
            added = policy(self.states[choices].float(), self.actions[at].float(), choice)
        none = torch.full((len(choices), int(counts.max())), -torch.inf)
        both = self.prior_logits[at] + added.float(), self.logits[at]
        network, ensemble = (
            torch.log_softmax(none.index_put((choice, position), each), 1).clamp_min(NONE) for each in both
        )
        return network, ensemble


@torch.no_grad()
def describe(data: Data, policy: Policy, choices: torch.Tensor) -> str:
    """How close the network is."""
    divergence = agreement = 0.0
    for part in choices.split(BATCH):
        network, ensemble = data.log_probabilities(policy, part)
        divergence += float((ensemble.exp() * (ensemble - network)).sum())
        agreement += float((network.argmax(1) == ensemble.argmax(1)).sum())
    return f"divergence {divergence / len(choices):.4f}, agreement {agreement / len(choices):.4f}"


def learn(data: Data) -> Policy:
    """Return the network, after some epochs with a linearly decaying rate."""
    policy = Policy(widen(load_weights(BUNDLED, FEATURES), FEATURES, WIDTH, HIDDEN, seed=5))
    n = len(data.counts)
    policy.whiten(data.states[:: max(n // 60_000, 1)].float(), data.actions[:: max(n // 20_000, 1)].float())
    optimizer = torch.optim.Adam(policy.parameters(), eps=1e-5)
    train, held_out = torch.arange(n).split([n - HELD_OUT, HELD_OUT])
    print("residual:", describe(data, policy, held_out), flush=True)
    steps = EPOCHS * -(-len(train) // BATCH)
    step = 0
    for epoch in range(EPOCHS):
        for part in train[torch.randperm(len(train))].split(BATCH):
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1, (step + 1) / WARM_UP) * (1 - step / steps)
            network, ensemble = data.log_probabilities(policy, part)
            loss = (ensemble.exp() * (ensemble - network)).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            optimizer.step()
            step += 1
        print(f"epoch {epoch + 1}:", describe(data, policy, held_out), flush=True)
    return policy


def main(folder: Path, walls: int) -> None:
    """Record, learn and write the network."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "choices.npz"
    if not path.exists():
        with write_atomically(path) as file:
            np.savez(file, **record(walls))
    torch.manual_seed(0)
    with np.load(path) as choices:
        policy = learn(Data(dict(choices)))
    save_weights(folder / WEIGHTS, policy.numpy())


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(f"usage: python {sys.argv[0]} FOLDER [WALLS]")
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 2000)
