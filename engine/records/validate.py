"""Many record files checked against the rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from engine.common.workers import run_tasks, stateless
from engine.records.files import read_records
from engine.records.model import GameRecord, RecordError
from engine.records.replay import Replay
from engine.rules import TENHOU, Rules, preset

AUTO = "auto"


@dataclass
class Report:
    """What checking files has found: `faults` has a line for each mismatch and each broken file."""

    n_rounds: int
    n_decisions: int
    faults: list[str]


def rules_for(record: GameRecord, name: str = AUTO) -> Rules:
    """The rules to check a record by: as it tells, else Tenhou's; or the preset `name` with its length and reds."""
    told = record.rules or TENHOU
    return told if name == AUTO else replace(preset(name, told.length), red_fives=told.red_fives)


def check_file(path: Path, rules: str = AUTO) -> Report:
    """Replay the game in a file. A file that cannot be read or replayed to its end is a fault as well."""
    try:
        record = read_records(path)
    except RecordError as error:
        return Report(0, 0, [f"{path}: {error.place}: {error.what}"])
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
    """A report for each file, in order. More than one job: that many worker processes (`engine.common.workers`)."""
    check = stateless(partial(_check_numbered, rules=rules))
    early: dict[int, Report] = {}  # reports of files that were checked before an earlier one
    n_given = 0
    for number, report in run_tasks(check, list(enumerate(paths)), 0 if jobs == 1 else jobs):
        early[number] = report
        while n_given in early:
            yield early.pop(n_given)
            n_given += 1


def _check_numbered(task: tuple[int, Path], rules: str) -> Iterator[tuple[int, Report]]:
    number, path = task
    yield number, check_file(path, rules)
