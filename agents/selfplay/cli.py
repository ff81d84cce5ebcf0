"""python -m agents.selfplay: a network that starts at random and learns from games against itself, and nothing else."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.checks import scores_in
from engine.common.cluster import Cluster, add_cluster
from engine.common.options import (
    Parser,
    describe_error,
    non_negative,
    non_negative_number,
    positive,
    positive_number,
    seed,
)
from engine.common.program import BAD_ARGUMENTS, FAILED, INTERRUPTED, OK
from engine.common.progress import Progress
from engine.common.workers import WorkerError, open_pool, stateless
from engine.rules import Scores

if TYPE_CHECKING:  # needs PyTorch
    from agents.selfplay.training import Run

EPILOG = """
FOLDER gets network.npz (the bot selfplay:FOLDER), curve.csv and tensorboard/ (how strong it was when), state.pt and
games.buffer (to go on). Ctrl-C stops the run, and the same command continues it.
"""


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
    """Option type: a number from 0 to below 1."""
    number = non_negative_number(text)
    if number >= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share: a number from 0 to below 1")
    return number


def train_parser() -> Parser:
    """The options of ``train``."""
    parser = Parser("agents.selfplay train", description="Learn by self-play.", epilog=EPILOG)
    add = parser.add_argument
    add("folder", type=Path, metavar="FOLDER", help="the run; it is continued if there is one")
    add("--minutes", type=positive_number, default=480.0, help="stop after so many minutes of training in all")
    add("--seed", type=seed, default=0, help="of the first weights and of all games")
    add("--games", type=positive, default=128, metavar="N", help="games of a generation")
    add(
        "--chunks",
        type=positive,
        default=1,
        metavar="N",
        help="the games of a generation are played in N chunks, with --cluster at the same time; another number is "
        "another run",
    )
    add_cluster(parser)
    add("--steps", type=positive, default=20, metavar="N", help="learning steps of a generation, then it plays")
    add("--batch-size", type=positive, default=2048, metavar="N", help="choices of a minibatch")
    add(
        "--buffer",
        type=positive,
        default=500_000,
        metavar="N",
        help="games kept to learn from, about 3 kB each; some hundreds learn fastest",
    )
    add("--learning-rate", type=positive_number, default=2e-3, metavar="X", help="of Adam")
    add("--l2", type=non_negative_number, default=1e-6, metavar="X", help="weight of the squares of all weights")
    add(
        "--handicaps",
        type=handicaps,
        default="35000-35000-35000,25000-35000-45000",
        metavar="A-B-C,…",
        help="starting scores; each game has one of these, its seats at random",
    )
    add("--first-turns", type=non_negative, default=6, metavar="N", help="discards of a round played at temperature 1")
    add("--late-temperature", type=positive_number, default=0.7, metavar="T", help="temperature after these")
    add("--noise", type=share, default=0.03, metavar="X", help="share of Dirichlet noise in what is played")
    add("--measure-every", type=positive_number, default=60.0, metavar="MINUTES", help="time between measurements")
    add("--walls", type=positive, default=100, metavar="N", help="walls of a measurement, each played three times")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    epilog = "train  learn by self-play\n\npython -m agents.selfplay train --help shows its options."
    parser = Parser("agents.selfplay", description=__doc__, epilog=epilog)
    parser.add_argument("command", choices=["train"], metavar="COMMAND", help="the one below")
    words = sys.argv[1:] if arguments is None else list(arguments)
    parser.parse_args(words[:1])
    options = train_parser().parse_args(words[1:])
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
        return train(options)
    except (ValueError, OSError, WorkerError) as error:
        print(f"agents.selfplay: {describe_error(error)}", file=sys.stderr)
        return BAD_ARGUMENTS if isinstance(error, ValueError) else FAILED


def train(options: argparse.Namespace) -> int:
    """Run ``train``. Raises ValueError, OSError or WorkerError."""
    import torch

    from agents.selfplay.games import Exploration, play_chunk
    from agents.selfplay.training import Run, Settings

    torch.set_num_threads(1)  # the other core plays
    exploration = Exploration(options.first_turns, options.late_temperature, options.noise)
    names = ("seed", "games", "chunks", "steps", "batch_size", "buffer", "learning_rate", "l2", "walls")
    chosen = {name: getattr(options, name) for name in names}
    settings = Settings(**chosen, handicaps=options.handicaps, exploration=exploration)
    if options.cluster is None:
        return run_until(options, Run(options.folder, settings))
    with open_pool(stateless(play_chunk), Cluster(options.cluster, options.chunks)) as pool:
        return run_until(options, Run(options.folder, settings, pool))


def run_until(options: argparse.Namespace, run: Run) -> int:
    """Run a generation after another until the time is over."""
    from torch.utils.tensorboard import SummaryWriter

    from agents.selfplay.measuring import last_measured
    from agents.selfplay.training import CURVE, TENSORBOARD, summary

    total = round(60 * options.minutes)
    every = 60 * options.measure_every
    writer = SummaryWriter(options.folder / TENSORBOARD, purge_step=run.generation)

    def measured() -> None:
        rows = run.measure()
        for row in rows:
            writer.add_scalar(f"placement/{row.opponent}", row.placement, row.generation)
        texts = [f"{row.opponent} {row.placement:.2f} ± {row.interval:.2f}" for row in rows]
        progress.print(
            f"after {rows[0].minutes:.0f} min and {rows[0].games:,} games, mean placement: {', '.join(texts)}"
        )

    def is_due() -> bool:
        """Whether a measurement is missing, also one that was interrupted."""
        last = last_measured(options.folder / CURVE)
        if last is None:
            return True
        minutes, generation = last
        ended = run.seconds >= total and generation < run.generation
        return ended or run.seconds // every > 60 * minutes // every

    with writer, Progress("seconds", total, min(int(run.seconds), total)) as progress:
        try:
            while True:
                if is_due():
                    measured()
                if run.seconds >= total:
                    break
                before, played = run.seconds, run.games
                losses = run.next_generation()
                run.save()
                spent = run.seconds - before
                rates = (run.games - played) / spent, len(losses) * run.settings.batch_size / spent
                for name, value in summary(losses).items() if losses else ():
                    writer.add_scalar(f"loss/{name}", value, run.generation)
                writer.add_scalar("speed/games", rates[0], run.generation)
                writer.add_scalar("speed/samples", rates[1], run.generation)
                status = f"generation {run.generation}, {rates[0]:,.1f} games/s, {rates[1]:,.0f} samples/s"
                progress.advance(min(int(run.seconds), total) - progress.done, status)
        except KeyboardInterrupt:
            progress.print(f"stopped after generation {run.generation}; the same command continues")
            return INTERRUPTED
    print(f"{options.folder / CURVE} holds the curve; play it with --bots selfplay:{options.folder}")
    return OK
