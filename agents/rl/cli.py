"""python -m agents.rl: networks that learn by playing: proximal policy optimization on many tables at once."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agents.rl.families import FAMILIES
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
    from agents.rl.training import Run, Settings

EPILOG = """
FOLDER gets network.npz (the bot residual:FOLDER or selfplay:FOLDER), curve.csv and curve.svg (how strong it was when),
tensorboard/, and state.pt (to go on). Ctrl-C stops the run, and the same command continues it.
"""
SAVE_EVERY = 20.0  # seconds


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


def train_parser() -> Parser:
    """The options of ``train``."""
    parser = Parser("agents.rl train", description="Learn by self-play and against other bots.", epilog=EPILOG)
    add = parser.add_argument
    add("folder", type=Path, metavar="FOLDER", help="the run; it is continued if there is one")
    add("--bot", choices=FAMILIES, default="residual", help="what the network sees (default: residual)")
    add("--start", type=Path, metavar="FILE", help="weights to begin with (default: random, which add nothing)")
    add("--minutes", type=positive_number, default=480.0, help="of training in all; the learning rate falls to 0")
    add("--seed", type=seed, default=0, help="of the first weights and of all games")
    add("--jobs", type=positive, default=usable_cores(), metavar="N", help="threads that act (default: cores)")
    add("--tables", type=positive, default=1024, metavar="N", help="tables of each thread, played in lock step")
    add_cluster(parser)
    add("--device", default="cpu", help="of the learner: cpu or cuda")
    games = parser.add_argument_group("games")
    games.add_argument("--opponents", type=bots_of, default="rule", metavar="BOT,…", help="bots that play beside it")
    games.add_argument("--against", type=share, default=0.5, metavar="X", help="share of the games with opponents")
    games.add_argument(
        "--handicaps",
        type=handicaps,
        default="35000-35000-35000",
        metavar="A-B-C,…",
        help="starting scores; each game has one of these, its seats at random",
    )
    learning = parser.add_argument_group("learning")
    add = learning.add_argument
    add("--learning-rate", type=positive_number, default=1e-3, metavar="X", help="of Adam, at the start")
    add("--critic-rate", type=positive_number, default=1e-3, metavar="X", help="the same of the critic")
    add("--gae-lambda", type=share, default=0.8, metavar="X", help="of generalized advantage estimation")
    add("--entropy", type=non_negative_number, default=0.02, metavar="X", help="weight of the entropy of the policy")
    add("--kl", type=non_negative_number, default=0.0, metavar="X", help="weight of the KL divergence from the base")
    add("--epochs", type=positive, default=2, metavar="N", help="times that each choice is learned from")
    add("--batch-size", type=positive, default=8192, metavar="N", help="choices of a minibatch")
    add("--width", type=positive, default=160, metavar="N", help="of the first layer of the policy")
    add("--hidden", type=positive, default=64, metavar="N", help="of its second layer")
    measuring = parser.add_argument_group("measurements")
    add = measuring.add_argument
    add("--measure-every", type=positive_number, default=15.0, metavar="MINUTES", help="time between measurements")
    add("--measure-against", type=bots_of, default="rule", metavar="BOT,…", help="each plays at both other seats")
    add("--walls", type=positive, default=1000, metavar="N", help="walls of a measurement, each played three times")
    return parser


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
    from agents.rl.acting import Games
    from agents.rl.learning import Hyperparameters
    from agents.rl.training import Settings

    against = options.against if options.opponents else 0.0
    games = Games(options.bot, options.opponents, (1 - against, against / 2, against / 2), options.handicaps)
    chosen = Hyperparameters(
        options.learning_rate,
        options.critic_rate,
        options.gae_lambda,
        options.entropy,
        options.kl,
        options.batch_size,
        options.epochs,
    )
    return Settings(
        games,
        chosen,
        seed=options.seed,
        actors=options.jobs,
        tables=options.tables,
        joint=options.width,
        hidden=options.hidden,
        minutes=options.minutes,
        measured_against=options.measure_against,
        walls=options.walls,
        device=options.device,
    )


def train(options: argparse.Namespace) -> int:
    """Run ``train``. Raises ValueError, OSError or WorkerError."""
    import torch

    from agents.registry import make
    from agents.rl.acting import play_task
    from agents.rl.training import Run

    for bot in {*options.opponents, *options.measure_against}:
        make(bot)
    torch.set_num_threads(options.jobs)
    options.folder.mkdir(parents=True, exist_ok=True)
    settings = settings_of(options)
    if options.cluster is None:
        return run_until(options, Run(options.folder, settings, options.start))
    with open_pool(stateless(play_task), Cluster(options.cluster, options.jobs)) as pool:
        return run_until(options, Run(options.folder, settings, options.start, pool))


def run_until(options: argparse.Namespace, run: Run) -> int:
    """Run an iteration after another until the time is over."""
    from torch.utils.tensorboard import SummaryWriter

    from agents.rl.measuring import last_measured
    from agents.rl.training import CURVE, TENSORBOARD

    total = round(60 * options.minutes)
    every = 60 * options.measure_every
    writer = SummaryWriter(options.folder / TENSORBOARD, purge_step=run.iteration)

    def measured() -> None:
        run.save()
        rows = run.measure()
        for row in rows:
            writer.add_scalar(f"placement/{row.opponent}", row.placement, row.iteration)
        texts = [f"{row.opponent} {row.placement:.3f} ± {row.interval:.3f}" for row in rows]
        progress.print(
            f"after {rows[0].minutes:.0f} min, {rows[0].choices:,} choices, placement against two: {', '.join(texts)}"
        )

    def is_due() -> bool:
        """Whether a measurement is missing, also one that was interrupted."""
        last = last_measured(options.folder / CURVE)
        if last is None:
            return True
        minutes, iteration = last
        ended = run.seconds >= total and iteration < run.iteration
        return ended or run.seconds // every > 60 * minutes // every

    saved = run.seconds
    with writer, Progress("seconds", total, min(int(run.seconds), total)) as progress:
        try:
            while True:
                if is_due():
                    measured()
                    saved = run.seconds
                if run.seconds >= total:
                    break
                before, choices = run.seconds, run.choices
                told = run.next_iteration()
                if run.seconds - saved > SAVE_EVERY:
                    run.save()
                    saved = run.seconds
                rate = (run.choices - choices) / (run.seconds - before)
                for name, value in (told | {"choices_per_second": rate}).items():
                    writer.add_scalar(f"learning/{name}", value, run.iteration)
                status = f"iteration {run.iteration}, {rate:,.0f} choices/s, entropy {told['entropy']:.2f}"
                progress.advance(min(int(run.seconds), total) - progress.done, status)
        except KeyboardInterrupt:
            progress.print(f"stopped in iteration {run.iteration}; the same command continues")
            return INTERRUPTED
    print(f"{options.folder / CURVE} holds the curve; play it with --bots {options.bot}:{options.folder}")
    return OK
