"""Distil the bot `ensemble` into a network of `residual` (policy distillation, Rusu et al. 2015), with games of people.

    python experiments/distil_ensemble.py FOLDER WALLS [RECORDS...]

`ensemble` plays WALLS walls, in three rotations, at two seats beside one `rule`: 600 choices a wall. RECORDS are games
of people, as files, archives or folders. A network that begins as the first expert of `ensemble`, widened, learns two
things:

- in the choices of `ensemble`, its probabilities;
- in those of people, that their choice is likely by the network's logits less those of the first expert: since
  `ensemble` is the product of its probabilities and of those of a network that plays as people do, the rest is that
  network.

The last file of choices of each kind is not learned from, but measured with; so it takes more than WALLS_AT_ONCE walls
and GAMES_AT_ONCE games. FOLDER keeps the choices, from which the same command goes on, and `network.npz`, which
`residual:FOLDER` plays. A million choices take 3 GB of disk and of memory. docs/experiments.md has results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch

from agents.ensemble import bot as ensemble
from agents.ensemble.bot import EXPERT
from agents.linear.data import Records
from agents.registry import make
from agents.residual.features import FEATURES
from agents.rl.bot import LOGIT_VALUE, WEIGHTS
from agents.rl.networks import Policy
from agents.rl.policy import load_weights, logits_of, save_weights, widen
from agents.rl.rows import Rows, encode
from engine.actions import TSUMOGIRI
from engine.common.files import write_atomically
from engine.tables import Tables
from engine.tiles import KIND_OF

WIDTH, HIDDEN = 320, 128
WALLS_AT_ONCE = 100
GAMES_AT_ONCE = 32
ROTATIONS = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], dtype=np.int8)  # 0: ensemble, 1: rule
EPOCHS, BATCH, RATE, WARM_UP = 3, 2048, 0.003, 50
PEOPLE = 0.3  # weight of the loss of people's choices
EXPLORED = 0.15  # share of choices in which `ensemble` draws an action from its probabilities, for variety
NONE = -50.0  # log probability of no action: minus infinity times a probability of 0 would be NaN

Part = tuple[np.ndarray, ...]  # the arrays of NAMES
NAMES = (
    "states",
    "actions",
    "prior_logits",
    "counts",
    "logits",
    "chosen",
)  # logits: of `ensemble`, or of its first expert


def part_of(rows: Rows, logits: np.ndarray, chosen: np.ndarray) -> Part:
    """The arrays to keep of some choices; `chosen` int64[n] are the indices of people's actions, 0 without people."""
    counts = np.diff(rows.first)
    return (
        rows.states.astype(np.float16),
        rows.actions.astype(np.float16),
        rows.prior_logits.copy(),
        counts,
        logits,
        chosen,
    )


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
        logits = (values[of, rows.numbers] / LOGIT_VALUE).astype(np.float32)
        self.kept.append(part_of(rows, logits, np.zeros(len(rows.view), dtype=np.int64)))
        noise = self._random.gumbel(size=values.shape) * (self._random.random(len(views)) < EXPLORED)[:, None]
        return (values + LOGIT_VALUE * noise).argmax(axis=1)


def played(first: int, walls: int) -> list[Part]:
    """The choices of `ensemble` on `walls` walls from the wall `first` on."""
    recorder, tables = Recorder(first), Tables(np.repeat(np.arange(first, first + walls) + 10_000_000, 3))
    for _ in tables.play([recorder.act, make("rule").act], np.tile(ROTATIONS, (walls, 1))):
        pass
    return recorder.kept


