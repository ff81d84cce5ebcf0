"""python -m agents.search: fits the model of hidden hands that the bot search samples its worlds from."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from agents import registry
from engine.common.options import Parser, check_output, describe_error, positive, three_bots
from engine.common.program import BAD_ARGUMENTS, FAILED, INTERRUPTED, OK


def fit_parser() -> Parser:
    """The options of ``fit``."""
    parser = Parser("agents.search fit", description="Fit the model to games, in a minute.")
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="the weights of the model, a NumPy archive")
    add("--selfplay", type=three_bots, default="rule,rule,rule", metavar="A,B,C", help="the bots that play")
    add("--games", type=positive, default=600, metavar="N", help="games to fit to")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    epilog = "fit  fit the model to games\n\npython -m agents.search fit --help shows its options."
    parser = Parser("agents.search", description=__doc__, epilog=epilog)
    parser.add_argument("command", choices=["fit"], metavar="COMMAND", help="the one below")
    words = sys.argv[1:] if arguments is None else list(arguments)
    parser.parse_args(words[:1])
    options = fit_parser().parse_args(words[1:])
    try:
        return fit(options.file, options.selfplay, options.games)
    except (ValueError, OSError) as error:
        print(f"agents.search: {describe_error(error)}", file=sys.stderr)
        return BAD_ARGUMENTS if isinstance(error, ValueError) else FAILED


def fit(path: Path, bots: tuple[str, ...], games: int) -> int:
    """Run ``fit``. Raises ValueError or OSError."""
    check_output("FILE", path)
    for bot in bots:
        registry.check(bot)
    from agents.search import fit as fitting  # imported late: these load numba, which the options do not need
    from agents.search.model import save_model
    from engine.common.progress import Progress

    with Progress("steps", 1 + fitting.ROUNDS) as progress:
        try:
            for text, model in fitting.fit(bots, games, seed=0):
                found = model
                progress.print(text)
                progress.advance(1)
        except KeyboardInterrupt:
            progress.print("stopped; nothing is written")
            return INTERRUPTED
    save_model(path, found)
    print(f"{path} holds the model")
    return OK
