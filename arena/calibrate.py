"""python -m arena calibrate: measures how many points weaker a bot is at each setting of its strength dial."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents import registry
from agents.strength.spec import split_strength
from arena.options import n_games
from engine.common.options import Parser, seed

CHECK_EVERY = 100  # points

EPILOG = """\
The bot plays itself at settings of the dial from full strength to all random: softmax over its action values at rising
temperatures, then a rising share of random moves; a bot without action values has random moves alone. Matches of three
settings that lie 1, 2 and 4 apart, all on the same walls, are rated by the Plackett-Luce model, in which 400 points are
a factor of 10 in the odds of finishing ahead. The method is described in docs/strength.md.

The scale is kept with the bot: FOLDER/strength.json for NAME:FOLDER, FILE.NAME.strength.json for FILE.py:NAME, in the
package for a built-in bot. Then BOT@-300 is a bot of the arena, the client and the server.

To resume an interrupted run, run the same command again: games are kept next to the scale until it is written.

exit codes: 0 finished, 1 the run failed, 2 bad arguments, 130 interrupted
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("arena calibrate", description=__doc__, epilog=EPILOG)
    parser.add_argument("bot", metavar="BOT", help=f"{', '.join(registry.names())} or a bot in a file")
    parser.add_argument("--games", type=n_games, default=60_000, metavar="N", help="games of all matches together")
    parser.add_argument(
        "--check",
        action="store_const",
        const=CHECK_EVERY,
        help=f"check the existing scale by fresh games of BOT, BOT@-{CHECK_EVERY}, BOT@-{2 * CHECK_EVERY} …",
    )
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="with --check: points measured against asked for")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of all walls and bots (default 0)")
    return parser


def bot_at_full_strength(spec: str) -> str:
    """The bot to calibrate. Raises ValueError for one with a strength."""
    bot, strength = split_strength(spec)
    if strength is not None:
        raise ValueError(f"{spec}: name the bot at full strength, {bot}")
    return bot


def main(arguments: Sequence[str]) -> int:
    """Run the program and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    with parser.reporting():
        options.bot = bot_at_full_strength(options.bot)
        registry.check(options.bot)
    from arena.calibrating import start  # imported late: it loads numba, which the options do not need

    return start(parser, options)
