"""What ``python -m agents.review`` does: reads a record, reviews a seat, prints or writes the review."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.registry import make
from agents.review import mjai_reviewer
from agents.review.decisions import SeatDecisions, seat_decisions
from agents.review.opinions import check_reviewer
from agents.review.page import page
from agents.review.report import print_review
from agents.review.review import Review, make_review
from engine.common.files import write_atomically
from engine.common.options import Parser, describe_error, notes_stream, printable
from engine.common.program import FAILED, OK
from engine.common.progress import Progress
from engine.common.screen import screen
from engine.records.files import RecordError, read_records


def run(parser: Parser, options: argparse.Namespace, for_mjai_reviewer: bool) -> int:
    """Review, print or write, and return the exit code. ``for_mjai_reviewer``: ``--json`` has its format."""
    try:
        record = read_records(options.paths[0], allow_cut=True)
        for note in record.notes:
            print(f"{parser.short_name}: {printable(str(options.paths[0]))}: {note}", file=sys.stderr)
        decisions = seat_decisions(record, options.seat)
        review = with_progress(decisions, options.bot)
        files = files_of(review, options.html, options.json, for_mjai_reviewer)
        for path, text in files.items():
            with write_atomically(path) as file:
                file.write(text.encode())
    except RecordError as error:
        print(f"{parser.short_name}: {error}", file=sys.stderr)
        return FAILED
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))
    if not files:
        print_review(review, screen())
    for path in files:
        print(f"wrote {path}", file=notes_stream(*files))
    return OK


def with_progress(decisions: SeatDecisions, specs: Sequence[str]) -> Review:
    """The review, with a progress bar. Raises ValueError for a bot that cannot be made or cannot review."""
    bots = {spec: make(spec) for spec in specs}
    for spec, bot in bots.items():
        check_reviewer(bot, spec)
    with Progress("decisions", len(bots) * len(decisions.decisions)) as progress:
        return make_review(decisions, bots, progress.advance)


def files_of(review: Review, html: Path | None, plain: Path | None, for_mjai_reviewer: bool) -> dict[Path, str]:
    """The contents of the files to write. Raises ValueError where the files of the pages are missing."""
    files: dict[Path, str] = {}
    if plain is not None:
        document: Any = mjai_reviewer.document(review) if for_mjai_reviewer else review.as_json()
        files[plain] = json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"
    if html is not None:
        files[html] = page(review)
    return files
