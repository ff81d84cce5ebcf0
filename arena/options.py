"""Groups of command-line options that programs of the arena share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from agents.external.framing import TIMEOUT
from engine.common.options import Parser, positive, positive_number, positive_seconds, seed
from engine.rules import PRESETS

if TYPE_CHECKING:  # numpy is not needed unless such an option is given
    from arena.stopping import Sprt, Until


MOST_GAMES = 10_000_000  # of a run, whose results are kept in memory: about 200 bytes a game


def n_games(text: str) -> int:
    """Option type: a number of games that one run can hold."""
    n = positive(text)
    if n > MOST_GAMES:
        raise argparse.ArgumentTypeError(f"{text!r}: at most {MOST_GAMES} games are played in one run")
    return n


def add_game_options(parser: Parser) -> None:
    """Add the options that say how games are played."""
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of all walls and bots (default 0)")
    parser.add_argument("--rules", choices=sorted(PRESETS), default="tenhou", help="rules of the games")
    parser.add_argument("--length", choices=("east", "hanchan"), default="hanchan", help="length of the games")


def add_timeout(parser: Parser) -> None:
    """Add ``--timeout``."""
    parser.add_argument(
        "--timeout",
        type=positive_seconds,
        default=TIMEOUT,
        metavar="SECONDS",
        help=f"time for an answer of an external bot (default {TIMEOUT:g})",
    )


def add_stopping_options(parser: Parser) -> None:
    """Add the options that say when a match ends before all games are played: ``stop``, one rule or None."""
    stopping = parser.add_mutually_exclusive_group()
    stopping.add_argument(
        "--sprt",
        dest="stop",
        type=sprt,
        metavar="H0,H1",
        help="stop when it is known whether the first bot is better: H0 and H1 are its mean placement minus 2 if it is "
        "not and if it is, as in 0,-0.02; H0,H1,ALPHA,BETA: with these probabilities of errors (default 0.05)",
    )
    stopping.add_argument(
        "--until",
        dest="stop",
        type=until,
        metavar="WIDTH",
        help="stop when the intervals of the placements have this half-width, as in 0.01",
    )


def add_report_options(parser: Parser) -> None:
    """Add the options that say what is shown and which files are written."""
    parser.add_argument(
        "--no-control-variates",
        dest="control_variates",
        action="store_false",
        help="show placements and final points as played, instead of without the luck of the walls",
    )
    parser.add_argument(
        "--statistics",
        action="store_true",
        help="print all statistics of how the bots play: wins, riichi and waits, deal-ins, draws, calls, by seat and "
        "dealer, yaku, decision times (--json has them in any case)",
    )
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write the statistics and the result of every game; missing folders are created",
    )
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="save every game as WALLSEED-ROTATION.mjson.gz")
    parser.add_argument(
        "--log",
        type=Path,
        metavar="FOLDER",
        help="log what external bots receive, reply and write to stderr: WALLSEED-ROTATION.log",
    )
    add_file_options(parser)
    parser.add_argument("--decisions", action="store_true", help="with --parquet: also write decisions.parquet")


def add_file_options(parser: Parser) -> None:
    """Add the options of the files that need the extra ``report``: ``html`` and ``parquet``."""
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="write a report: one page with tables and figures, which needs no other file; missing folders are created",
    )
    parser.add_argument(
        "--parquet",
        type=Path,
        metavar="FOLDER",
        help="write games.parquet and rounds.parquet, for pandas, polars or DuckDB; files of another run are replaced",
    )


def tenhou_walls(text: str) -> str:
    """Option type: ``tenhou:SEED``; returns the seed of a game on Tenhou."""
    from engine.tenhou_walls import key_of

    kind, _, tenhou_seed = text.partition(":")
    try:
        if kind != "tenhou":
            raise ValueError(f"{kind!r} walls are unknown: give tenhou:SEED, with what a record has in SHUFFLE seed")
        key_of(tenhou_seed)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return tenhou_seed


def sprt(text: str) -> Sprt:
    """Option type: the bounds of a test, and perhaps the probabilities of its errors."""
    from arena.stopping import Sprt

    try:
        values = [float(word) for word in text.split(",")]
        if len(values) not in (2, 4):
            raise ValueError("give two bounds, as in 0,-0.02, or these and two probabilities, as in 0,-0.02,0.05,0.05")
        return Sprt(*values)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None


def until(text: str) -> Until:
    """Option type: the half-width of intervals."""
    from arena.stopping import Until

    return Until(positive_number(text))
