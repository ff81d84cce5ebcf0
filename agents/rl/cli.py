"""python -m agents.rl: networks that learn by playing: proximal policy optimization on many tables at once."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from agents import registry
from agents.rl.families import FAMILIES
from agents.rl.settings import HIDDEN, MAX_WIDTH, WIDTH, Games, Hyperparameters, Settings
from agents.settings_option import Setting, add_settings, one_of
from engine.checks import scores_in
from engine.common.options import (
    Parser,
    bots_of,
    non_negative_number,
    positive,
    positive_number,
    seed,
    usable_cores,
)
from engine.common.program import BAD_ARGUMENTS
from engine.rules import Scores

EPILOG = """
FOLDER gets network.npz (the bot residual:FOLDER or selfplay:FOLDER), curve.csv and curve.svg (its strength over time),
tensorboard/, and state.pt (to resume). Ctrl-C stops the run, and the same command continues it.
"""
DEFAULT = Settings(Games("residual"))


def handicaps(text: str) -> tuple[Scores, ...]:
    """Option type: starting scores of one or several games, such as 35000-35000-35000,25000-35000-45000."""
    found = []
    for each in text.split(","):
        try:
            found.append(scores_in(each.replace("-", ",")))
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{each!r} is not a handicap such as 25000-35000-45000: {error}") from None
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


LEARNER = DEFAULT.hyperparameters
# Fields of Settings, Games and Hyperparameters that --set gives.
SETTINGS = {
    "width": Setting(
        width,
        DEFAULT.width,
        f"of the first layer in a new run (default: that of --start, or {WIDTH}); a narrower network is widened, which "
        "does not change what it plays",
    ),
    "hidden": Setting(width, DEFAULT.hidden, f"of the second layer, likewise (default: that of --start, or {HIDDEN})"),
    "critic_rate": Setting(positive_number, LEARNER.critic_rate, "learning rate of the critic, at the start"),
    "gae_lambda": Setting(share, LEARNER.gae_lambda, "of generalized advantage estimation"),
    "entropy": Setting(non_negative_number, LEARNER.entropy, "weight of the entropy of the policy"),
    "kl": Setting(
        non_negative_number,
        LEARNER.kl,
        "weight of the KL divergence from the prior (the policy of the prior logits)",
    ),
    "epochs": Setting(positive, LEARNER.epochs, "times that each choice is learned from"),
    "batch_size": Setting(positive, LEARNER.batch_size, "choices of a minibatch"),
    "critic_sees": Setting(one_of("everything", "view"), LEARNER.critic_sees, "view: no hidden tile"),
    "tables": Setting(positive, DEFAULT.tables, "of each thread, played in lock step"),
    "handicaps": Setting(
        handicaps,
        DEFAULT.games.handicaps,
        "starting scores A-B-C,…; each game has one of these, its seats at random (default 35000-35000-35000)",
    ),
    "former_every": Setting(
        positive_number,
        DEFAULT.former_every,
        "minutes; the policy as it is then becomes one more opponent (default: never)",
    ),
    "walls": Setting(positive, DEFAULT.walls, "of a measurement, each played three times"),
}


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
        help="total training time; the learning rate falls to 0",
    )
    add("--seed", type=seed, default=DEFAULT.seed, help="of the first weights and of all games")
    add(
        "--jobs",
        type=positive,
        default=usable_cores(),
        metavar="N",
        help="threads that act, or on a cluster workers (default: cores)",
    )
    add("--device", default=DEFAULT.device, help="of the learner: cpu or cuda")
    add(
        "--against",
        type=share,
        default=DEFAULT.games.against,
        metavar="X",
        help="share of the games with opponents; 0: self-play alone",
    )
    add("--opponents", type=some_bots, default="rule", metavar="BOT,…", help="bots that play against it in these")
    add(
        "--learning-rate",
        type=positive_number,
        default=LEARNER.learning_rate,
        metavar="X",
        help="of Adam, at the start",
    )
    add("--measure-every", type=positive_number, default=15.0, metavar="MINUTES", help="time between measurements")
    add("--measure-against", type=some_bots, default="rule", metavar="BOT,…", help="each plays at both other seats")
    add_settings(parser, SETTINGS)
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
        check_options(options)
    except ValueError as error:
        print(f"agents.rl: {error}", file=sys.stderr)
        return BAD_ARGUMENTS
    from agents.rl.running import run  # imported late: it loads PyTorch, which the options do not need

    return run(options, settings_of(options))


def check_options(options: argparse.Namespace) -> None:
    """Raise ValueError for options that cannot be carried out, as far as can be checked without loading a bot."""
    if options.former_every < math.inf and not options.against:
        raise ValueError("former_every: former selves play in games with opponents only; give --against above 0")
    for bot in (*options.opponents, *options.measure_against):
        registry.check(bot)


def settings_of(options: argparse.Namespace) -> Settings:
    """The settings that the options choose."""
    same = ("seed", "jobs", "tables", "width", "hidden", "minutes", "walls", "device", "former_every")
    return Settings(
        Games(options.bot, options.opponents, options.against, options.handicaps),
        Hyperparameters(*(getattr(options, name) for name in Hyperparameters._fields)),
        measured_against=options.measure_against,
        **{name: getattr(options, name) for name in same},
    )
