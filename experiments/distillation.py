"""What both distillations into a network of `residual` share: choices that are kept in a folder, and learning.

A file of the folder holds the choices of a teacher on some walls, or in some games of people. The last file of walls
is not learned from, but measured with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

from agents.linear.data import Records
from agents.registry import make
from agents.rl.networks import Policy, list_actions
from agents.rl.ppo import MIN_LOG_PROBABILITY, descend
from agents.rl.rows import Rows
from engine.common.files import write_atomically
from engine.common.options import Parser, positive
from engine.common.program import OK
from engine.tables import Tables

WALLS_AT_ONCE = 100
GAMES_AT_ONCE = 32
ROTATIONS = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], dtype=np.int8)  # 0: the teacher, 1: rule
BATCH, RATE, WARM_UP = 2048, 0.003, 50

Part = tuple[np.ndarray, ...]  # the arrays of NAMES
NAMES = ("states", "actions", "prior_logits", "counts", "logits", "chosen")  # logits: of the teacher
COUNTS = NAMES.index("counts")


class Teacher(Protocol):
    """A bot that keeps its choices."""

    kept: list[Part]

    def act(self, views: np.ndarray) -> np.ndarray:
        """The actions for `views`, int64[n]."""
        ...


def part_of(rows: Rows, logits: np.ndarray, chosen: np.ndarray | None = None) -> Part:
    """The arrays to keep of some choices; `chosen` int64[n] are the indices of people's actions."""
    return (
        rows.states.astype(np.float16),
        rows.actions.astype(np.float16),
        rows.prior_logits.copy(),
        np.diff(rows.first),
        logits,
        np.zeros(len(rows.view), dtype=np.int64) if chosen is None else chosen,
    )


def keep(path: Path, parts: list[Part]) -> None:
    """Write choices, those of people only where theirs is known."""
    columns = dict(zip(NAMES, map(np.concatenate, zip(*parts, strict=True)), strict=True))
    known = columns["chosen"] >= 0
    of_action = np.repeat(known, columns["counts"])
    with write_atomically(path) as file:
        np.savez(file, **{k: v[of_action if len(v) == len(of_action) else known] for k, v in columns.items()})


def collect_walls(folder: Path, walls: int, teacher: Callable[[int], Teacher], first_seed: int) -> list[Path]:
    """The files of choices on walls in `folder`; those that are not there are played.

    A new `teacher`, made with the number of the first wall, plays two seats beside one `rule`, in three rotations.
    `first_seed`: that of the first wall.
    """
    files = []
    for first in range(0, walls, WALLS_AT_ONCE):
        n = min(WALLS_AT_ONCE, walls - first)
        files.append(folder / f"walls-{first:06}-{n}.npz")
        if not files[-1].exists():
            playing, tables = teacher(first), Tables(np.repeat(np.arange(first, first + n) + first_seed, 3))
            for _ in tables.play([playing.act, make("rule").act], np.tile(ROTATIONS, (n, 1))):
                pass
            keep(files[-1], playing.kept)
            print(f"{first + n:,} walls", flush=True)
    return files


def collect_people(folder: Path, records: list[Path], choices: Callable[[Records], Iterator[Part]]) -> list[Path]:
    """The files of choices of people in `folder`; if they are not there, `choices` yields those of each game.

    Games without choices, such as those of four players, have none. Raises ValueError for a folder with choices from
    others than `records`.
    """
    whose, source, complete = "\n".join(map(str, records)), folder / "people.txt", folder / "people.complete"
    if source.exists() and source.read_text() != whose:
        raise ValueError(f"{folder} has choices from other RECORDS, {source} says which; take another folder")
    if not records:
        return []
    if not complete.exists():
        games = Records(records)
        source.write_text(whose)
        for number, parts in enumerate(some_at_once(part for part in choices(games) if len(part[COUNTS]))):
            keep(folder / f"people-{number:06}.npz", parts)
        complete.touch()
    return sorted(folder.glob("people-*.npz"))


def some_at_once(parts: Iterator[Part]) -> Iterator[list[Part]]:
    """Lists of GAMES_AT_ONCE of `parts`; the last is what is left."""
    some = []
    for part in parts:
        some.append(part)
        if len(some) == GAMES_AT_ONCE:
            yield some
            some = []
    if some:
        yield some


