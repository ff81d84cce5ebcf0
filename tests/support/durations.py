"""Where the time of the tests goes, by file, fixture and test: a plugin of pytest, for ``make durations``.

For each: seconds on the clock, and of processor time of the tests' own process and of the programs that they started.
"""

from __future__ import annotations

import resource
import time
from collections import defaultdict
from collections.abc import Generator
from typing import Any

import pytest

SHOWN = 40  # rows of each table
Costs = tuple[float, ...]  # clock, own processor time, processor time of ended programs

_phase_began: Costs = ()
_by_file: dict[str, list[Costs]] = defaultdict(list)
_by_fixture: dict[str, list[Costs]] = defaultdict(list)
_by_test: dict[str, list[Costs]] = defaultdict(list)


def now() -> Costs:
    """The three clocks, in seconds."""
    own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter(), own.ru_utime + own.ru_stime, ended.ru_utime + ended.ru_stime


def since(start: Costs) -> Costs:
    """What has been spent since then."""
    return tuple(end - begin for begin, end in zip(start, now(), strict=True))


def pytest_runtest_logstart() -> None:
    """Begin to measure a test."""
    global _phase_began
    _phase_began = now()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Measure a phase of a test: its fixtures, the test or what comes after it."""
    report = yield
    report.user_properties.append(("phase", since(_phase_began)))
    pytest_runtest_logstart()
    return report


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    """Measure a fixture, without those that it names as its arguments."""
    start = now()
    made = yield
    request._pyfuncitem.user_properties.append((f"{fixturedef.baseid}::{fixturedef.argname}", since(start)))
    return made


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collect what the processes that run the tests have measured."""
    for name, costs in report.user_properties:
        if name == "phase":
            _by_file[report.nodeid.partition("::")[0]].append(tuple(costs))
            _by_test[report.nodeid].append(tuple(costs))
        elif report.when == "teardown":  # once
            _by_fixture[name].append(tuple(costs))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the tables, the dearest first."""
    for title, found in (("file", _by_file), ("fixture", _by_fixture), ("test", _by_test)):
        sums = {name: (*map(sum, zip(*costs)), len(costs)) for name, costs in found.items()}
        total = tuple(map(sum, zip(*sums.values()))) or (0, 0, 0, 0)
        terminalreporter.section(f"seconds by {title}: clock, own processor time, programs', phases")
        for name, row in [("all", total), *sorted(sums.items(), key=lambda item: -item[1][0])[:SHOWN]]:
            terminalreporter.line("{:8.1f} {:8.1f} {:8.1f} {:6}  {}".format(*row, name))
