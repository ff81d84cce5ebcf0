"""python -m agents.rl: networks that learn by playing: proximal policy optimization on many tables at once."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from agents import registry
from agents.rl.families import DEFAULT_FAMILY, FAMILIES
from agents.rl.settings import Games, Hyperparameters, Settings
from agents.training.settings import add_settings, settings_in, values_of
from engine.common.options import Parser
from engine.common.program import BAD_ARGUMENTS

EPILOG = """
FOLDER gets network.npz (the bot residual:FOLDER or selfplay:FOLDER), critic.npz (of residual, for search:critic=FILE),
curve.csv and curve.svg (its strength over time), tensorboard/, and state.pt (to resume). Ctrl-C stops the run, and the
same command continues it.
"""


def train_parser() -> Parser:
    """The options of ``train``."""
    parser = Parser("agents.rl train", description="Learn by self-play and against other bots.", epilog=EPILOG)
    add = parser.add_argument
    add("folder", type=Path, metavar="FOLDER", help="the run; it is continued if there is one")
    about = f"what the network sees (default: {DEFAULT_FAMILY})"
    add("--bot", choices=FAMILIES, default=DEFAULT_FAMILY, help=about)
    add(
        "--start",
        type=Path,
        metavar="PATH",
        help="weights of a new run: a file, or the folder of a run (default: random ones, which add nothing)",
    )
    add(
        "--anchor",
        type=Path,
        metavar="PATH",
        help="weights of the policy that kl_start keeps a new run near (default: those at the start)",
    )
    add_settings(parser, settings_in(Games, Hyperparameters, Settings))
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
    from agents.rl.commands import run  # imported late: it loads PyTorch, which the options do not need

    return run(options, settings_of(options))


def check_options(options: argparse.Namespace) -> None:
    """Raise ValueError for options that cannot be carried out, as far as can be checked without loading a bot."""
    if options.former_every < math.inf and not options.against:
        raise ValueError("former_every: former selves play in games with opponents only; give against above 0")
    if options.former_every < math.inf and options.iterations:
        raise ValueError("former_every: it follows the clock, which iterations are there to do without; give minutes")
    if options.anchor is not None and not options.kl_start:
        raise ValueError("--anchor: nothing keeps the policy near it; give kl_start above 0")
    for bot in (*options.opponents, *options.measure_against):
        registry.check(bot)


def settings_of(options: argparse.Namespace) -> Settings:
    """The settings that the options choose."""
    return Settings(
        Games(options.bot, **values_of(Games, options)),
        Hyperparameters(**values_of(Hyperparameters, options)),
        **values_of(Settings, options),
    )
