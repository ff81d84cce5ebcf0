"""Trains networks of `residual` on playouts, without reinforcement learning, for comparison.

    python experiments/playout_targets.py FOLDER rule|linear [MINUTES]        (default: 10)

`rule` plays itself, drawing actions by its values. At half of its choices up to four actions, drawn likewise, are
tried: the round is played out once after each, by the given policy, with the true hidden hands and one shuffle of the
wall for all. Networks with several learning rates learn the differences between these values batch by batch. Before
they learn from a batch, their gain on it is measured: among the actions tried, the value of the one that the network
prefers minus that of the one that `rule` prefers. (In play there are other actions as well, which are seldom tried.)
FOLDER/RATE is then a bot, `residual:FOLDER/RATE`. docs/experiments.md has the results.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
import torch

from agents.playouts.playouts import Playouts
from agents.residual.features import FEATURES, TEMPERATURE
from agents.rl.bot import WEIGHTS
from agents.rl.networks import Policy
from agents.rl.policy import random_weights, save_weights
from agents.rl.ppo import descend
from agents.rl.rollouts import Actor
from agents.rl.settings import HIDDEN, WIDTH, Games
from engine.common.options import usable_cores

TABLES = 512  # of a thread
SHARE = 0.5  # of the choices at which actions are tried
MOST = 4  # actions tried
RATES = (4e-3, 1e-3, 2.5e-4)
BATCH = 4096  # choices
SPREAD = 0.2  # placements: errors are divided by it, so that gradients are about 1


class Batch(NamedTuple):
    """n choices, with m actions tried in all."""

    states: torch.Tensor  # float32[n, n_state]
    choice: torch.Tensor  # int64[m]
    actions: torch.Tensor  # float32[m, n_action]
    prior_logits: torch.Tensor  # float32[m]: logits of `rule`
    values: torch.Tensor  # float32[m]: of the round's end, in placements

    def centred(self, each: torch.Tensor) -> torch.Tensor:
        """`each` float32[m] minus its mean over the actions of the same choice."""
        n = len(self.states)
        sums, counts = (torch.zeros(n).index_add(0, self.choice, x) for x in (each, torch.ones_like(each)))
        return each - (sums / counts)[self.choice]

    def best_of(self, logits: torch.Tensor) -> torch.Tensor:
        """The values of the actions with the highest of `logits` float32[m] at each choice, float32[n]."""
        order = torch.argsort(logits)  # the last that is written is the highest
        best = np.empty(len(self.states), dtype=np.int64)
        best[self.choice[order].numpy()] = order.numpy()
        return self.values[torch.from_numpy(best)]


class Trying(Actor):
    """An actor that tries actions at some of its choices."""

    def __init__(self, policy: str, seed: int) -> None:
        super().__init__(Games("residual", against=0.0), TABLES, seed)
        self._playouts, self._generator = Playouts(policy), np.random.default_rng([seed, 1])
        self._tried: list[tuple[np.ndarray, ...]] = []

    def _choose(self, features: Any, weights: Any, views: np.ndarray) -> Any:
        step, actions = super()._choose(features, weights, views)
        rows, generator = step.rows, self._generator
        counts = np.diff(rows.first)
        choice = np.repeat(np.arange(len(counts)), counts)
        # Drawn from the softmax without replacement: the highest of logit + Gumbel noise (Kool et al. 2019).
        order = np.lexsort((-(rows.prior_logits + generator.gumbel(size=len(rows.prior_logits))), choice))
        rank = np.arange(len(order)) - rows.first[:-1][choice]
        tried = order[(rank < MOST) & (generator.random(len(counts)) < SHARE)[choice]]
        which, of = np.unique(choice[tried], return_inverse=True)
        walls = generator.integers(1 << 63, size=(len(which), 1), dtype=np.uint64)[of]
        at = step.tables[choice[tried]].astype(np.int64), step.seats[choice[tried]].astype(np.int8)
        values = self._playouts.try_actions(self._tables.records, *at, rows.numbers[tried], walls)
        self._tried.append((rows.states[which], of, rows.actions[tried], rows.prior_logits[tried], values[:, 0]))
        return step, actions

    def next_batches(self, weights: Any) -> list[Batch]:
        """Play a round; what was tried, in batches."""
        self._tried.clear()
        self.play(weights, [], Event())
        before = np.cumsum([0, *(len(states) for states, *_ in self._tried)])
        states, choice, actions, prior_logits, values = map(np.concatenate, zip(*self._tried, strict=True))
        choice += np.repeat(before[:-1], [len(of) for _, of, *_ in self._tried])
        numbers = self._generator.permutation(len(states))
        batches = []
        for part in np.array_split(numbers, max(round(len(states) / BATCH), 1)):
            new = np.full(len(states), -1)
            new[part] = np.arange(len(part))
            chosen = np.flatnonzero(new[choice] >= 0)
            arrays = states[part], new[choice[chosen]], actions[chosen], prior_logits[chosen], values[chosen]
            batches.append(Batch(*map(torch.from_numpy, arrays)))
        return batches


def main() -> None:
    """Play, learn, and print the gains."""
    folder, policy = Path(sys.argv[1]), sys.argv[2]
    seconds = 60 * float(sys.argv[3]) if len(sys.argv) > 3 else 600.0
    start = random_weights(FEATURES, WIDTH, HIDDEN, 0)
    networks = [Policy(start) for _ in RATES]
    optimizers = [torch.optim.Adam(each.parameters(), lr=rate) for each, rate in zip(networks, RATES, strict=True)]
    actors = [Trying(policy, seed) for seed in range(usable_cores())]
    began, n_playouts, gains = monotonic(), 0, [list[np.ndarray]() for _ in RATES]
    while (spent := (monotonic() - began) / seconds) < 1:
        with ThreadPoolExecutor(len(actors)) as threads:
            batches = [batch for each in threads.map(lambda actor: actor.next_batches(start), actors) for batch in each]
        for batch in batches:
            n_playouts += len(batch.values)
            for network, optimizer, rate, gained in zip(networks, optimizers, RATES, gains, strict=True):
                optimizer.param_groups[0]["lr"] = rate * (1 - spent)
                logits = batch.prior_logits + network(batch.states, batch.actions, batch.choice)
                gained.append((batch.best_of(logits.detach()) - batch.best_of(batch.prior_logits)).numpy())
                error = batch.centred(TEMPERATURE * logits - batch.values) / SPREAD
                descend(optimizer, network, error.square().mean())
        print(f"\r{100 * spent:.0f} %, {n_playouts:,} playouts", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"{n_playouts:,} playouts by {policy}; gain a choice on the last fifth of them, in placements:")
    for network, rate, gained in zip(networks, RATES, gains, strict=True):
        print(f"learning rate {rate:g}: {np.concatenate(gained[-len(gained) // 5 :]).mean():.5f}")
        (folder / f"{rate:g}").mkdir(parents=True, exist_ok=True)
        save_weights(folder / f"{rate:g}" / WEIGHTS, network.numpy())


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[2] not in ("rule", "linear"):
        sys.exit(f"usage: python {sys.argv[0]} FOLDER rule|linear [MINUTES]")
    main()
