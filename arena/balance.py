"""python -m arena balance: turns the strength dials of three bots until they are even."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.external import specs
from arena.options import add_game_options
from engine.common.options import Parser, three_bots

EPILOG = """\
Three bots are even if each finishes ahead of each other in half of the games. A step plays up to 8,000 games with the
same dials. After 1,000 the dials are corrected if some share is 60 % or more, after 2,000 if it is 58 % or more, after
4,000 if it is 56 % or more, and after 8,000 if the 95 % interval of any share does not contain 50 %. A correction
weakens each bot by half of its rating lead over the weakest; then all dials are raised by the same number of points
until the highest is at full strength, and a new step starts on other walls. If 8,000 games call for no correction, the
bots are even.

Bots need a scale (calibrate) unless they are the weakest; external bots have none. Those without one are named before
anything is played. A bot with a strength, as in
rule@-100, starts there.

With --json FILE, games are kept in FILE.partial until FILE is written. To resume an interrupted run, run the same
command again.

exit codes: 0 finished, 1 the run failed, or no dial can make the bots even, 2 bad arguments, 130 interrupted
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("arena balance", description=__doc__, epilog=EPILOG)
    parser.add_argument("--bots", type=three_bots, required=True, metavar="A,B,C", help="three bots, as in the arena")
    add_game_options(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every look at the games, and the bots found")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run the program and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    with parser.reporting():
        for bot in options.bots:
            specs.check(bot)
    from arena.balancing import start  # imported late: it loads numba, which the options do not need

    return start(parser, options)
