"""python -m arena ladder: the league of all built-in bots, and a page that ranks them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.built_in import BUILT_IN
from agents.external import specs
from agents.registry import names
from arena.leagues.cli import HOW
from arena.options import n_games
from engine.common.options import Parser, bots_of

GAMES = 30_000
SLOW = frozenset(name for name, bot in BUILT_IN.items() if bot.slow)  # they play only if --bots names them

EPILOG = f"""\
{HOW}
This is python -m arena league, of hanchan by Tenhou's rules, with a page, and with games of each bot against itself
that measure how fast it decides. If human plays, which imitates people, each bot also plays 900 games against two of
it, whose results are kept in FILE.BOT.json (without the .json of FILE). FILE is a league: to resume an interrupted one,
run the same command again; with another bot in --bots, only games with that bot are played.

exit codes: 0 finished, 1 the league failed, or a bot failed in every game, 2 bad arguments, 130 interrupted
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("arena ladder", description=__doc__, epilog=EPILOG)
    known = ",".join(name for name in names() if name not in SLOW)
    parser.add_argument("--bots", type=bots_of, default=bots_of(known), metavar="A,B,…", help=f"default: {known}")
    parser.add_argument(
        "--games", type=n_games, default=GAMES, metavar="N", help="about how many games are played in all"
    )
    parser.add_argument("--json", type=Path, required=True, metavar="FILE", help="the league")
    parser.add_argument("--output", "-o", type=Path, required=True, metavar="PAGE", help="the page, in Markdown")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Play what is missing, write the page, and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    with parser.reporting():
        for bot in options.bots:
            specs.check(bot)
    from arena.ladder.running import start  # imported late: it loads numba, which the options do not need

    return start(parser, options, arguments)
