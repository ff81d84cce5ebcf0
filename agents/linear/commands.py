"""The commands of ``python -m agents.linear``."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents.base import Agent
from agents.linear.config import WEIGHTS, Config
from agents.linear.data import Choices, Records, SelfPlay, Source, collect, concatenate
from agents.linear.features import FEATURES
from agents.linear.files import read_choices, writer
from agents.linear.kernels import count_candidates
from agents.linear.scale import placements_per_point
from agents.linear.training import Epoch, Trainer, split
from agents.linear.weights import BUNDLED, STARTING, Weights, load_weights
from agents.registry import make
from agents.training.folders import check_folder
from agents.training.loop import run_training
from agents.training.settings import values_of
from engine.actions import ANKAN, DAIMINKAN, N_ACTIONS, NUKIDORA, PON, PON_RED, RIICHI, TSUMOGIRI
from engine.common.files import write_atomically
from engine.common.program import OK
from engine.common.progress import Progress
from engine.common.screen import screen
from engine.common.student import interval_of_share
from engine.table import raw_bytes

METRICS = "metrics.csv"
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
    check_folder(options.out, "agents.linear")
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
    console.print(Text(f"wrote {options.out / WEIGHTS}"))
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
    worth = f"a point of value is worth {after.placements_per_point:.2g} placements"
    console.print(Text(f"trained: {after.trained}; {worth}"))
    return OK


def agreement(options: argparse.Namespace) -> int:
    """Print how often each bot chooses what was played, in all and by kind of decision."""
    source = source_of(options)
    bots = {spec: make(spec) for spec in options.bots}
    parts: dict[str, list[list[np.ndarray]]] = {kind: [] for kind in KINDS}
    with Progress("games", source.n_games) as progress:
        for views, actions, games, n in source.views(progress.print):
            for kind, columns in agreed_by_kind(list(bots.values()), views, actions, games).items():
                parts[kind].append(columns)
            progress.advance(n)
    found = {kind: [np.concatenate(each) for each in zip(*columns, strict=True)] for kind, columns in parts.items()}
    shown = {kind: columns for kind, columns in found.items() if columns and len(columns[0])}
    if not shown:
        raise ValueError("no decisions with several actions in these games")
    table = Table("bot", box=None)
    for kind, (games, *_) in shown.items():
        table.add_column(f"{kind} %\n{len(games):,}", justify="right")
    for index, spec in enumerate(bots, 1):
        table.add_row(Text(spec), *(percentage(columns[index], columns[0]) for columns in shown.values()))
    console = screen(WIDE)
    console.print(
        "Agreement with what was played, where there were several actions and no win, ± 95 % interval by games"
    )
    console.print(table)
    return OK


def percentage(right: np.ndarray, games: np.ndarray) -> str:
    """The mean of `right` bool[n] in percent, with its 95 % interval; `games` int64[n] says which game each is of."""
    interval = interval_of_share(right, games)
    return f"{100 * right.mean():.1f}" + ("" if interval is None else f" ± {100 * interval:.1f}")


def agreed_by_kind(
    bots: Sequence[Agent], views: np.ndarray, actions: np.ndarray, games: np.ndarray
) -> dict[str, list[np.ndarray]]:
    """By kind of decision: the games int64[k] of those that count, and whether each bot chose what was played, bool[k].

    `actions` int64[n] are those played in `views` TABLE[n], `games` int64[n] the games they are of.
    """
    played, shown = preferences(views, actions)
    views, played, games = views[shown], played[shown], games[shown]
    if not len(views):
        return {}
    chosen = [preferences(views, bot.act(views))[0] for bot in bots]
    return {
        kind: [games[counted], *(agrees(kind, played, each)[counted] for each in chosen)]
        for kind, counted in kinds_of(views, played).items()
    }


def kinds_of(views: np.ndarray, played: np.ndarray) -> dict[str, np.ndarray]:
    """Which of `views` TABLE[n] count as each of KINDS, bool[n]; `played` int64[n] are the actions in them.

    A discard counts where a tile was discarded; a call, riichi or nukidora where it was legal.
    """
    words = views["legal"][np.arange(len(views)), views["viewer"]]
    counted = {ALL: np.ones(len(views), dtype=np.bool_), DISCARD: played <= TSUMOGIRI}
    for kind, actions in DECLARED.items():
        legal = words[:, actions // 64] >> (actions % 64).astype(np.uint64) & np.uint64(1)
        counted[kind] = legal.any(axis=1)
    return counted


def agrees(kind: str, played: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Whether the actions `chosen` int64[n] are those `played`, bool[n].

    A call, riichi or nukidora must be made or left as it was, whichever it is.
    """
    if kind in DECLARED:
        return np.isin(played, DECLARED[kind]) == np.isin(chosen, DECLARED[kind])
    return played == chosen


def preferences(views: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The candidates int64[n] that stand for `actions`, and whether the decision shows a preference, bool[n]."""
    played, counts = np.array(actions, dtype=np.int64), np.empty(len(views), dtype=np.int64)
    count_candidates(raw_bytes(views), len(views), played, counts)
    return played, counts > 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "export": export,
    "train": train,
    "show": show,
    "agreement": agreement,
}
