"""The planted faults: patches of the product in the folders beside this file, one for each area.

A patch begins with two lines, ``Fault:`` with what is wrong in words and ``Tests:`` with the suites that are to catch
it (`tests.faults.suites`), an empty line, and the diff, as ``git apply`` takes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from tests.faults.suites import SUITES

FOLDER = Path(__file__).resolve().parent
REPOSITORY = FOLDER.parents[1]


@dataclass(frozen=True)
class Fault:
    """A fault that can be planted. `text` says what is wrong; `suites` are names in SUITES; `diff` is the patch."""

    area: str
    name: str
    text: str
    suites: tuple[str, ...]
    diff: str

    @property
    def digest(self) -> str:
        """A hash of the fault and of the names of its tests."""
        patterns = [pattern for suite in self.suites for pattern in SUITES[suite]]
        return blake2b("\0".join([self.diff, *patterns]).encode(), digest_size=8).hexdigest()

    def __str__(self) -> str:
        return f"{self.area}/{self.name}"


def read_fault(path: Path) -> Fault:
    """The fault in a file. Raises ValueError, which names the file, for one without the two lines."""
    header, _, diff = path.read_text(encoding="utf-8").partition("\n\n")
    lines = dict(line.split(": ", 1) for line in header.splitlines() if ": " in line)
    if lines.keys() != {"Fault", "Tests"} or not diff.startswith("--- a/"):
        raise ValueError(f"{path}: begin with the lines 'Fault: …' and 'Tests: …', an empty line, then the diff")
    suites = tuple(lines["Tests"].split())
    if unknown := [suite for suite in suites if suite not in SUITES]:
        raise ValueError(f"{path}: {unknown[0]} is no suite; there are {', '.join(SUITES)} (tests/faults/suites.py)")
    return Fault(path.parent.name, path.stem, lines["Fault"], suites, diff)


def all_faults() -> list[Fault]:
    """All faults, area by area. Raises ValueError as `read_fault`."""
    return [read_fault(path) for path in sorted(FOLDER.glob("*/*.patch"))]


def chosen(names: list[str]) -> list[Fault]:
    """The faults with these names, or in these areas; all if there are no names. Raises ValueError."""
    faults = all_faults()
    for name in names:
        if not any(name in (fault.name, fault.area, str(fault)) for fault in faults):
            areas = ", ".join(dict.fromkeys(fault.area for fault in faults))
            raise ValueError(f"{name!r} is no fault, nor one of the areas: {areas}")
    return [fault for fault in faults if not names or {fault.name, fault.area, str(fault)} & set(names)]
