"""python -m benchmarks.records: how fast records are validated, from an archive and from plain files.

The archive holds copies of real hanchan (tests/data/records). On one core it is measured in turn with the same records
as plain files, replayed one after another, by processor time, so that other programs do not count. On all cores wall
time is measured, including the start of the processes.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.timing import ROUNDS
from engine.common.options import Parser, positive, usable_cores
from engine.common.program import OK
from engine.records.archives import members
from engine.records.filters import ANY
from engine.records.packing import WRITERS
from engine.records.validate import check_all, check_file
from engine.warm_up import warm_up_imported

RECORDS = Path(__file__).resolve().parents[2] / "tests" / "data" / "records"
FORMATS = (".tar.zst", ".tar.gz", ".zip")


def write_archive(path: Path, copies: int) -> None:
    """Write an archive of that many copies of the real hanchan."""
    writer = WRITERS["." + path.name.partition(".")[2]](path, 0)
    for copy in range(copies):
        for record in hanchan():
            writer.add(f"{copy}/{record.name}", record.read_bytes())
    writer.finish()


def hanchan() -> list[Path]:
    """The real hanchan of Tenhou."""
    return sorted(RECORDS.glob("phoenix_*"))


def measure_rate(work: Callable[[], int], clock: Callable[[], float] = time.process_time) -> float:
    """Return the records per second of one run; on one core by processor time, so that other programs do not count."""
    start = clock()
    n = work()
    return n / (clock() - start)


def count_valid(path: Path, jobs: int) -> int:
    """Validate an archive; returns the number of records."""
    reports = [report for _, report in check_all(members([path]), ANY, jobs=jobs)]
    assert all(report.is_clean for report in reports)
    return len(reports)


def plain(copies: int) -> int:
    """Validate the records as plain files, as often as they are in the archive."""
    reports = [check_file(path) for _ in range(copies) for path in hanchan()]
    assert all(report.is_clean for report in reports)
    return len(reports)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = Parser("benchmarks.records", description=__doc__)
    parser.add_argument(
        "--copies", type=positive, default=10, metavar="N", help="of each of the records, in an archive"
    )
    options = parser.parse_args(arguments)
    cores = usable_cores()
    warm_up_imported()
    table = Table("records/s", "archive, 1 core", "plain files, 1 core", "ratio", f"archive, {cores} cores", box=None)
    with tempfile.TemporaryDirectory() as folder:
        for ending in FORMATS:
            path = Path(folder) / f"a{ending}"
            write_archive(path, options.copies)
            sides: list[tuple[float, float]] = []
            for _ in range(ROUNDS):
                sides.append((measure_rate(lambda: count_valid(path, 1)), measure_rate(lambda: plain(options.copies))))  # noqa: B023
            archive, files = (statistics.median(side) for side in zip(*sides, strict=True))
            parallel = measure_rate(lambda: count_valid(path, cores), time.perf_counter)  # noqa: B023
            table.add_row(ending, f"{archive:,.0f}", f"{files:,.0f}", f"{archive / files:.2f}", f"{parallel:,.0f}")
    Console(width=100).print(table)
    print(f"{len(hanchan())} hanchan, {options.copies} times in each archive; medians of {ROUNDS} runs")
    return OK
