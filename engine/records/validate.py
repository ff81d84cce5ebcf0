"""Check many record files against the rules."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from engine.records.files import read_records
from engine.records.model import GameRecord, RecordError
from engine.records.replay import Replay
from engine.rules import TENHOU, Rules, preset

AUTO = "auto"


@dataclass
class Report:
    """The result of checking a file: `faults` has a line for each mismatch, or for a broken file."""

    n_rounds: int
    n_decisions: int
    faults: list[str]


def rules_for(record: GameRecord, name: str = AUTO) -> Rules:
    """The rules to check a record with: its own, else Tenhou's; or the preset `name` with its length and red fives."""
    recorded = record.rules or TENHOU
    if name == AUTO:
        return recorded
    return replace(preset(name, recorded.length), red_fives=recorded.red_fives)


def check_file(path: Path, rules: str = AUTO) -> Report:
    """Replay the game in a file. A file that cannot be read, or not replayed to the end, is reported as a fault."""
    try:
        record = read_records(path)
    except RecordError as error:
        return Report(0, 0, [f"{path}: {error.location}: {error.what}"])
    except OSError as error:
        return Report(0, 0, [f"{path}: {error.strerror}"])
    record.source = str(path)
    replay = Replay(record, rules_for(record, rules))
    broken: list[str] = []
    try:
        replay.check()
    except RecordError as error:
        broken = [str(error)]
    return Report(replay.n_rounds, replay.n_decisions, [*map(str, replay.mismatches), *broken])


def check_files(paths: list[Path], rules: str = AUTO, jobs: int = 1) -> Iterator[Report]:
    """Check the files in `jobs` processes; yields a report for each, in order."""
    check = partial(check_file, rules=rules)
    if jobs == 1:
        yield from map(check, paths)
        return
    yield from map(check, paths[:1])  # compiles the rules if necessary, before several processes do so at once
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(check, paths[1:], chunksize=8)