class Data:
    """Choices and what to learn in them."""

    def __init__(self, files: list[Path]) -> None:
        """`files` of `keep`, at least two; the last one is held out."""
        n_held_out = len(np.load(files[-1])["counts"])
        arrays = (torch.from_numpy(np.concatenate([np.load(path)[name] for path in files])) for name in NAMES)
        self.states, self.actions, self.prior_logits, self.counts, self.logits, self.chosen = arrays
        self.first = self.counts.cumsum(0) - self.counts
        choices = torch.arange(len(self.counts))
        self.train, self.held_out = choices[:-n_held_out], choices[-n_held_out:]

    def logits_in(self, policy: Policy, choices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Those of the network and those that are kept, float32[n, most actions]; minus infinity for none."""
        counts = self.counts[choices]
        listed = list_actions(self.first[choices], counts)
        with torch.autocast("cpu", torch.bfloat16):
            added = policy(self.states[choices].float(), self.actions[listed.row].float(), listed.choice)
        network = self.prior_logits[listed.row] + added.float()
        return listed.padded(network, counts), listed.padded(self.logits[listed.row], counts)

    def divergence(self, policy: Policy, choices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean divergence of the network from the teacher, and the share of choices with the same first action."""
        both = self.logits_in(policy, choices)
        network, teacher = (torch.log_softmax(each, 1).clamp_min(MIN_LOG_PROBABILITY) for each in both)
        divergence = (teacher.exp() * (teacher - network)).sum(1).mean()
        return divergence, (network.argmax(1) == teacher.argmax(1)).float().mean()


def batches(choices: torch.Tensor, n: int) -> Iterator[torch.Tensor]:
    """`n` random parts of `choices` again and again."""
    while True:
        yield from choices[torch.randperm(len(choices))].chunk(n)


def learn(
    policy: Policy,
    data: Data,
    epochs: int,
    loss: Callable[[torch.Tensor], torch.Tensor],
    describe: Callable[[], str],
) -> None:
    """Whiten the features by `data` and minimize `loss` of batches of it, with a linearly decaying rate.

    `describe` says after each epoch how close the network is.
    """
    n = len(data.counts)
    policy.whiten(data.states[:: max(n // 60_000, 1)].float(), data.actions[:: max(n // 20_000, 1)].float())
    optimizer = torch.optim.Adam(policy.parameters(), eps=1e-5)
    an_epoch = -(-len(data.train) // BATCH)
    print("at the start:", describe(), flush=True)
    for step, batch in zip(range(epochs * an_epoch), batches(data.train, an_epoch)):
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / WARM_UP) * (1 - step / (epochs * an_epoch))
        descend(optimizer, policy, loss(batch))
        if (step + 1) % an_epoch == 0:
            print(f"epoch {(step + 1) // an_epoch}:", describe(), flush=True)


def claim(folder: Path, name: str) -> None:
    """Make `folder` that of the script `name`. Raises ValueError if it has choices of another."""
    of = folder / "made_by.txt"
    if of.exists() and (other := of.read_text()) != name:
        raise ValueError(f"{folder} has the choices of {other}.py; take another folder")
    folder.mkdir(parents=True, exist_ok=True)
    of.write_text(name)


def run(
    name: str,
    distil: Callable[[Path, int, list[Path]], None],
    arguments: Sequence[str] | None,
    least_walls: int,
    least_records: int = 0,
) -> int:
    """Read FOLDER, WALLS and RECORDS from the command line of the script `name`, distil, and return the exit code."""
    parser = Parser(f"experiments/{name}.py")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of the choices and the network")
    parser.add_argument("walls", type=positive, metavar="WALLS", help=f"at least {least_walls}")
    parser.add_argument("records", type=Path, nargs="*", metavar="RECORDS", help="files, archives or folders")
    options = parser.parse_args(arguments)
    if options.walls < least_walls:
        parser.error(f"WALLS: {options.walls} is less than {least_walls}")
    if len(options.records) < least_records:
        parser.error("RECORDS: give files, archives or folders with games of people")
    with parser.reporting(ValueError, OSError):
        claim(options.folder, name)
        distil(options.folder, options.walls, options.records)
    return OK
