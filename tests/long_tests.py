"""python -m tests.long_tests: the tests marked long, one at a time, with a line each.

They take an hour, or measure times and need a machine on which nothing else runs: all attacks within strict limits,
oracles at length, strength, learning. To be run before a release, and after changes of what they test.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.common.files import write_atomically
from engine.common.options import Parser
from engine.common.program import FAILED, INTERRUPTED, OK, start

REPOSITORY = Path(__file__).parents[1]


def digest() -> str:
    """A hash of all files that git knows of, as they are now."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, check=True, capture_output=True).stdout
    found = hashlib.sha256()
    for name in listed.decode().split("\0"):
        if (path := REPOSITORY / name).is_file():
            found.update(f"{name} ".encode() + path.read_bytes())
    return found.hexdigest()


class Lines:
    """A plugin of pytest: prints a line for each test, and leaves out those that have passed before.

    ``file`` holds the names of tests that have passed, and the digest of all files that they passed with; None:
    nothing is kept.
    """

    def __init__(self, file: Path | None) -> None:
        self.passed: list[str] = []
        self._file, self._sources = file, digest()
        self.broken = False  # whether a module of tests cannot be imported
        self._seconds, self._left = 0.0, 0
        if file is not None and file.exists():
            kept = json.loads(file.read_text(encoding="utf-8"))
            self.passed = kept["passed"] if kept["sources"] == self._sources else []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Say which tests cannot be collected, and why."""
        if report.failed:
            self.broken = True
            print(f"FAILED {report.nodeid}\n{report.longreprtext}", flush=True)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out what has passed."""
        done = [item for item in items if item.nodeid in self.passed]
        config.hook.pytest_deselected(items=done)
        items[:] = [item for item in items if item not in done]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Say how many tests there are."""
        self._left = len(session.items)
        print(f"{self._left} tests to run; {len(self.passed)} have passed before", flush=True)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print the line of a test that has ended."""
        self._seconds += report.duration
        if report.failed:
            print(f"FAILED {report.nodeid}\n{report.longreprtext}", flush=True)
        elif report.skipped and isinstance(report.longrepr, tuple):
            print(f"skipped: {report.longrepr[2].removeprefix('Skipped: ')}", flush=True)
        elif report.when == "call" and report.passed:
            self.passed.append(report.nodeid)
            if self._file is not None:
                kept = {"sources": self._sources, "passed": self.passed}
                with write_atomically(self._file) as file:
                    file.write(json.dumps(kept, indent=1).encode())
        if report.when == "teardown":
            self._left -= 1
            print(f"{self._seconds:7.1f} s, {self._left} left: {report.nodeid}", flush=True)
            self._seconds = 0.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests and return the exit code of pytest."""
    parser = Parser("tests.long_tests", description=__doc__)
    parser.add_argument("tests", nargs="*", help="folders, files or tests (default: all that are marked long)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep in FILE what has passed, to go on from there")
    options = parser.parse_args(arguments)
    lines = Lines(options.json)
    settings = ["-o", "addopts=--import-mode=importlib", "-p", "no:terminal", "-p", "no:cacheprovider", "-m", "long"]
    code = pytest.main([*settings, *options.tests], plugins=[lines])
    if code == pytest.ExitCode.NO_TESTS_COLLECTED and lines.passed:
        return OK
    if lines.broken:
        return FAILED
    return INTERRUPTED if code == pytest.ExitCode.INTERRUPTED else int(code)


if __name__ == "__main__":
    sys.exit(start("tests.long_tests:main"))
