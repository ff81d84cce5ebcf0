"""The commands of ``python -m agents.linear``."""

from __future__ import annotations

import argparse
import hashlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.linear.config import Config
from agents.linear.data import Choices, Records, SelfPlay, Source, collect, concatenate
from agents.linear.features import FEATURES
from agents.linear.files import read_choices, writer
from agents.linear.kernels import count_candidates
from agents.linear.scale import placements_per_point
from agents.linear.training import Epoch, Trainer, split
from agents.linear.weights import BUNDLED, STARTING, Weights, load_weights
from agents.registry import make
from agents.training.loop import run_training
from agents.training.settings import values_of
from engine.actions import ANKAN, DAIMINKAN, N_ACTIONS, NUKIDORA, PON, PON_RED, RIICHI, TSUMOGIRI
from engine.common.files import write_atomically
from engine.common.program import OK
from engine.common.progress import Progress
from engine.common.screen import screen
from engine.common.student import NORMAL
from engine.table import raw_bytes

WEIGHTS, METRICS = "weights.json", "metrics.csv"
ALL, DISCARD = "all", "discard"
DECLARED = {
    "pon": np.array([PON, PON_RED]),
    "kan": np.array([DAIMINKAN, *range(ANKAN, N_ACTIONS)]),
    "riichi": np.array([RIICHI]),
    "nukidora": np.array([NUKIDORA]),
}
KINDS = (ALL, DISCARD, *DECLARED)  # of decisions
WIDE = 110  # columns of the tables if the output is not a terminal


def source_of(options: argparse.Namespace) -> Source:
    """The games that the options name. Raises ValueError, OSError."""
    if (options.records is None) == (options.selfplay is None):
        raise ValueError("name the games: either --records PATH … or --selfplay A,B,C")
    if options.records is not None:
        return Records(options.records)
    return SelfPlay(options.selfplay, options.games, options.seed)


def export(options: argparse.Namespace) -> int:
    """Write choices to a file."""
    source = source_of(options)
    decisions = rows = 0
    with writer(options.out) as write, Progress("games", source.n_games) as progress:
        for choices, n in collect(source, options.teacher, progress.print):
            write(choices)
            decisions, rows = decisions + len(choices.game), rows + len(choices.action)
            progress.advance(n)
        if not decisions:
            raise ValueError("no decisions with several actions in these games")
    print(f"wrote {options.out}: {decisions:,} decisions, {rows:,} actions")
    return OK


def digest(choices: Choices) -> str:
    """Return a hash of all decisions: a training run resumes only with the same ones."""
    found = hashlib.sha256()
    for array in choices:
        found.update(np.ascontiguousarray(array))
    return found.hexdigest()[:16]


def number_games(parts: list[Choices]) -> list[Choices]:
    """Return the same choices, with game numbers that are unique among all of them."""
    firsts = np.cumsum([0, *(part.game.max() + 1 for part in parts)])
    return [part._replace(game=part.game + first) for part, first in zip(parts, firsts)]


def train(options: argparse.Namespace) -> int:
    """Learn weights and write them."""
    initial = load_weights(options.start)
    choices = concatenate(number_games([read_choices(path) for path in options.data]))
    named = "--data " + " ".join(str(path.resolve()) for path in options.data)
    config = Config(named, digest(choices), **values_of(Config, options))
    trainer = Trainer(config, initial.values, split(choices), options.out)
    run_training(trainer, parts=(config.batch_size, "decisions"))
    weights = write_outcome(trainer, options.out)
    console = screen(WIDE)
    print_weights(console, initial, weights)
    best, before = trainer.best_epoch, trainer.epochs[0]
    console.print(
        f"agreement on {len(trainer.parts.held_out.game):,} held-out decisions: {before.agreement:.1%} before, "
        f"{best.agreement:.1%} after (epoch {best.number})",
        highlight=False,
    )
    console.print(f"wrote {options.out / WEIGHTS}", highlight=False)
    return OK


