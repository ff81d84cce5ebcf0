"""Where the gradient of a critic of actions points: the gate that such a critic must pass to teach a policy.

    python experiments/action_critic.py [LEARNED [JUDGED]]    # 60 and 60 rounds at all tables

`residual` plays as in its last training (docs/experiments.md), against `rule` and itself, at TABLES tables, with the
bundled critic of positions. For LEARNED rounds the advantages (lambda 0.6) of the chosen actions are kept, and a critic
of actions learns them: from what the player sees, the features of the action, and the whole table just after it, hidden
hands and wall included. In JUDGED more rounds it values all actions of each choice, which gives a gradient of the
policy, sum of pi (Q - V). It is compared with the gradients of the chosen actions' advantages: on average over rounds
they have no bias from the critic of actions, which has learned from other rounds.

A round is a block. Products of different blocks estimate the squared length of a mean gradient and the angle between
two without their noise; intervals (95 %) are by the jackknife over blocks. Gradients are scaled as Adam scales them,
and the component along the gradient of the entropy is taken out, as in gae_lambda.py. The gradient of the rounds that
the critic of actions learned from is judged, too: it has seen the same games.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from threading import Event
from typing import Any, NamedTuple

import numpy as np
import torch
from search_critic import N_AFTER, after_actions
from torch import nn

from agents.residual.bot import BUNDLED
from agents.residual.features import FEATURES
from agents.rl.critic import load_critic
from agents.rl.policy import load_weights
from agents.rl.ppo import Choices, Learner, descend
from agents.rl.rollouts import Actor
from agents.rl.settings import Games, Hyperparameters
from agents.search.bot import BUNDLED_CRITIC
from agents.training.memory import keep_freed_memory
from engine.common.progress import Progress

TABLES = 1024
GAMES = Games("residual", ("rule", "residual"), 0.6)
DECAYS = (0.6, 0.8)  # lambda of the advantages; the first is learned
N_SEEN = FEATURES.n_state + FEATURES.n_action
WIDTH, HIDDEN = 256, 128
EPOCHS, RATE, BATCH = 2, 1e-3, 4096
WARM_UP = 12  # rounds until the tables are in all rounds of a game
NAMES = (*(f"lambda {decay}" for decay in DECAYS), "critic of actions", "entropy")


class Kept(NamedTuple):
    """What the critic of actions learns from: n choices."""

    seen: torch.Tensor  # float16[n, N_SEEN]
    after: torch.Tensor  # float16[n, N_AFTER]
    advantage: torch.Tensor  # float32[n]


class ActionCritic(nn.Module):
    """The advantage of an action, from what the player sees and from the table after it."""

    def __init__(self, kept: Kept) -> None:
        """Some choices, which scale the inputs."""
        super().__init__()
        self.scales = [1 / (each[:100_000].float().std(0) + 0.05) for each in (kept.seen, kept.after)]
        last = nn.Linear(HIDDEN, 1)
        nn.init.zeros_(last.weight)
        self.layers = nn.Sequential(
            nn.Linear(N_SEEN + N_AFTER, WIDTH), nn.ReLU(), nn.Linear(WIDTH, HIDDEN), nn.ReLU(), last
        )

    def forward(self, seen: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
        """float32[n] for `seen` [n, N_SEEN] and `after` [n, N_AFTER]."""
        out: torch.Tensor = self.layers(torch.cat([seen * self.scales[0], after * self.scales[1]], dim=1))
        return out[:, 0]


class RecordingActor(Actor):
    """An actor that keeps the table after the chosen actions, or after all, float16[:, N_AFTER]."""

    every = False  # all actions
    after: list[np.ndarray]

    def _choose(self, *arguments: Any) -> Any:
        step, actions = super()._choose(*arguments)
        first = step.rows.first
        of = np.repeat(np.arange(len(step.seats)), np.diff(first)) if self.every else np.arange(len(step.seats))
        numbers = step.rows.numbers if self.every else step.rows.numbers[first[:-1] + step.chosen]
        if len(of):
            tables = step.tables[of]
            after = after_actions(self._tables.records[tables], self._players[tables], step.seats[of], numbers)
            self.after.append(after.astype(np.float16))
        return step, actions


def bundled_learner(hyperparameters: Hyperparameters) -> Learner:
    """`residual` with the bundled critic."""
    learner = Learner(load_weights(BUNDLED, FEATURES), hyperparameters)
    weights = load_critic(BUNDLED_CRITIC, FEATURES.n_state)
    for network, module in (("critic", learner.critic), ("situation", learner.situation)):
        layers = [each for each in module.layers if isinstance(each, nn.Linear)]
        for i, layer in enumerate(layers):
            layer.weight.data = torch.from_numpy(weights[f"{network}.{i}.weight"].T.copy())
            layer.bias.data = torch.from_numpy(weights[f"{network}.{i}.bias"])
    return learner


def loss(critic: ActionCritic, kept: Kept, rows: torch.Tensor) -> torch.Tensor:
    """The mean square error of the critic of actions in the choices `rows` int64[:]."""
    with torch.autocast("cpu", torch.bfloat16):
        values = critic(kept.seen[rows].float(), kept.after[rows].float())
    return (values.float() - kept.advantage[rows]).square().mean()


def learn(kept: Kept) -> ActionCritic:
    """A critic of actions that has learned the advantages; the rate falls to 0."""
    critic = ActionCritic(kept)
    optimizer = torch.optim.Adam(critic.parameters(), lr=RATE)
    n = len(kept.advantage)
    batches = [rows for _ in range(EPOCHS) for rows in torch.split(torch.randperm(n), BATCH)]
    with Progress("batches", len(batches)) as progress:
        for i, rows in enumerate(batches):
            optimizer.param_groups[0]["lr"] = RATE * (1 - i / len(batches))
            descend(optimizer, critic, loss(critic, kept, rows))
            progress.advance()
    return critic


class Gradients:
    """Gradients of the policy, and Adam's scale of them."""

    def __init__(self, learner: Learner) -> None:
        self._learner, self._parameters = learner, list(learner.policy.parameters())
        self._squares = torch.zeros(sum(each.numel() for each in self._parameters))
        self._batches = 0

    def scaled(self, gradients: torch.Tensor) -> torch.Tensor:
        """`gradients` float32[..., weights] as Adam scales them."""
        return gradients / ((self._squares / self._batches).sqrt() + 1e-5)

    def of(self, parts: Sequence[Choices], values: torch.Tensor | None) -> torch.Tensor:
        """The gradients of the objectives, float32[NAMES, weights], means over the choices of a round.

        `parts`: the choices with their advantages by each of DECAYS. `values` float32[actions]: of the critic of
        actions; without any its gradient is 0, and Adam's second moments are gathered.
        """
        n = len(parts[0].chosen)
        total = torch.zeros(len(NAMES), len(self._squares))
        for rows in torch.split(torch.randperm(n), BATCH):
            for k, objective in self._objectives(parts, values, rows):
                found = torch.autograd.grad(objective, self._parameters, retain_graph=True)
                gradient = torch.cat([each.reshape(-1) for each in found])
                total[k] += gradient
                if values is None and k == 0:
                    self._squares += (gradient / len(rows)).square()
                    self._batches += 1
        return total / n

    def _objectives(self, parts: Sequence[Choices], values: torch.Tensor | None, rows: torch.Tensor) -> Any:
        """Index into NAMES and objective, summed over the choices `rows` int64[:]."""
        choices = parts[0]
        with torch.autocast("cpu", torch.bfloat16):
            log_policy, *_ = self._learner.log_policies(choices, rows, choices.states[rows])
        chosen = log_policy.gather(1, choices.chosen[rows, None])[:, 0]
        yield 0, (chosen * parts[0].advantage[rows]).sum()
        policy = log_policy.exp()
        if values is not None:
            yield 1, (chosen * parts[1].advantage[rows]).sum()
            yield 2, expected(policy, choices, values, rows).sum()
        yield 3, -(policy * log_policy).sum()


