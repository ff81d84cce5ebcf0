"""The command ``python -m agents.bert evaluate``: measures how well a network predicts."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from agents.bert.evaluation.records import RecordMetrics, evaluate_records
from agents.bert.evaluation.report import Report
from agents.bert.evaluation.validation import ValidationMetrics, choose_samples, evaluate_validation
from agents.bert.evaluation.wahaha import WAHAHA_ACCURACY, WAHAHA_LABELS, WAHAHA_LOSS
from agents.bert.inference import Predictor, load
from agents.bert.next_steps import arena_command, print_outcome
from agents.bert.training.data.dataset import Dataset
from engine.common.files import write_atomically
from engine.common.options import Parser, check_output
from engine.common.program import OK
from engine.common.progress import Progress
from engine.common.screen import screen
from engine.records.archives import find_records, members


def run(parser: Parser, options: argparse.Namespace) -> int:
    """Evaluate, print, and return the exit code."""
    if options.data is None and options.records is None:
        parser.error("nothing to evaluate on: give --data FOLDER, --records PATH … or both")
    console = Console(stderr=True)
    with parser.reporting(ValueError, OSError):
        check_output("--json", options.json)
        validation, records = evaluate(options, console)
        print_report(validation, records)
        if options.json is not None:
            with write_atomically(options.json) as file:
                file.write(json.dumps(as_json(options.model, validation, records), indent=1).encode() + b"\n")
    outcome = f"measured {options.model}" if options.json is None else f"wrote {options.json}"
    print_outcome(outcome, arena_command(options.model))
    return OK


def evaluate(options: argparse.Namespace, console: Console) -> tuple[ValidationMetrics | None, RecordMetrics | None]:
    """The metrics asked for, with a progress bar. Raises ValueError and OSError for what cannot be read."""
    predictor = load(options.model)
    validation = records = None
    if options.data is not None:
        validation = on_validation_games(predictor, options.data, options.samples, console)
    if options.records is not None:
        records = on_recorded_games(predictor, options.records, console)
    return validation, records


def on_validation_games(predictor: Predictor, folder: Path, n: int, console: Console) -> ValidationMetrics:
    """Metrics of at most `n` validation samples."""
    data = Dataset(folder, validation=True)
    indices = choose_samples(data, n)
    with Progress("samples", len(indices), console=console) as progress:
        return evaluate_validation(predictor, data, indices, progress.advance)


def on_recorded_games(predictor: Predictor, paths: Sequence[Path], console: Console) -> RecordMetrics:
    """Metrics of the games recorded in files, archives and folders."""
    files = find_records(paths)
    n_games = sum(1 for _ in members(files))
    if not n_games:
        raise ValueError(f"no game records in {', '.join(map(str, paths))}")
    with Progress("games", n_games, console=console) as progress:
        return evaluate_records(predictor, files, progress.advance, progress.print)


def print_report(validation: ValidationMetrics | None, records: RecordMetrics | None) -> None:
    """Print the metrics there are on stdout."""
    report = Report(screen())
    if validation is not None:
        report.validation(validation)
    if records is not None:
        report.records(records)


def as_json(model: Path, validation: ValidationMetrics | None, records: RecordMetrics | None) -> dict[str, Any]:
    """All metrics, None for those not asked for."""
    return {
        "model": str(model),
        "validation": None if validation is None else asdict(validation),
        "records": None if records is None else asdict(records),
        "wahaha": {
            "accuracy": WAHAHA_ACCURACY,
            "loss": WAHAHA_LOSS,
            "labels": [asdict(each) for each in WAHAHA_LABELS],
        },
    }
