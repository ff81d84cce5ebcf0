"""python -m agents.rl: networks that learn by playing: proximal policy optimization on many tables at once."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agents.rl.families import FAMILIES
from agents.rl.policy import MAX_WIDTH
from agents.rl.settings import HIDDEN, WIDTH, Games, Hyperparameters, Settings
from engine.checks import scores_in
from engine.common.cluster import Cluster, add_cluster
from engine.common.options import (
    Parser,
    bots_of,
    describe_error,
    non_negative_number,
    positive,
    positive_number,
    seed,
    usable_cores,
)
from engine.common.program import BAD_ARGUMENTS, FAILED, INTERRUPTED, OK
from engine.common.progress import Progress
from engine.common.workers import WorkerError, open_pool, stateless
from engine.rules import Scores

if TYPE_CHECKING:  # needs PyTorch
    from torch.utils.tensorboard import SummaryWriter

    from agents.rl.training import Run

EPILOG = """
FOLDER gets network.npz (the bot residual:FOLDER or selfplay:FOLDER), curve.csv and curve.svg (how strong it was when),
tensorboard/, and state.pt (to go on). Ctrl-C stops the run, and the same command continues it.
"""
DEFAULT = Settings(Games("residual"))
SAVE_EVERY = 20.0  # seconds of training


def handicaps(text: str) -> tuple[Scores, ...]:
    """Option type: starting scores of one or several games, such as 35000-35000-35000,25000-35000-45000."""
    found = []
    for each in text.split(","):
        try:
            found.append(scores_in(each.replace("-", ",")))
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{each!r} is no handicap such as 25000-35000-45000: {error}") from None
    return tuple(found)


def share(text: str) -> float:
    """Option type: a number from 0 to 1."""
    number = non_negative_number(text)
    if number > 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share: a number from 0 to 1")
    return number


def width(text: str) -> int:
    """Option type: the width of a layer."""
    number = positive(text)
    if number > MAX_WIDTH:
        raise argparse.ArgumentTypeError(f"{text!r} is not a width: a number from 1 to {MAX_WIDTH}")
    return number


def some_bots(text: str) -> tuple[str, ...]:
    """Option type: one bot or several, see `bots_of`."""
    found = bots_of(text)
    if not found:
        raise argparse.ArgumentTypeError("no bot is named")
    return found


def train_parser() -> Parser:
    """The options of ``train``."""
    parser = Parser("agents.rl train", description="Learn by self-play and against other bots.", epilog=EPILOG)
    add = parser.add_argument
    add("folder", type=Path, metavar="FOLDER", help="the run; it is continued if there is one")
    add("--bot", choices=FAMILIES, default="residual", help="what the network sees (default: residual)")
    add("--start", type=Path, metavar="FILE", help="weights of a new run (default: random ones, which add nothing)")
    add(
        "--minutes",
        type=positive_number,
        default=DEFAULT.minutes,
        help="of training in all; the learning rate falls to 0",
    )
    add("--seed", type=seed, default=DEFAULT.seed, help="of the first weights and of all games")
    add("--jobs", type=positive, default=usable_cores(), metavar="N", help="threads that act (default: cores)")
    add(
        "--tables",
        type=positive,
        default=DEFAULT.tables,
        metavar="N",
        help="tables of each thread, played in lock step",
    )
    add_cluster(parser)
    add("--device", default=DEFAULT.device, help="of the learner: cpu or cuda")
    add_games(parser)
    add_learning(parser)
    add_measurements(parser)
    return parser


def add_games(parser: Parser) -> None:
    """Add the options that say which games are played."""
    add = parser.add_argument_group("games").add_argument
    add(
        "--against",
        type=share,
        default=DEFAULT.games.against,
        metavar="X",
        help="share of the games with opponents; 0: self-play alone",
    )
    add("--opponents", type=some_bots, default="rule", metavar="BOT,…", help="bots that play beside it in these")
    add(
        "--handicaps",
        type=handicaps,
        default="35000-35000-35000",
        metavar="A-B-C,…",
        help="starting scores; each game has one of these, its seats at random",
    )
    add(
        "--former-every",
        type=positive_number,
        default=DEFAULT.former_every,
        metavar="MINUTES",
        help="the policy as it is then becomes one more opponent (default: never)",
    )


def add_learning(parser: Parser) -> None:
    """Add the hyperparameters and the sizes of the layers."""
    learner = DEFAULT.hyperparameters
    add = parser.add_argument_group("learning").add_argument
    add(
        "--learning-rate",
        type=positive_number,
        default=learner.learning_rate,
        metavar="X",
        help="of Adam, at the start",
    )
    add("--critic-rate", type=positive_number, default=learner.critic_rate, metavar="X", help="the same of the critic")
    add("--gae-lambda", type=share, default=learner.gae_lambda, metavar="X", help="of generalized advantage estimation")
    add(
        "--entropy",
        type=non_negative_number,
        default=learner.entropy,
        metavar="X",
        help="weight of the entropy of the policy",
    )
    add(
        "--kl",
        type=non_negative_number,
        default=learner.kl,
        metavar="X",
        help="weight of the KL divergence from the base",
    )
    add("--epochs", type=positive, default=learner.epochs, metavar="N", help="times that each choice is learned from")
    add("--critic-sees", choices=("everything", "view"), default=learner.critic_sees, help="view: no hidden tile")
    add("--batch-size", type=positive, default=learner.batch_size, metavar="N", help="choices of a minibatch")
    add(
        "--width",
        type=width,
        metavar="N",
        help=f"of the first layer in a new run (default: that of --start, or {WIDTH}); a narrower network is widened, "
        "which does not change what it plays",
    )
    add(
        "--hidden",
        type=width,
        metavar="N",
        help=f"of the second layer, likewise (default: that of --start, or {HIDDEN})",
    )


def add_measurements(parser: Parser) -> None:
    """Add the options of the measurements."""
    add = parser.add_argument_group("measurements").add_argument
    add("--measure-every", type=positive_number, default=15.0, metavar="MINUTES", help="time between measurements")
    add("--measure-against", type=some_bots, default="rule", metavar="BOT,…", help="each plays at both other seats")
    add(
        "--walls",
        type=positive,
        default=DEFAULT.walls,
        metavar="N",
        help="walls of a measurement, each played three times",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    epilog = "train  learn by playing\n\npython -m agents.rl train --help shows its options."
    parser = Parser("agents.rl", description=__doc__, epilog=epilog)
    parser.add_argument("command", choices=["train"], metavar="COMMAND", help="the one below")
    words = sys.argv[1:] if arguments is None else list(arguments)
    parser.parse_args(words[:1])
    options = train_parser().parse_args(words[1:])
    try:
        return train(options)
    except (ValueError, OSError, WorkerError) as error:
        print(f"agents.rl: {describe_error(error)}", file=sys.stderr)
        return BAD_ARGUMENTS if isinstance(error, ValueError) else FAILED


def settings_of(options: argparse.Namespace) -> Settings:
    """The settings that the options choose."""
    same = ("seed", "jobs", "tables", "width", "hidden", "minutes", "walls", "device", "former_every")
    return Settings(
        Games(options.bot, options.opponents, options.against, options.handicaps),
        Hyperparameters(*(getattr(options, name) for name in Hyperparameters._fields)),
        measured_against=options.measure_against,
        **{name: getattr(options, name) for name in same},
    )


def train(options: argparse.Namespace) -> int:
    """Run ``train``. Raises ValueError, OSError or WorkerError."""
    import torch

    from agents.clusters import workers_for
    from agents.memory import keep_freed_memory
    from agents.registry import make
    from agents.rl.acting import play_task
    from agents.rl.training import Run

    if options.former_every < math.inf and not options.against:
        raise ValueError("--former-every: former selves play in games with opponents only; give --against above 0")
    for bot in {*options.opponents, *options.measure_against}:
        make(bot)
    keep_freed_memory()
    torch.set_num_threads(min(options.jobs, usable_cores()))
    workers = workers_for(options, options.opponents)
    options.folder.mkdir(parents=True, exist_ok=True)
    settings = settings_of(options)
    if not isinstance(workers, Cluster):
        return Training(options, Run(options.folder, settings, options.start)).go_on()
    with open_pool(stateless(play_task), workers) as pool:
        return Training(options, Run(options.folder, settings, options.start, pool)).go_on()


class Training:
    """A run with its progress, measurements and saves."""

    def __init__(self, options: argparse.Namespace, run: Run) -> None:
        self._options, self._run = options, run
        self._total = round(60 * options.minutes)
        self._saved, self._saved_iteration = run.seconds, run.iteration

    def go_on(self) -> int:
        """Run an iteration after another until the time is over; returns the exit code."""
        from torch.utils.tensorboard import SummaryWriter

        from agents.rl.training import CURVE, TENSORBOARD

        run, folder = self._run, self._options.folder
        writer = SummaryWriter(folder / TENSORBOARD, purge_step=run.iteration)
        done = min(int(run.seconds), self._total)
        with writer, Progress("seconds", self._total, done) as progress:
            try:
                while True:
                    if self._is_due():
                        self._measure(writer, progress)
                    if run.seconds >= self._total:
                        break
                    self._iterate(writer, progress)
            except KeyboardInterrupt:
                progress.print(f"stopped; the same command continues after iteration {self._saved_iteration}")
                return INTERRUPTED
        print(f"{folder / CURVE} holds the curve; play it with --bots {self._options.bot}:{folder}")
        return OK

    def _is_due(self) -> bool:
        """Whether a measurement is missing, also one that was interrupted."""
        from agents.rl.measuring import last_measured
        from agents.rl.training import CURVE

        last, every = last_measured(self._options.folder / CURVE), 60 * self._options.measure_every
        if last is None:
            return True
        minutes, iteration = last
        ended = self._run.seconds >= self._total and iteration < self._run.iteration
        return ended or self._run.seconds // every > 60 * minutes // every

    def _save(self) -> None:
        self._run.save()
        self._saved, self._saved_iteration = self._run.seconds, self._run.iteration

    def _measure(self, writer: SummaryWriter, progress: Progress) -> None:
        """Save the run and measure it."""
        self._save()
        rows = self._run.measure()
        for row in rows:
            writer.add_scalar(f"placement/{row.opponent}", row.placement, row.iteration)
        texts = [f"{row.opponent} {row.placement:.3f} ± {row.interval:.3f}" for row in rows]
        progress.print(
            f"after {rows[0].minutes:.0f} min, {rows[0].choices:,} choices, placement against two: {', '.join(texts)}"
        )

    def _iterate(self, writer: SummaryWriter, progress: Progress) -> None:
        """Run an iteration, and save it if the last save is some time ago."""
        run = self._run
        seconds, choices = run.seconds, run.choices
        metrics = run.next_iteration()
        if run.seconds - self._saved > SAVE_EVERY:
            self._save()
        rate = (run.choices - choices) / max(run.seconds - seconds, 1e-9)
        for name, value in (metrics | {"choices_per_second": rate}).items():
            writer.add_scalar(f"learning/{name}", value, run.iteration)
        status = f"iteration {run.iteration}, {rate:,.0f} choices/s, entropy {metrics.get('entropy', 0.0):.2f}"
        progress.advance(min(int(run.seconds), self._total) - progress.done, status)