def kinds_of(views: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """The kinds that actions discard, int64[n]; other actions are 100 and their number."""
    tiles = np.where(actions == TSUMOGIRI, views["drawn"], actions)
    return np.where(actions <= TSUMOGIRI, KIND_OF[np.clip(tiles, 0, len(KIND_OF) - 1)], 100 + actions)


def of_people(records: Records) -> Iterator[list[Part]]:
    """The choices of people, some games at a time, in which theirs is among the candidates of `residual`."""
    expert = load_weights(EXPERT, FEATURES)
    kept: list[Part] = []
    for views, actions, *_ in records.views(print):
        rows = encode(FEATURES, views)[1]
        counts = np.diff(rows.first)
        of = np.repeat(np.arange(len(counts)), counts)
        same = kinds_of(views[rows.view][of], rows.numbers) == kinds_of(views, actions)[rows.view][of]
        kept.append(part_of(rows, logits_of(expert, rows), first_of(same, rows.first)))
        if len(kept) == GAMES_AT_ONCE:
            yield kept
            kept = []
    if kept:
        yield kept


def first_of(same: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The index of the first true one of `same` bool[m] within each choice, or -1."""
    found = np.full(len(first) - 1, -1)
    at = np.flatnonzero(same)[::-1]
    choice = np.searchsorted(first, at, side="right") - 1
    found[choice] = at - first[choice]
    return found


def keep(path: Path, parts: list[Part]) -> None:
    """Write choices, those of people only where theirs is known."""
    columns = dict(zip(NAMES, map(np.concatenate, zip(*parts, strict=True)), strict=True))
    known = columns["chosen"] >= 0
    of_action = np.repeat(known, columns["counts"])
    with write_atomically(path) as file:
        np.savez(file, **{k: v[of_action if len(v) == len(of_action) else known] for k, v in columns.items()})


class Data:
    """Choices and what to learn in them."""

    def __init__(self, files: list[Path]) -> None:
        """`files` of `keep`, at least two; the last one is held out."""
        columns = [[np.load(path)[name] for path in files] for name in NAMES]
        n_held_out = len(np.load(files[-1])["counts"])
        arrays = (torch.from_numpy(np.concatenate(column)) for column in columns)
        self.states, self.actions, self.prior_logits, self.counts, self.logits, self.chosen = arrays
        self.first = self.counts.cumsum(0) - self.counts
        choices = torch.arange(len(self.counts))
        self.train, self.held_out = choices.split([len(choices) - n_held_out, n_held_out])

    def logits_in(self, policy: Policy, choices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Those of the network and those that are kept, float32[n, most actions]; minus infinity for none."""
        counts = self.counts[choices]
        choice = torch.repeat_interleave(counts)
        position = torch.arange(len(choice)) - (counts.cumsum(0) - counts)[choice]
        at = self.first[choices][choice] + position
        with torch.autocast("cpu", torch.bfloat16):
            added = policy(self.states[choices].float(), self.actions[at].float(), choice)
        none = torch.full((len(choices), int(counts.max())), -torch.inf)
        network = self.prior_logits[at] + added.float()
        return none.index_put((choice, position), network), none.index_put((choice, position), self.logits[at])

    def divergence(self, policy: Policy, choices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean divergence of the network from `ensemble`, and the share of choices with the same first action."""
        both = self.logits_in(policy, choices)
        network, ensemble = (torch.log_softmax(each, 1).clamp_min(NONE) for each in both)
        divergence = (ensemble.exp() * (ensemble - network)).sum(1).mean()
        return divergence, (network.argmax(1) == ensemble.argmax(1)).float().mean()

    def surprise(self, policy: Policy, choices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean cross-entropy of people's choices, and the agreement, by the network's logits less the expert's."""
        network, expert = self.logits_in(policy, choices)
        people = torch.where(expert.isfinite(), network - expert, expert)
        loss = torch.nn.functional.cross_entropy(people, self.chosen[choices])
        return loss, (people.argmax(1) == self.chosen[choices]).float().mean()


@torch.no_grad()
def describe(policy: Policy, games: Data, people: Data | None) -> str:
    """How close the network is."""
    said = [("ensemble: divergence {:.4f}, agreement {:.4f}", games.divergence(policy, games.held_out))]
    if people is not None:
        said.append(("people: loss {:.4f}, agreement {:.4f}", people.surprise(policy, people.held_out)))
    return "; ".join(text.format(*map(float, values)) for text, values in said)


def batches(choices: torch.Tensor, n: int) -> Iterator[torch.Tensor]:
    """`n` random parts of `choices` again and again."""
    while True:
        yield from choices[torch.randperm(len(choices))].chunk(n)


def learn(games: Data, people: Data | None) -> Policy:
    """Return the network, after some epochs with a linearly decaying rate."""
    policy = Policy(widen(load_weights(EXPERT, FEATURES), FEATURES, WIDTH, HIDDEN, seed=5))
    n = len(games.counts)
    policy.whiten(games.states[:: max(n // 60_000, 1)].float(), games.actions[:: max(n // 20_000, 1)].float())
    optimizer = torch.optim.Adam(policy.parameters(), eps=1e-5)
    print("at the start:", describe(policy, games, people), flush=True)
    an_epoch = -(-len(games.train) // BATCH)
    of_games = batches(games.train, an_epoch)
    of_people = None if people is None else batches(people.train, an_epoch)
    for step in range(EPOCHS * an_epoch):
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / WARM_UP) * (1 - step / (EPOCHS * an_epoch))
        loss = games.divergence(policy, next(of_games))[0]
        if people is not None and of_people is not None:
            loss = loss + PEOPLE * people.surprise(policy, next(of_people))[0]
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        if (step + 1) % an_epoch == 0:
            print(f"epoch {(step + 1) // an_epoch}:", describe(policy, games, people), flush=True)
    return policy


def main(folder: Path, walls: int, records: list[Path]) -> None:
    """Collect choices, learn and write the network."""
    folder.mkdir(parents=True, exist_ok=True)
    people = collect_people(folder, records, of_people)
    games = collect_walls(folder, walls, played)
    torch.manual_seed(0)
    save_weights(folder / WEIGHTS, learn(Data(games), Data(people) if people else None).numpy())


def collect_walls(folder: Path, walls: int, played: Callable[[int, int], list[Part]]) -> list[Path]:
    """The files of choices on walls in `folder`; those that are not there are `played` (first wall, how many)."""
    files = []
    for first in range(0, walls, WALLS_AT_ONCE):
        n = min(WALLS_AT_ONCE, walls - first)
        files.append(folder / f"walls-{first:06}-{n}.npz")
        if not files[-1].exists():
            keep(files[-1], played(first, n))
            print(f"{first + n:,} walls", flush=True)
    return files


def collect_people(folder: Path, records: list[Path], choices: Callable[[Records], Iterator[list[Part]]]) -> list[Path]:
    """The files of choices of people in `folder`; if they are not there, each list of `choices` becomes one."""
    whose, source, complete = "\n".join(map(str, records)), folder / "people.txt", folder / "people.complete"
    if source.exists() and source.read_text() != whose:
        sys.exit(f"{folder} has choices from other RECORDS, {source} says which; take another folder")
    if not records:
        return []
    if not complete.exists():
        games = Records(records)
        if games.n_games <= GAMES_AT_ONCE:
            sys.exit(f"RECORDS: at most {GAMES_AT_ONCE} games, all of which would be held out; give more, or none")
        source.write_text(whose)
        for number, parts in enumerate(choices(games)):
            keep(folder / f"people-{number:06}.npz", parts)
        complete.touch()
    return sorted(folder.glob("people-*.npz"))


if __name__ == "__main__":
    if len(sys.argv) < 3 or not sys.argv[2].isdecimal() or int(sys.argv[2]) <= WALLS_AT_ONCE:
        sys.exit(f"usage: python {sys.argv[0]} FOLDER WALLS [RECORDS...], WALLS above {WALLS_AT_ONCE}")
    main(Path(sys.argv[1]), int(sys.argv[2]), [Path(each) for each in sys.argv[3:]])
