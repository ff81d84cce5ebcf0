"""python -m agents.linear: learns the weights of the bots linear and softmax from choices, and shows them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from agents import registry
from agents.linear.config import CHECKPOINT, Config
from agents.training.settings import add_settings, settings_in
from engine.common.options import Parser, describe_error, positive, seed, three_bots
from engine.common.program import INTERRUPTED

EPILOG = """\
examples:
  python -m agents.linear export choices.parquet --selfplay rule,rule,rule --games 200
  python -m agents.linear train runs/linear --data choices.parquet
  python -m agents.linear show runs/linear/weights.json
  python -m arena --bots linear:runs/linear/weights.json,linear:start,rule

exit codes: 0 done, 2 bad arguments, 130 interrupted
"""
TRAIN_EPILOG = """\
hinge    sum over decisions and actions of max(0, margin + value of what was not chosen - value of what was)
softmax  -ln of the probability of what was chosen, which is proportional to exp(value / (1,000 T))

One game in ten is held out: agreement is the share of its decisions in which the chosen action has the highest value.
OUT/weights.json has the weights of the epoch with the highest agreement. Ctrl-C stops; the same command resumes.
A margin of 0 is the loss as published, which is minimal when all weights are 0.
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("agents.linear", description=__doc__, epilog=EPILOG)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (add_export, add_train, add_show, add_agreement):
        add(subparsers)
    return parser


def add_sources(parser: argparse.ArgumentParser) -> None:
    """The options that name games."""
    parser.add_argument(
        "--records", type=Path, nargs="+", action="extend", metavar="PATH", help="records, archives, or folders of them"
    )
    parser.add_argument("--selfplay", type=three_bots, metavar="A,B,C", help="hanchan between three bots")
    parser.add_argument("--games", type=positive, default=200, metavar="N", help="of --selfplay")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="of walls and bots (default 0)")


def add_export(subparsers: argparse._SubParsersAction[Parser]) -> None:
    """The command ``export``."""
    text = "write the features of the chosen and of every other action of each decision"
    parser = subparsers.add_parser("export", help=text, description=text)
    parser.add_argument("out", type=Path, metavar="OUT", help="a file .csv or .parquet")
    add_sources(parser)
    parser.add_argument("--teacher", metavar="BOT", help="what this bot chooses, not what was played")


def add_train(subparsers: argparse._SubParsersAction[Parser]) -> None:
    """The command ``train``; the fields of Config are its settings."""
    text = "learn weights from choices"
    parser = subparsers.add_parser("train", help=text, description=text, epilog=TRAIN_EPILOG)
    parser.add_argument("out", type=Path, metavar="OUT", help="folder of the run")
    parser.add_argument(
        "--data",
        type=Path,
        nargs="+",
        action="extend",
        required=True,
        metavar="FILE",
        help="choices that export has written",
    )
    add_settings(parser, settings_in(Config))


def add_show(subparsers: argparse._SubParsersAction[Parser]) -> None:
    """The command ``show``."""
    text = "print the features with their starting and trained weights"
    parser = subparsers.add_parser("show", help=text, description=text)
    parser.add_argument("weights", nargs="?", metavar="FILE", help="a weights file (default: those of the bot linear)")


def add_agreement(subparsers: argparse._SubParsersAction[Parser]) -> None:
    """The command ``agreement``."""
    text = "how often bots choose what was played, in decisions with several actions and no win"
    parser = subparsers.add_parser("agreement", help=text, description=text)
    parser.add_argument("bots", nargs="+", metavar="BOT", help="such as linear, softmax:?temperature=0, rule")
    add_sources(parser)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    try:
        check_bots(options)
        from agents.linear import commands  # imported late: it loads numba, which the options do not need

        return commands.COMMANDS[options.command](options)
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))
    except KeyboardInterrupt:
        resumes = options.command == "train" and (options.out / CHECKPOINT).exists()
        again = "the same command resumes" if resumes else "nothing was written"
        print(f"{parser.short_name}: interrupted; {again}", file=sys.stderr)
        return INTERRUPTED


def check_bots(options: argparse.Namespace) -> None:
    """Raise ValueError for an option that names no bot, as far as can be checked without loading one."""
    given = vars(options)
    teacher = given.get("teacher")
    for bot in (*(given.get("bots") or ()), *(given.get("selfplay") or ()), *([teacher] if teacher else [])):
        registry.check(bot)
