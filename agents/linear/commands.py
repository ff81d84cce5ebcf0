"""The commands of ``python -m agents.linear``."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.linear.data import Choices, Records, SelfPlay, Source, collect, joined
from agents.linear.features import FEATURES
from agents.linear.files import read_choices, writer
from agents.linear.kernels import count_candidates
from agents.linear.scale import placements_per_point
from agents.linear.training import Config, Epoch, Trainer, split
from agents.linear.weights import BUNDLED, Weights, load_weights
from agents.registry import make
from engine.common.files import write_atomically
from engine.common.program import OK
from engine.common.progress import Progress
from engine.records.filters import filters_of
from engine.table import raw_bytes

WEIGHTS, METRICS = "weights.json", "metrics.csv"
TABLE_WIDTH = 110  # columns where the output is no terminal


def source_of(options: argparse.Namespace) -> Source:
    """The games that the options name. Raises ValueError, OSError."""
    if (options.records is None) == (options.selfplay is None):
        raise ValueError("name the games: either --records PATH … or --selfplay A,B,C")
    if options.records is not None:
        return Records(options.records, filters_of(options))
    check_no_filters(options)
    return SelfPlay(options.selfplay, options.games, options.seed)


def check_no_filters(options: argparse.Namespace) -> None:
    """Raise ValueError for a filter, where there are no records to choose from."""
    if filters := filters_of(options):
        raise ValueError(f"{filters.options[0]} chooses among --records: leave it away")


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


def choices_for(options: argparse.Namespace) -> tuple[Choices, str]:
    """The choices to learn from, and what they are, for the checkpoint. Raises ValueError, OSError."""
    if options.data is not None:
        if options.records is not None or options.selfplay is not None or options.teacher is not None:
            raise ValueError("--data has the choices: leave --records, --selfplay and --teacher away")
        check_no_filters(options)
        parts = [read_choices(path) for path in options.data]
        return joined(numbered(parts)), "--data " + " ".join(str(path.resolve()) for path in options.data)
    source = source_of(options)
    parts = []
    with Progress("games", source.n_games) as progress:
        for choices, n in collect(source, options.teacher, progress.print):
            parts.append(choices)
            progress.advance(n)
    named = f"--selfplay {','.join(options.selfplay)} --games {options.games}" if options.selfplay else "--records"
    return joined(parts), named + f" --teacher {options.teacher}" * (options.teacher is not None)


def digest(choices: Choices) -> str:
    """A hash of all decisions: a training resumes with the same ones only."""
    found = hashlib.sha256()
    for array in choices:
        found.update(np.ascontiguousarray(array))
    return found.hexdigest()[:16]


def numbered(parts: list[Choices]) -> list[Choices]:
    """The same, with numbers for the games that are unique among all of them."""
    firsts = np.cumsum([0, *(part.game.max() + 1 for part in parts)])
    return [part._replace(game=part.game + first) for part, first in zip(parts, firsts)]


def train(options: argparse.Namespace) -> int:
    """Learn weights and write them."""
    initial = load_weights(options.start)
    choices, named = choices_for(options)
    config = Config(
        named, digest(choices), options.start, options.loss, options.margin, options.temperature, options.alpha,
        options.epochs, options.batch_size, options.seed,
    )  # fmt: skip
    trainer = Trainer(config, initial.values, split(choices), options.out)
    total = config.epochs * trainer.steps_an_epoch
    done = (len(trainer.epochs) - 1) * trainer.steps_an_epoch
    with Progress("steps", total, done, parts=(config.batch_size, "decisions")) as progress:
        progress.print(described(trainer.epochs[-1]))
        for epoch in trainer.train(progress.advance):
            progress.print(described(epoch))
    weights = write_outcome(trainer, options.out)
    console = screen()
    print_weights(console, initial, weights)
    best, before = trainer.best_epoch, trainer.epochs[0]
    console.print(
        f"agreement on {len(trainer.parts.held_out.game):,} held-out decisions: {before.agreement:.1%} before, "
        f"{best.agreement:.1%} after (epoch {best.number})",
        highlight=False,
    )
    console.print(f"wrote {options.out / WEIGHTS}", highlight=False)
    return OK


def described(epoch: Epoch) -> str:
    """An epoch in one line."""
    losses = f"loss {epoch.loss:,.4g}, held out {epoch.held_out_loss:,.4g}"
    return f"epoch {epoch.number}: {losses}, agreement {epoch.agreement:.2%}"


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


def screen() -> Console:
    """The terminal, or a width for what is no terminal."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = TABLE_WIDTH
    return console


def print_weights(console: Console, before: Weights, after: Weights) -> None:
    """The table of features."""
    table = Table("feature", "meaning", box=None)
    for heading in ("before", "after", "change"):
        table.add_column(heading, justify="right")
    for feature, old, new in zip(FEATURES, before.values, after.values, strict=True):
        table.add_row(feature.name, feature.meaning, f"{old:,.0f}", f"{new:,.0f}", f"{new - old:+,.0f}")
    console.print(table)


def show(options: argparse.Namespace) -> int:
    """Print weights beside others."""
    before, after = load_weights(options.before), load_weights(options.weights or str(BUNDLED / "linear.json"))
    console = screen()
    print_weights(console, before, after)
    console.print(f"trained: {after.trained}; a point of value is worth {after.placements_per_point:.2g} placements")
    return OK


def agreement(options: argparse.Namespace) -> int:
    """Print how often each bot chooses what was played."""
    source = source_of(options)
    bots = {spec: make(spec) for spec in options.bots}
    agreed = dict.fromkeys(bots, 0)
    decisions = 0
    with Progress("games", source.n_games) as progress:
        for views, actions, _, n in source.views(progress.print):
            kept, played = preferences(views, actions)
            decisions += len(kept)
            for spec, bot in bots.items():
                if len(kept):
                    agreed[spec] += int((preferences(kept, bot.act(kept))[1] == played).sum())
            progress.advance(n)
    if not decisions:
        raise ValueError("no decisions with several actions in these games")
    table = Table("bot", box=None)
    table.add_column(f"agreement in {decisions:,} decisions", justify="right")
    for spec, count in agreed.items():
        share = count / decisions
        table.add_row(spec, f"{share:.1%} ± {1.96 * (share * (1 - share) / decisions) ** 0.5:.1%}")
    screen().print(table)
    return OK


def preferences(views: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The views TABLE[k] of decisions that show a preference, and the candidates int64[k] that stand for `actions`."""
    played, counts = np.array(actions, dtype=np.int64), np.empty(len(views), dtype=np.int64)
    count_candidates(raw_bytes(views), len(views), played, counts)
    return views[counts > 0], played[counts > 0]
