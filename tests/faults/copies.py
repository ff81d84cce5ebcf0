"""A copy of the repository's last commit, into which a fault is planted, and whose tests are then run."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Self

import pytest

from tests.faults.patches import REPOSITORY, Fault
from tests.faults.suites import PLAIN, SUITES

LIMIT = 600.0  # seconds that the tests of a fault may take
APPLY = ("git", "apply", "-C1")  # with a line of context a patch still fits when lines near it change
CAUGHT, MISSED, BROKEN = "caught", "missed", "patch does not apply"
# What is neither: a module that cannot be imported, a test that fails without the fault too, no end within LIMIT, and
# a process that died.
NOT_COLLECTED, UNRELIABLE, TIMEOUT, DIED = "not collected", "unreliable", "timeout", "died"
# Compiles what the machine's cache lacks of the last commit, and prints the names of its files.
WARM_UP = """\
import contextlib, sys
from engine import kernel_registry, warm_up
with contextlib.redirect_stdout(sys.stderr):
    code = warm_up.main([])
print(*kernel_registry.cached_files(), sep="\\n")
sys.exit(code)
"""


@dataclass(frozen=True)
class Run:
    """A run of tests: its first failure, if any (`tests.faults.reporter`), or why it has not ended."""

    test: str = ""
    when: str = ""
    outcome: str = ""  # TIMEOUT or DIED, else ""


PASSED = Run()


@dataclass(frozen=True)
class Result:
    """What became of a planted fault. `test`: the first that failed; `seconds`: until then."""

    area: str
    name: str
    outcome: str
    test: str
    seconds: float
    digest: str  # of the fault

    def __str__(self) -> str:
        by = f" by {self.test}" if self.outcome == CAUGHT else f" ({self.test})" if self.test else ""
        return f"{self.area}/{self.name}: {self.outcome}{by}, {self.seconds:.0f} s"


class Copy:
    """A copy of HEAD in a temporary folder, with a compile cache of its own. The working tree is never touched."""

    def __init__(self) -> None:
        self._temporary = TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True)
        folder = Path(self._temporary.name).resolve()
        self.folder, self._cache, self._report = folder / "copy", folder / "cache", folder / "report.json"
        self._process: subprocess.Popen[bytes] | None = None
        self._passes: dict[str, bool] = {}  # test -> whether it passes without a fault
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=REPOSITORY, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(self.folder, filter="data")
        self._environment = os.environ | {
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",  # what is planted may have the size and the second of what it replaces
            "FAULTS_REPORT": str(self._report),
        }
        command = [sys.executable, "-c", WARM_UP]
        cached = subprocess.run(command, cwd=self.folder, env=self._environment, check=True, stdout=subprocess.PIPE)
        self._environment["NUKIDORA_CACHE"] = str(self._cache)
        self._cache.mkdir()
        for path in map(Path, cached.stdout.decode().splitlines()):
            shutil.copy2(path, self._cache)
        self._cached = set(self._cache.iterdir())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
        self._temporary.cleanup()

    def try_fault(self, fault: Fault) -> Result:
        """Plant a fault, run its suites until a test fails, and take it out again."""
        began, run, outcome = monotonic(), PASSED, BROKEN
        with self._planted(fault.diff) as planted:
            if planted:
                run = next((run for run in map(self._run_suite, fault.suites) if run != PASSED), PASSED)
        seconds = monotonic() - began
        if planted:
            outcome = self._judge(run)
        return Result(fault.area, fault.name, outcome, run.test, round(seconds, 1), fault.digest)

    def _judge(self, run: Run) -> str:
        """The outcome of a run with a fault, which has been taken out again."""
        if run == PASSED:
            return MISSED
        if run.outcome or run.when == "collect":
            return run.outcome or NOT_COLLECTED
        if run.test not in self._passes:
            self._passes[run.test] = self._test([run.test]) == PASSED
        return CAUGHT if self._passes[run.test] else UNRELIABLE

    @contextmanager
    def _planted(self, diff: str) -> Iterator[bool]:
        """Plant a fault while the block runs; gives whether that was possible."""
        planted = self._apply(diff) == 0
        try:
            yield planted
        finally:
            if planted and self._apply(diff, "--reverse"):
                raise RuntimeError(f"a fault cannot be taken out of {self.folder} any more")
            for path in set(self._cache.iterdir()) - self._cached:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _apply(self, diff: str, *options: str) -> int:
        command = [*APPLY, *options, "-"]
        return subprocess.run(command, cwd=self.folder, input=diff.encode(), stderr=subprocess.DEVNULL).returncode

    def _run_suite(self, suite: str) -> Run:
        """Run the tests of a suite until one fails."""
        found = [str(path) for pattern in SUITES[suite] for path in sorted(self.folder.glob(pattern))]
        if not found:
            raise RuntimeError(f"the last commit has no tests {' '.join(SUITES[suite])} (tests/faults/suites.py)")
        return self._test(found, NUMBA_DISABLE_JIT="1") if suite in PLAIN else self._test(found)

    def _test(self, tests: Sequence[str], **variables: str) -> Run:
        """Run tests until one fails, with more variables of the environment."""
        self._report.unlink(missing_ok=True)
        options = ["-x", "-q", "-m", "not long", "-p", "no:cacheprovider", "-p", "tests.faults.reporter"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=self.folder,
            env=self._environment | variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            if self._process.wait(LIMIT) == pytest.ExitCode.NO_TESTS_COLLECTED:
                raise RuntimeError(f"the last commit has no tests in {' '.join(tests)} (tests/faults/suites.py)")
        except subprocess.TimeoutExpired:
            return Run(outcome=TIMEOUT)
        finally:
            self.kill()
        try:
            report: dict[str, Any] = json.loads(self._report.read_bytes())
        except FileNotFoundError:
            return Run(outcome=DIED)
        if report["foreign"]:
            raise RuntimeError(f"{report['foreign'][0]} was not imported from the copy in {self.folder}")
        return Run(report["test"], report["when"])

    def kill(self) -> None:
        """End the tests that run, with whatever they have started."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None
