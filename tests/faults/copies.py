"""A copy of the repository's last commit, into which a fault is planted, and whose tests are then run."""

from __future__ import annotations

import io
import json
import os
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

from tests.faults.patches import REPOSITORY, Fault

LIMIT = 600.0  # seconds that the tests of a fault may take
CAUGHT, MISSED, BROKEN = "caught", "missed", "patch does not apply"
# What is neither: a module that cannot be imported, a test that fails without the fault too, no end within LIMIT, and
# a process that died.
NOT_COLLECTED, UNRELIABLE, TIMEOUT, DIED = "not collected", "unreliable", "timeout", "died"


@dataclass(frozen=True)
class Run:
    """A run of tests: whether it has ended, and its first failure, if any; see `tests.faults.reporter`."""

    outcome: str = ""  # TIMEOUT or DIED, else ""
    test: str = ""
    when: str = ""


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
    """A copy of HEAD in a temporary folder. The working tree is never touched."""

    def __init__(self) -> None:
        self._temporary = TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True)
        self.folder = Path(self._temporary.name).resolve() / "copy"
        self._report = self.folder.with_name("report.json")
        self._process: subprocess.Popen[bytes] | None = None
        self._clean: dict[str, bool] = {}  # test -> whether it passes without a fault
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=REPOSITORY, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(self.folder, filter="data")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
        self._temporary.cleanup()

    def try_fault(self, fault: Fault) -> Result:
        """Plant a fault, run its tests, and take it out again."""
        began = monotonic()
        with self._planted(fault.diff) as planted:
            run = self._test(self._paths(fault.patterns)) if planted else Run(BROKEN)
        seconds = monotonic() - began
        outcome = run.outcome or self._judge(run)
        return Result(fault.area, fault.name, outcome, run.test, round(seconds, 1), fault.digest)

    def _judge(self, run: Run) -> str:
        if not run.when:
            return MISSED
        if run.when == "collect":
            return NOT_COLLECTED
        if run.test not in self._clean:
            self._clean[run.test] = self._test([run.test]) == Run()
        return CAUGHT if self._clean[run.test] else UNRELIABLE

    @contextmanager
    def _planted(self, diff: str) -> Iterator[bool]:
        """Plant a fault while the block runs; gives whether that was possible."""
        planted = self._apply(diff) == 0
        try:
            yield planted
        finally:
            if planted and self._apply(diff, "--reverse"):
                raise RuntimeError(f"a fault cannot be taken out of {self.folder} any more")

    def _apply(self, diff: str, *options: str) -> int:
        command = ["git", "apply", *options, "-"]
        return subprocess.run(command, cwd=self.folder, input=diff.encode(), stderr=subprocess.DEVNULL).returncode

    def _paths(self, patterns: Sequence[str]) -> list[str]:
        return [str(path.relative_to(self.folder)) for each in patterns for path in sorted(self.folder.glob(each))]

    def _test(self, tests: Sequence[str]) -> Run:
        """Run tests until one fails."""
        self._report.unlink(missing_ok=True)
        options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "tests.faults.reporter"]
        environment = os.environ | {
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",  # what is planted may have the size and the second of what it replaces
            "FAULTS_REPORT": str(self._report),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self._process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            return Run(TIMEOUT)
        finally:
            self.kill()
        try:
            report: dict[str, Any] = json.loads(self._report.read_bytes())
        except FileNotFoundError:
            return Run(DIED)
        if report["foreign"]:
            raise RuntimeError(f"{report['foreign'][0]} was not imported from the copy in {self.folder}")
        return Run(test=report["test"], when=report["when"])

    def kill(self) -> None:
        """End the tests that run, with whatever they have started."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None
