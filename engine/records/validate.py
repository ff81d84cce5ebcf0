"""Check many records against the rules."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from engine.common.options import printable
from engine.records.archives import Member
from engine.records.files import read_records
from engine.records.filters import Filters
from engine.records.model import FourPlayersError, GameRecord, RecordError, with_rules_of
from engine.records.options import AUTO
from engine.records.replay import Replay
from engine.records.stream import Item, in_order, select_record


@dataclass
class Report:
    """The result of checking records. `faults` has a line for each mismatch, contradiction and damaged record."""

    n_records: int = 0
    n_rounds: int = 0
    n_decisions: int = 0
    n_mismatches: int = 0  # where the record and the rules differ
    n_contradictions: int = 0  # where the record contradicts itself
    n_damaged: int = 0  # records that cannot be read, or not to the end
    n_four_players: int = 0  # games of four, which cannot be read
    n_left_out: int = 0  # by the filters
    n_true_walls: int = 0  # rounds whose deal, draws and indicators are those of the record's seed
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # of records that were read, apart from faults

    @property
    def is_clean(self) -> bool:
        """Whether every record was read and agrees with the rules and itself."""
        return not (self.n_mismatches or self.n_contradictions or self.n_damaged or self.n_four_players)

    def counts(self) -> dict[str, int]:
        """The counts by their names."""
        return {name: value for name, value in asdict(self).items() if name not in ("faults", "notes")}

    def add(self, other: Report) -> None:
        """Add the counts of another report, without its faults and notes."""
        self.count(other.counts())

    def count(self, counts: dict[str, int]) -> None:
        """Add the counts of a report."""
        for name in self.counts():
            setattr(self, name, getattr(self, name) + counts[name])

    def __str__(self) -> str:
        """Return a one-line summary; rare counts are omitted if zero."""
        counts = [f"files {self.n_records}", f"rounds {self.n_rounds}", f"decisions {self.n_decisions}"]
        counts.append(f"mismatches {self.n_mismatches}")
        rare = (
            ("contradictions", self.n_contradictions),
            ("damaged", self.n_damaged),
            ("games of four", self.n_four_players),
            ("left out", self.n_left_out),
            ("walls as by the seed", self.n_true_walls),
        )
        return " · ".join([*counts, *(f"{name} {count}" for name, count in rare if count)])


def check_file(path: Path, rules: str = AUTO) -> Report:
    """Replay the game in a file. A file that cannot be read or replayed to the end is reported as damaged."""
    try:
        return check_record(with_rules_of(read_records(path), rules), str(path))
    except RecordError as error:
        return unreadable(error, str(path))
    except OSError as error:
        return unreadable(RecordError(str(path), "file", error.strerror or str(error)), str(path))


def check_record(record: GameRecord, name: str) -> Report:
    """Replay a game; `name` identifies it in the lines."""
    record.source = name
    replay = Replay(record)
    broken: list[str] = []
    try:
        replay.check()
    except RecordError as error:
        broken = [str(error)]
    return Report(
        1,
        replay.n_rounds,
        replay.n_decisions,
        len(replay.mismatches),
        len(replay.contradictions),
        len(broken),
        faults=[*map(str, replay.mismatches), *map(str, replay.contradictions), *broken],
        n_true_walls=replay.walls.n_true,
        notes=[*record.notes, *filter(None, [replay.walls.note])],
    )


def unreadable(error: RecordError, name: str) -> Report:
    """The report of a record that cannot be read."""
    is_of_four = isinstance(error, FourPlayersError)
    line = f"{printable(name)}: {error.location}: {error.what}"
    return Report(1, n_damaged=int(not is_of_four), n_four_players=int(is_of_four), faults=[line])


def check_all(found: Iterable[Member], filters: Filters, jobs: int = 1) -> Generator[tuple[Item, Report]]:
    """Yield a report for each `found` record, in order."""
    return in_order(partial(check_item, filters=filters), found, filters, jobs)


def check_item(item: Item, filters: Filters) -> Report:
    """The report of one record of an archive."""
    try:
        record = select_record(item, filters)
    except RecordError as error:
        return unreadable(error, item.name)
    return Report(n_left_out=1) if record is None else check_record(record, item.name)
