"""A plugin of pytest: writes what the first failure of a run was, for `tests.faults.copies`.

As JSON into the file that ``FAULTS_REPORT`` names: ``test``, the id of the test; ``when`` it failed (``setup``,
``call``, ``teardown``, or ``collect``); both "" if nothing failed. ``foreign``: modules of the product that were
imported from another place than the copy that is tested.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

PRODUCT = ("agents", "arena", "benchmarks", "engine", "nukidora", "server", "tests")
_first = {"test": "", "when": ""}


def _note(test: str, when: str) -> None:
    if not _first["when"]:
        _first.update(test=test, when=when)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A module that cannot be imported."""
    if report.failed:
        _note(report.nodeid, "collect")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A test that fails."""
    if report.failed:
        _note(report.nodeid, report.when or "call")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the file."""
    files = {
        name: Path(module.__file__).resolve()
        for name, module in list(sys.modules.items())
        if name.split(".")[0] in PRODUCT and getattr(module, "__file__", None)
    }
    foreign = sorted(name for name, file in files.items() if not file.is_relative_to(session.config.rootpath.resolve()))
    Path(os.environ["FAULTS_REPORT"]).write_text(json.dumps(_first | {"foreign": foreign}), encoding="utf-8")
