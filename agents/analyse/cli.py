"""python -m agents.analyse: what bots and the rules say about one position."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents import registry
from engine.common.options import Parser, check_output
from engine.rules import N_DRAWS, PRESETS, TENHOU

EPILOG = """\
examples:
  python -m agents.analyse 123p456s11z99m2256p --dora 3p --bot rule
  python -m agents.analyse 22340p67s --melds P555z --norths 1 --seat S --left 20
  python -m agents.analyse 123p456s11z99m2256p --rivers "9m_1s" "2z" "4z P1s 2s"

A hand is written in mpsz: 0 is a red five, 1-7z are E S W N, white, green, red; the last tile is the one just drawn. A
river has what a seat did in its turns, in order: 5s discards, 5s_ is the tile just drawn, R declares riichi, N sets a
north aside, P5s is pon, M5s daiminkan, A1z ankan, K5s kakan; 5s^ is a discard that is called, which is marked
where a later one could be meant. Without rivers the position is somewhere in a round whose discards nobody knows.

Losses are in placements; danger is the chance to deal in by the model of the bot rule; wins are scored without ippatsu,
ura dora and the last tile.
exit codes: 0 done, 2 bad arguments, 130 interrupted
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("agents.analyse", description=__doc__, epilog=EPILOG)
    parser.add_argument("hand", metavar="HAND", help="concealed tiles in mpsz; the last is the one just drawn")
    parser.add_argument("--seat", default="E", metavar="WIND", help="of the hand: E, S or W")
    parser.add_argument("--round", default="E1", metavar="ROUND", help="E1 to W3")
    parser.add_argument("--honba", type=int, default=0, metavar="N", help="honba")
    parser.add_argument(
        "--scores",
        metavar="E,S,W",
        help="points of the three seats; what they lack to 105,000 are riichi sticks (default: 35,000 each)",
    )
    parser.add_argument("--dora", default="5z", metavar="TILES", help="dora indicators")
    parser.add_argument("--rivers", nargs=3, metavar=("E", "S", "W"), default=("", "", ""), help="of the three seats")
    parser.add_argument("--melds", default="", metavar="MELDS", help="of the hand, without rivers: P555z A1111p")
    parser.add_argument("--norths", type=int, default=0, metavar="N", help="set aside, without rivers")
    parser.add_argument("--left", type=int, metavar="N", help=f"draws left, without rivers; {N_DRAWS - 1}: no turn yet")
    parser.add_argument("--rules", default=TENHOU.name, metavar="NAME", help=f"{' or '.join(PRESETS)}")
    parser.add_argument("--length", default="hanchan", metavar="LENGTH", help="hanchan or east")
    parser.add_argument(
        "--bot",
        action="append",
        metavar="BOT",
        help="a bot with action values, such as bert, rule, bert:FOLDER; may be given again (default bert)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the analysis as JSON")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Analyse, print or write, and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    options.bot = [*dict.fromkeys(options.bot or ["bert"])]
    with parser.reporting():
        check_output("--json", options.json)
        for spec in options.bot:
            registry.check(spec)
    from agents.analyse.running import run  # only now: it takes numba, which the options do not need

    return run(parser, options)
