"""python -m benchmarks.start: the time from a clone to the table of ``make arena``, of two commits in turn, by part.

Each time the commit is cloned into a new folder, and installed and compiled there from scratch; both use pip's cache of
downloads. Where a commit compiles while pip installs, the rest of the installation counts as "compile".
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from engine.common.options import Parser, describe_error, positive
from engine.common.program import FAILED, OK
from engine.common.screen import screen

ROOT = Path(__file__).parents[2]
# A part begins with the first line that matches; the next one that is seen ends it.
PARTS = {
    "clone": re.compile(r""),
    "install": re.compile(r"installing "),
    "compile": re.compile(r"compiling "),
    "play": re.compile(r"[\d,]+ of [\d,]+ games"),
}


def seconds_by_part(commit: str) -> dict[str, float]:
    """Clone, install, compile and play once; the seconds of each part. Raises subprocess.CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        clone, began = Path(folder) / "clone", {"clone": time.perf_counter()}
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        subprocess.run(["git", "checkout", "--quiet", "--detach", commit], cwd=clone, check=True)
        environment = os.environ | {"NUKIDORA_CACHE": str(Path(folder) / "cache"), "PYTHONUNBUFFERED": "1"}
        command = ["make", "arena"]
        with subprocess.Popen(
            command, cwd=clone, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            assert process.stdout is not None
            last = deque[str](maxlen=10)
            for line in process.stdout:
                last.append(line)
                for part, pattern in PARTS.items():
                    if part not in began and pattern.match(line):
                        began[part] = time.perf_counter()
        if process.returncode != 0:
            raise OSError(f"make arena at {commit}: exit code {process.returncode}\n{''.join(last)}")
        times = [*began.values(), time.perf_counter()]
    return {part: times[number + 1] - times[number] for number, part in enumerate(began)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    parser = Parser("benchmarks.start", description=__doc__)
    parser.add_argument("commit", help="the commit to measure")
    parser.add_argument("baseline", help="the commit to compare it with")
    parser.add_argument("--rounds", type=positive, default=3, metavar="N", help="times that each is measured")
    options = parser.parse_args(arguments)
    console = screen()
    measured: list[tuple[str, list[dict[str, float]]]] = [(options.commit, []), (options.baseline, [])]
    try:
        for number in range(options.rounds):
            for commit, rounds in measured:
                rounds.append(seconds_by_part(commit))
                parts = ", ".join(f"{part} {seconds:.0f} s" for part, seconds in rounds[-1].items())
                console.print(f"round {number + 1}, {commit}: {parts}", highlight=False)
    except (subprocess.CalledProcessError, OSError) as error:
        console.print(f"{parser.short_name}: {describe_error(error)}", highlight=False)
        return FAILED
    table = Table("seconds", options.commit, options.baseline, "ratio", box=None)
    for part in (*PARTS, "all"):
        sides = [
            statistics.median(sum(each.values()) if part == "all" else each.get(part, 0.0) for each in rounds)
            for _, rounds in measured
        ]
        table.add_row(part, *(f"{side:.1f}" for side in sides), f"{sides[1] / sides[0]:.2f}x" if sides[0] else "")
    console.print(table)
    console.print(f"medians of {options.rounds} rounds, the commits in turn", highlight=False)
    return OK
