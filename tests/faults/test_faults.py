"""The planted faults fit the sources, and their runner keeps what it has found. It is run by hand (CONTRIBUTING.md)."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.faults.copies import APPLY, CAUGHT, MISSED, TIMEOUT, Result
from tests.faults.patches import REPOSITORY, Fault, all_faults, chosen, read_fault
from tests.faults.run import Kept, run
from tests.faults.suites import PLAIN, SUITES

PRODUCT = ("agents", "arena", "engine", "nukidora", "server")
FAULTS = all_faults()
FEWEST = 64


def test_there_are_many_faults_of_the_product_each_once() -> None:
    assert len(FAULTS) >= FEWEST
    assert len({fault.name for fault in FAULTS}) == len({fault.diff for fault in FAULTS}) == len(FAULTS)
    files = {file for fault in FAULTS for file in re.findall(r"^\+\+\+ b/(.*)$", fault.diff, re.MULTILINE)}
    assert [file for file in files if file.split("/")[0] not in PRODUCT] == []


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_can_be_planted(fault: Fault) -> None:
    command = [*APPLY, "--check", "-"]
    applied = subprocess.run(command, cwd=REPOSITORY, input=fault.diff, capture_output=True, text=True)
    assert applied.returncode == 0, applied.stderr


def test_suites_name_tests_and_are_used() -> None:
    assert [each for suite in SUITES.values() for each in suite if not any(REPOSITORY.glob(each))] == []
    assert {suite for fault in FAULTS for suite in fault.suites} == SUITES.keys() >= PLAIN


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Fault: it is wrong\n\n--- a/x\n", "begin with the lines"),
        ("Fault: it is wrong\nTests: everything\n\n--- a/x\n", "'?everything'? is no suite"),
        ("Fault: it is wrong\nTests: rules\n\nno diff\n", "begin with the lines"),
    ],
)
def test_a_patch_without_its_header_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "some.patch"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"some.patch: .*{complaint}"):
        read_fault(path)


def test_faults_are_chosen_by_name_or_area() -> None:
    first = FAULTS[0]
    assert chosen([first.name]) == chosen([str(first)]) == [first]
    assert {fault.area for fault in chosen([first.area])} == {first.area}
    assert chosen([]) == FAULTS
    with pytest.raises(ValueError, match="nonsense"):
        chosen([first.name, "nonsense"])


def result(fault: Fault, outcome: str) -> Result:
    return Result(fault.area, fault.name, outcome, "tests/test_it.py::test_it", 1.5, fault.digest)


def test_a_run_goes_on_with_what_is_left_and_fails_if_a_fault_is_missed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, tried = tmp_path / "results.json", list[Fault]()

    def try_faults(faults: Sequence[Fault]) -> Iterator[Result]:
        for fault in faults:
            tried.append(fault)
            first_time = tried.count(fault) == 1
            yield result(
                fault, MISSED if fault == FAULTS[3] else TIMEOUT if fault == FAULTS[1] and first_time else CAUGHT
            )

    assert run(FAULTS[:2], Kept(path), try_faults) == 1
    assert run(FAULTS[:3], Kept(path), try_faults) == 0
    assert run(FAULTS[:4], Kept(path), try_faults) == 1
    assert tried == [FAULTS[0], FAULTS[1], FAULTS[1], FAULTS[2], FAULTS[3]]
    printed = capsys.readouterr().out
    assert printed.count(f"{FAULTS[0]}: caught by tests/test_it.py::test_it") == 1
    assert FAULTS[3].text in printed.splitlines()[-1]


def test_results_of_other_sources_are_not_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    kept = Kept(path)
    kept.add(result(FAULTS[0], CAUGHT))
    path.write_text(path.read_text().replace(kept.sources, "0" * 16))
    with pytest.raises(ValueError, match="other sources"):
        Kept(path)
    path.write_text("[]")
    with pytest.raises(ValueError, match="no results of this program"):
        Kept(path)
