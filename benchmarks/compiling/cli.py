"""python -m benchmarks.compiling: the most expensive kernels to compile, and the functions compiled into them.

Each kernel is compiled in a separate process, with an empty cache. Seconds are processor time. ``types``:
byte code to LLVM's intermediate code, for all functions in the kernel; the other two steps are LLVM's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

from numba.core import event
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary
from rich.console import Console
from rich.table import Table

from engine import kernel_registry, warm_up
from engine.common.options import Parser, positive
from engine.common.program import OK
from engine.common.progress import Progress
from engine.machine_code import name_of

CODE = "from benchmarks.compiling.cli import measure; measure({name!r})"
STEPS = {"_optimize_final_module": CPUCodeLibrary, "_finalize_specific": JITCodeLibrary}  # steps of LLVM, timed by name


class Timer(event.Listener):  # type: ignore[misc]
    """Seconds for each function that is compiled, without those that it makes numba compile."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._open: list[list[float]] = []  # when it began, seconds of others within it

    def on_start(self, event: event.Event) -> None:
        """A function begins."""
        self._open.append([process_time(), 0.0])

    def on_end(self, event: event.Event) -> None:
        """It ends."""
        began, others = self._open.pop()
        spent = process_time() - began
        self.seconds[name_of(event.data["dispatcher"].py_func)] += spent - others
        if self._open:
            self._open[-1][1] += spent


def add_time(function: Callable[..., Any], seconds: dict[str, float], step: str) -> Callable[..., Any]:
    """A function whose processor time is added up."""

    def call(*arguments: Any) -> Any:
        began = process_time()
        try:
            return function(*arguments)
        finally:
            seconds[step] += process_time() - began

    return call


def measure(name: tuple[str, str, int]) -> None:
    """Compile one kernel, in a separate process, and print its cost as JSON."""
    seconds: dict[str, float] = defaultdict(float)
    for step, owner in STEPS.items():
        setattr(owner, step, add_time(getattr(owner, step), seconds, step))
    timer = Timer()
    event.register("numba:compile", timer)
    began = process_time()
    warm_up.compile_kernels([name])
    total = process_time() - began
    print(json.dumps({"total": total, "steps": seconds, "functions": timer.seconds}))


def cost_of(kernel: warm_up.Kernel) -> dict[str, Any]:
    """What `measure` prints of a kernel."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-c", CODE.format(name=kernel.name)]
        environment = os.environ | {"NUKIDORA_CACHE": cache}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    parser = Parser("benchmarks.compiling", description=__doc__)
    parser.add_argument("--rows", type=positive, default=20, metavar="N", help="kernels in the table")
    options = parser.parse_args(arguments)
    for module in warm_up.modules_with_kernels():
        warm_up.import_if_possible(module)
    kernels = [
        warm_up.Kernel(dispatcher, number)
        for found in kernel_registry.KERNELS.values()
        for dispatcher, signatures in found
        for number in range(len(signatures))
    ]
    costs = []
    with Progress("kernels", len(kernels)) as progress:
        for kernel in kernels:
            costs.append((cost_of(kernel), kernel))
            progress.advance()
    table = Table("kernel", "seconds", "types", "optimising", "machine code", "functions", "slowest function", box=None)
    for cost, kernel in sorted(costs, key=lambda each: each[0]["total"], reverse=True)[: options.rows]:
        optimising, code = (cost["steps"].get(step, 0.0) for step in STEPS)
        dearest = ", ".join(name.rpartition(".")[2] for name, _ in Counter(cost["functions"]).most_common(4))
        numbers = (cost["total"], cost["total"] - optimising - code, optimising, code)
        table.add_row(
            f"{kernel.name[0]}.{kernel.name[1]}", *(f"{number:.1f}" for number in numbers),
            str(len(cost["functions"])), dearest,
        )  # fmt: skip
    console = Console(width=160)
    console.print(table)
    console.print(f"{len(kernels)} kernels: {sum(cost['total'] for cost, _ in costs):.0f} s if each is compiled alone")
    return OK