def expected(policy: torch.Tensor, part: Choices, values: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """The mean of `values` float32[actions] over `policy` [n, most actions], in the choices `rows` int64[n]."""
    columns = torch.arange(policy.shape[1])
    at = (part.first[rows][:, None] + columns).clamp(max=len(values) - 1)
    return (policy * torch.where(columns < part.counts[rows][:, None], values[at], 0.0)).sum(1)


def valued(critic: ActionCritic, part: Choices, after: torch.Tensor) -> torch.Tensor:
    """The advantages that the critic of actions expects, float32[actions]."""
    of = torch.repeat_interleave(part.counts)
    found = []
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for rows in torch.split(torch.arange(len(of)), 4 * BATCH):
            seen = torch.cat([part.states[of[rows]], part.actions[rows]], dim=1)
            found.append(critic(seen, after[rows].float()).float())
    return torch.cat(found)


def without_entropy(blocks: np.ndarray) -> np.ndarray:
    """`blocks` float64[blocks, NAMES, weights] less their components along the mean gradient of the entropy."""
    along = blocks[:, -1].mean(axis=0)
    along /= np.linalg.norm(along)
    found: np.ndarray = blocks[:, :-1] - (blocks[:, :-1] @ along)[..., None] * along
    return found


class Angles(NamedTuple):
    """What products of different blocks say, each with one entry for each estimator."""

    halves: np.ndarray  # cosine of two halves of the blocks
    cosines: np.ndarray  # with each of DECAYS, noise removed, [estimators, DECAYS]


def angles(blocks: np.ndarray, learned: np.ndarray) -> Angles:
    """Of the judged `blocks` float64[n, estimators, weights], and of the mean of the `learned` ones, [m, weights].

    The last entry is that mean's, whose noise is part of it.
    """
    n = len(blocks)
    products = np.einsum("iaw,jbw->abij", blocks, blocks, optimize=True)
    off = ~np.eye(n, dtype=bool)
    means = products[:, :, off].mean(axis=2)
    squares = np.where(np.diag(means) > 0, np.diag(means), np.nan)  # without a signal there is no angle
    noise = np.einsum("aaii->ai", products).mean(axis=1) - squares
    memory = learned.mean(axis=0)
    memory_cosines = [
        float((blocks[:, k] @ memory).mean() / np.sqrt(squares[k]) / np.linalg.norm(memory)) for k in range(len(DECAYS))
    ]
    cosines = means[:, : len(DECAYS)] / np.sqrt(np.outer(squares, squares[: len(DECAYS)]))
    return Angles(squares / (squares + noise / (n / 2)), np.concatenate([cosines, [memory_cosines]]))


def report(blocks: np.ndarray, learned: np.ndarray) -> None:
    """Print the table."""
    whole = angles(blocks, learned)
    n = len(blocks)
    left_out = [angles(np.delete(blocks, i, axis=0), learned) for i in range(n)]
    widths = [1.96 * np.sqrt((n - 1) * np.var([each[k] for each in left_out], axis=0)) for k in range(2)]
    print(f"{'gradient':<44}{'cosine of halves':>18}" + "".join(f"{f'with lambda {decay}':>18}" for decay in DECAYS))
    for k, name in enumerate((*NAMES[:-1], "of the rounds that the critic learned from")):
        figures = [(whole.halves[k], widths[0][k])] if k < len(whole.halves) else [(np.nan, np.nan)]
        figures += zip(whole.cosines[k], widths[1][k])
        texts = (f"{value:.2f} ± {width:.2f}" if np.isfinite(width) else "–" for value, width in figures)
        print(f"{name:<44}" + "".join(f"{text:>18}" for text in texts))


def main() -> None:
    """Measure and print."""
    if len(sys.argv) > 3 or not all(each.isdecimal() for each in sys.argv[1:]):
        sys.exit(f"usage: python {sys.argv[0]} [LEARNED [JUDGED]]")
    learned, judged = (int(text) for text in (sys.argv[1:] + ["60", "60"][len(sys.argv) - 1 :]))
    torch.manual_seed(0)
    keep_freed_memory()
    learner, actor = bundled_learner(Hyperparameters()), RecordingActor(GAMES, TABLES, 0)
    weights, gradients = learner.policy.numpy(), Gradients(learner)
    kept: list[Kept] = []
    memory: list[torch.Tensor] = []
    blocks: list[torch.Tensor] = []
    critic: ActionCritic | None = None
    n = 0
    with Progress("rounds", WARM_UP + learned + judged) as progress:
        for number in range(WARM_UP + learned + judged):
            actor.after, actor.every = [], critic is not None
            experience = actor.play(weights, [], Event())
            after = torch.from_numpy(np.concatenate(actor.after))
            parts = []
            for decay in DECAYS:
                learner.hyperparameters = replace(learner.hyperparameters, gae_lambda=decay)
                parts.append(learner.evaluate(experience))
            part = parts[0]
            if number == WARM_UP - 1:
                learner.whiten([experience])
            elif critic is not None:
                blocks.append(gradients.of(parts, valued(critic, part, after)))
                n += len(part.chosen)
            elif number >= WARM_UP:
                seen = torch.cat([part.states, part.actions[part.first + part.chosen]], dim=1).half()
                kept.append(Kept(seen, after, part.advantage))
                memory.append(gradients.of(parts, None))
            if number + 1 == WARM_UP + learned:
                critic = learn(Kept(*map(torch.cat, zip(*kept))))
                print(f"learned from {sum(len(each.advantage) for each in kept):,} choices")
                kept.clear()
            progress.advance()
    print(f"judged by {n:,} choices in {judged} rounds")
    both = gradients.scaled(torch.stack(memory + blocks)).double().numpy()
    rest = without_entropy(both)
    report(rest[len(memory) :], rest[: len(memory), 0])


if __name__ == "__main__":
    main()