def write_outcome(trainer: Trainer, folder: Path) -> Weights:
    """Write the best weights and the metrics of all epochs. Raises OSError."""
    config = trainer.config
    weights = Weights(
        trainer.best,
        placements_per_point(trainer.best),
        config.temperature,
        f"{config.loss}, {config.data.replace(str(Path.cwd()) + '/', '')}, epoch {trainer.best_epoch.number}",
    )
    weights.write(folder / WEIGHTS)
    with write_atomically(folder / METRICS) as file:
        lines = [",".join(Epoch._fields), *(",".join(map(str, epoch)) for epoch in trainer.epochs)]
        file.write("\n".join([*lines, ""]).encode())
    return weights


def print_weights(console: Console, before: Weights, after: Weights) -> None:
    """The table of features."""
    table = Table("feature", "meaning", box=None)
    for heading in ("before", "after", "change"):
        table.add_column(heading, justify="right")
    for feature, old, new in zip(FEATURES, before.values, after.values, strict=True):
        table.add_row(feature.name, feature.meaning, f"{old:,.0f}", f"{new:,.0f}", f"{new - old:+,.0f}")
    console.print(table)


def show(options: argparse.Namespace) -> int:
    """Print weights next to those they are compared with."""
    before, after = load_weights(STARTING), load_weights(options.weights or str(BUNDLED / "linear.json"))
    console = screen(WIDE)
    print_weights(console, before, after)
    console.print(f"trained: {after.trained}; a point of value is worth {after.placements_per_point:.2g} placements")
    return OK


def agreement(options: argparse.Namespace) -> int:
    """Print how often each bot chooses what was played, in all and by kind of decision."""
    source = source_of(options)
    bots = {spec: make(spec) for spec in options.bots}
    agreed = {spec: Counter[str]() for spec in bots}
    decisions = Counter[str]()
    with Progress("games", source.n_games) as progress:
        for views, actions, _, n in source.views(progress.print):
            kept, played = preferences(views, actions)
            decisions += count_agreed(kept, played, played)  # all of each kind
            for spec, bot in bots.items():
                if len(kept):
                    agreed[spec] += count_agreed(kept, played, preferences(kept, bot.act(kept))[1])
            progress.advance(n)
    if not decisions:
        raise ValueError("no decisions with several actions in these games")
    table = Table("bot", box=None)
    counts = {kind: decisions[kind] for kind in KINDS if decisions[kind]}
    for kind, count in counts.items():
        table.add_column(f"{kind} %\n{count:,}", justify="right")
    for spec, right in agreed.items():
        table.add_row(spec, *(percentage(right[kind], count) for kind, count in counts.items()))
    console = screen(WIDE)
    console.print("Agreement with what was played, where there were several actions and no win, ± 95 % interval")
    console.print(table)
    return OK


def percentage(part: int, whole: int) -> str:
    """A share in percent, with its 95 % interval."""
    share = part / whole
    return f"{100 * share:.1f} ± {100 * NORMAL * (share * (1 - share) / whole) ** 0.5:.1f}"


def count_agreed(views: np.ndarray, played: np.ndarray, chosen: np.ndarray) -> Counter[str]:
    """In how many of `views` TABLE[n] the actions `chosen` int64[n] are those `played`, in all and by kind.

    A discard counts where a tile was discarded, and must be the same tile; a call, riichi or nukidora counts where it
    was legal, and must be made or left as it was.
    """
    words = views["legal"][np.arange(len(views)), views["viewer"]]
    right = {ALL: played == chosen, DISCARD: (played == chosen)[played <= TSUMOGIRI]}
    for kind, actions in DECLARED.items():
        legal = words[:, actions // 64] >> (actions % 64).astype(np.uint64) & np.uint64(1)
        right[kind] = (np.isin(played, actions) == np.isin(chosen, actions))[legal.any(axis=1)]
    return Counter({kind: int(each.sum()) for kind, each in right.items()})


def preferences(views: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The views TABLE[k] of decisions that show a preference, and the candidates int64[k] that stand for `actions`."""
    played, counts = np.array(actions, dtype=np.int64), np.empty(len(views), dtype=np.int64)
    count_candidates(raw_bytes(views), len(views), played, counts)
    return views[counts > 0], played[counts > 0]


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "export": export,
    "train": train,
    "show": show,
    "agreement": agreement,
}
