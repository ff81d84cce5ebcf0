"""Plants faults in copies of the last commit, one at a time, and tells which of them the tests catch.

Each fault is a patch in a folder of tests/faults; its suites say which tests are run until one fails. A fault is caught
if a test fails that passes without it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from hashlib import blake2b
from pathlib import Path
from queue import SimpleQueue

from engine.common.files import write_atomically
from engine.common.options import Parser, check_output, describe_error, positive
from engine.common.program import FAILED, INTERRUPTED, OK, start
from tests.faults.copies import CAUGHT, DIED, TIMEOUT, UNRELIABLE, Copy, Result
from tests.faults.patches import REPOSITORY, Fault, chosen

TRIED_AGAIN = (TIMEOUT, DIED, UNRELIABLE)  # the machine may be why
EPILOG = """\
With --json FILE, what is finished is kept there: the same command goes on after an interruption, and tries again what
took too long or failed without the fault too. Uncommitted changes are not in the copies; patches and suites are those
of the working tree.

exit codes: 0 all faults were caught, 1 one was not, 2 bad arguments, 130 interrupted
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("tests.faults.run", description=__doc__, epilog=EPILOG)
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults or areas; default: all")
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="faults at a time, each in its own copy")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the results, and resume from them")
    return parser


def sources() -> str:
    """A hash of all that the last commit holds but the faults themselves."""
    listed = subprocess.run(["git", "ls-tree", "-r", "HEAD"], cwd=REPOSITORY, check=True, capture_output=True).stdout
    lines = [line for line in listed.splitlines() if b"\ttests/faults/" not in line]
    return blake2b(b"\n".join(lines), digest_size=8).hexdigest()


class Kept:
    """The results so far, in a file if there is one."""

    def __init__(self, path: Path | None) -> None:
        """Read the file. Raises ValueError if it has results of other sources, or none; OSError."""
        check_output("--json", path)
        self.path, self.sources = path, sources()
        self.results: dict[str, Result] = {}  # by the digests of the faults
        if path is None or not path.exists():
            return
        try:
            document = json.loads(path.read_bytes())
            of_sources, results = document["sources"], [Result(**row) for row in document["results"]]
        except (ValueError, LookupError, TypeError):
            raise ValueError(f"--json {path}: has no results of this program; name another file") from None
        if of_sources != self.sources:
            raise ValueError(f"--json {path}: has the results of other sources; name another file, or delete it")
        self.results = {result.digest: result for result in results if result.outcome not in TRIED_AGAIN}

    def add(self, result: Result) -> None:
        """Keep a result. Raises OSError."""
        self.results[result.digest] = result
        if self.path is not None:
            rows = [asdict(result) for result in sorted(self.results.values(), key=lambda row: (row.area, row.name))]
            with write_atomically(self.path) as file:
                file.write(json.dumps({"sources": self.sources, "results": rows}, indent=1).encode() + b"\n")


def try_all(faults: Sequence[Fault], jobs: int) -> Iterator[Result]:
    """What becomes of each fault, as it is known."""
    with ExitStack() as stack:
        copies: SimpleQueue[Copy] = SimpleQueue()
        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        for _ in range(min(jobs, len(faults))):
            copies.put(stack.enter_context(Copy()))
        stack.callback(pool.shutdown, wait=False, cancel_futures=True)  # before the copies go

        def work(fault: Fault) -> Result:
            copy = copies.get()
            try:
                return copy.try_fault(fault)
            finally:
                copies.put(copy)

        pending: set[Future[Result]] = {pool.submit(work, fault) for fault in faults}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            yield from (each.result() for each in done)


def table(results: Sequence[Result]) -> str:
    """The results by area."""
    rows = [("area", "planted", "caught", "seconds")]
    for area in [*sorted({result.area for result in results}), "all"]:
        of_area = [result for result in results if area in (result.area, "all")]
        caught = sum(result.outcome == CAUGHT for result in of_area)
        rows.append((area, str(len(of_area)), str(caught), f"{sum(result.seconds for result in of_area):.0f}"))
    return "\n".join(f"{area:<12} {planted:>7} {caught:>6} {seconds:>7}" for area, planted, caught, seconds in rows)


def run(faults: Sequence[Fault], kept: Kept, try_faults: Callable[[Sequence[Fault]], Iterator[Result]]) -> int:
    """Try the faults that have no result yet, print the table, and return the exit code."""
    missing = [fault for fault in faults if fault.digest not in kept.results]
    n_before = len(faults) - len(missing)
    if n_before:
        print(f"{n_before} of {len(faults)} faults have been tried before", file=sys.stderr)
    for number, result in enumerate(try_faults(missing), n_before + 1):
        kept.add(result)
        print(f"[{number}/{len(faults)}] {result}", flush=True)
    results = [kept.results[fault.digest] for fault in faults]
    print(table(results))
    texts = {fault.digest: fault.text for fault in faults}
    escaped = [result for result in results if result.outcome != CAUGHT]
    for result in escaped:
        print(f"{result}: {texts[result.digest]}")
    return FAILED if escaped else OK


def main(arguments: Sequence[str]) -> int:
    """Run the program and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    try:
        faults, kept = chosen(options.names), Kept(options.json)
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))
    try:
        return run(faults, kept, partial(try_all, jobs=options.jobs))
    except KeyboardInterrupt:
        again = "the same command goes on" if options.json else "with --json FILE, the same command goes on"
        print(f"interrupted; {again}", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(start("tests.faults.run:main"))
