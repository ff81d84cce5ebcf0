"""What ``python -m agents.analyse`` does: reads a position, analyses it, prints or writes the analysis."""

from __future__ import annotations

import argparse
import json

from agents.analyse.analysis import analyse
from agents.analyse.report import print_analysis
from agents.registry import make
from engine.common.files import write_atomically
from engine.common.options import Parser, notes_stream
from engine.common.program import OK
from engine.common.screen import screen
from engine.positions.position import Position

FIELDS = ("hand", "seat", "round", "honba", "dora", "melds", "norths", "left", "rules", "length")


def run(parser: Parser, options: argparse.Namespace) -> int:
    """Analyse, print or write, and return the exit code."""
    with parser.reporting(ValueError, OSError):
        fields = {name: getattr(options, name) for name in FIELDS}
        scores = scores_in(options.scores)
        position = Position(**fields, scores=scores, rivers=tuple(options.rivers))
        analysis = analyse(position, {spec: make(spec) for spec in options.bot})
        if options.json is not None:
            text = json.dumps(analysis.as_json(), ensure_ascii=False, separators=(",", ":"))
            with write_atomically(options.json) as file:
                file.write(f"{text}\n".encode())
    if options.json is None:
        print_analysis(analysis, screen())
    else:
        print(f"wrote {options.json}", file=notes_stream(options.json))
    return OK


def scores_in(text: str | None) -> tuple[int, int, int] | None:
    """The numbers in ``--scores``; `Position` checks how many there are. Raises ValueError."""
    if text is None:
        return None
    try:
        first, second, third = (int(score) for score in text.split(","))
    except ValueError:
        raise ValueError(f"scores: give three numbers, as in 25000,35000,45000, not {text!r}") from None
    return first, second, third
