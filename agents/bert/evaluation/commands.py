"""python -m agents.bert evaluate: how well a network predicts, on games held out and on those of real players."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress

from agents.bert.evaluation.real import WAHAHA_ACCURACY, WAHAHA_LOSS, Real, evaluate_real
from agents.bert.evaluation.report import Report
from agents.bert.evaluation.validation import HeldOut, choose, evaluate_held_out
from agents.bert.inference import DEVICES, Predictor, load
from agents.bert.training.data.dataset import Dataset
from engine.common.options import Parser, positive
from engine.records.files import find_records

FINISHED, INTERRUPTED = 0, 130
TABLE_WIDTH = 100  # columns where the output is no terminal
POSITIONS = 50_000

EPILOG = """\
With --data: accuracy and loss on games that training leaves out, label by label; how far the probabilities of
finishing first, second and third, and the expected final points, can be taken at their word. Positions of one game
have one outcome, so that what is said of outcomes is as uncertain as the number of games makes it.

With --records: how often the network would have done what real players did, wherever more than one label was legal,
and beside it how often the rule bot would. No records come with this project: without --records this part is left
out. For comparison stands what is published of wahaha's network. It has learned from 20,000 games of the archive it was
tested on, where one that has learned from games of bots has seen none; and its count is without the discards that
follow a pon or a riichi.

± is half the width of the 95 % interval if all positions were independent.
right, % of played     of the positions where the label was played, those where it was predicted
right, % of predicted  of the positions where it was predicted, those where it was played
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser(
        "agents.bert evaluate",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path, metavar="MODEL_FOLDER", help="with config.json and model.safetensors")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="training files, of which the games held out count")
    parser.add_argument(
        "--records",
        type=Path,
        nargs="+",
        action="extend",
        metavar="PATH",
        help="real games: record files, or folders of them",
    )
    parser.add_argument(
        "--positions",
        type=positive,
        default=POSITIONS,
        metavar="N",
        help=f"of the games held out, at most (default {POSITIONS:,}); the same ones every time",
    )
    parser.add_argument("--device", choices=DEVICES, default=DEVICES[0], help=f"default {DEVICES[0]}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluate, print, and return the exit code."""
    parser = make_parser()
    given = parser.parse_args(arguments)
    if given.data is None and given.records is None:
        parser.error("give --data FOLDER, --records PATH … or both: what the network is to be tried on")
    notes = Console(stderr=True)
    try:
        held_out, real = evaluate(given, notes)
        print_report(held_out, real)
        if given.json is not None:
            given.json.write_text(json.dumps(as_json(given.model, held_out, real), indent=1) + "\n")
    except OSError as error:
        parser.error(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except ValueError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        notes.print("agents.bert evaluate: interrupted", highlight=False)
        return INTERRUPTED
    return FINISHED


def evaluate(given: argparse.Namespace, notes: Console) -> tuple[HeldOut | None, Real | None]:
    """The figures asked for, with a bar meanwhile. Raises ValueError and OSError for what cannot be read."""
    net = load(given.model, given.device)
    held_out = real = None
    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal) as bar:
        if given.data is not None:
            held_out = on_held_out(net, given.data, given.positions, bar)
        if given.records is not None:
            real = on_records(net, given.records, bar)
    return held_out, real


def on_held_out(net: Predictor, folder: Path, n: int, bar: Progress) -> HeldOut:
    """Figures of at most `n` positions held out."""
    data = Dataset(folder, held_out=True)
    places = choose(data, n)
    task = bar.add_task("games held out", total=len(places))
    return evaluate_held_out(net, data, places, lambda done: bar.advance(task, done))


def on_records(net: Predictor, paths: Sequence[Path], bar: Progress) -> Real:
    """Figures of the games recorded in files and folders."""
    files = find_records(paths)
    if not files:
        raise ValueError(f"no game records in {', '.join(map(str, paths))}")
    task = bar.add_task("real games", total=len(files))

    def complain(line: str) -> None:
        bar.console.print(line, soft_wrap=True, highlight=False, markup=False)

    return evaluate_real(net, files, lambda: bar.advance(task), complain)


def print_report(held_out: HeldOut | None, real: Real | None) -> None:
    """Print what there is on stdout."""
    screen = Console()
    if not screen.is_terminal:
        screen.width = TABLE_WIDTH
    report = Report(screen)
    if held_out is not None:
        report.held_out(held_out)
    if real is not None:
        report.real(real)


def as_json(model: Path, held_out: HeldOut | None, real: Real | None) -> dict[str, Any]:
    """All figures, None for those not asked for."""
    return {
        "model": str(model),
        "held_out": None if held_out is None else asdict(held_out),
        "real": None if real is None else asdict(real),
        "wahaha": {"accuracy": WAHAHA_ACCURACY, "loss": WAHAHA_LOSS},
    }
