"""Compiled code: what is in the cache is found again, and never used for other code; the types that a kernel takes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from engine import table_kernels, warm_up
from engine.common.sources import digest_of_sources
from engine.machine_code import cache_root, content_of, sources_of
from engine.table import TABLE
from tests.conftest import Scale

REPOSITORY = Path(__file__).resolve().parent.parent.parent
MODULE = '''
"""A module with a kernel."""
from enum import IntEnum
import numpy as np
from typing import NamedTuple
from engine.compiling import inner, kernel
from numba.extending import register_jitable
import other

class Pair(NamedTuple):
    first: int
    second: int


@register_jitable
def halved(x):
    return x // 2


FACTOR = 2
PAIR = Pair(0, 4)
TABLE = np.array([1, 2, 3])

class Kind(IntEnum):
    A = 0


@inner
def helper(x: int) -> int:
    """Doubles."""
    return x * FACTOR + TABLE[0] + Kind.A


@kernel("int64")
def compute(x: int) -> int:
    return helper(x) + other.plus(x) + other.nested.MORE + halved(PAIR.first)


def unrelated():
    return 1
'''
OTHER = """
from types import ModuleType
from numba import njit
from engine.compiling import inner

nested = ModuleType("nested")
nested.MORE = 0

@inner
def plus(x):
    return x + 1
"""


INTRINSIC = """
from numba import types
from numba.extending import intrinsic

@intrinsic
def added(context, x):
    from beside import ADDED
    return types.int64(types.int64), lambda context, builder, signature, arguments: arguments[0] + ADDED

def function(x):
    return added(x)
"""
INTERRUPTED = """
import signal, sys, time
from numba.core.registry import cpu_target
from engine.common.program import start, terminate_when_safe

def main(arguments):
    import module
    engine = cpu_target.target_context.codegen()._engine._ee
    give = engine._object_cache_getbuffer

    def interrupted(*arguments):
        signal.raise_signal(signal.{signal})
        return give(*arguments)

    engine._object_cache_getbuffer = interrupted  # which LLVM asks for the machine code
    module.compute(10)
    time.sleep(30)
    return 0

signal.signal(signal.SIGTERM, terminate_when_safe)
sys.exit(start("__main__:main"))
"""


def run(code: str, cache: Path, *folders: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run code in a new process with a cache of its own, and other modules in some folders."""
    path = os.pathsep.join(map(str, (*folders, REPOSITORY)))
    environment = os.environ | {"NUKIDORA_CACHE": str(cache), "PYTHONPATH": path}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, cwd=cache.parent, capture_output=True, text=True, check=check)


def put_modules(folder: Path, module: str = MODULE, other: str = OTHER) -> Path:
    """Write the two modules."""
    folder.mkdir(exist_ok=True)
    (folder / "module.py").write_text(module)
    (folder / "other.py").write_text(other)
    return folder


COMPUTE = "import module; print(module.compute(10))"


@pytest.mark.slow
def test_a_kernel_is_compiled_when_its_code_is_new_and_only_then(tmp_path: Path) -> None:
    """Wherever the sources lie, and whatever the modules are called.

    The name of the module of a bot's file depends on its folder; and pytest imports the modules of namespace packages
    again, under other names, to find their doctests.
    """
    cache, changed = tmp_path / "cache", MODULE.replace("FACTOR = 2", "FACTOR = 1 + 2")
    told = "compiling module.compute …\n"
    for place, module, said in (("a", MODULE, told), ("b", MODULE, ""), ("a", changed, told), ("a", MODULE, "")):
        done = run(COMPUTE, cache, put_modules(tmp_path / place, module))
        assert (done.stdout, done.stderr) == ("42\n" if module == changed else "32\n", said)
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "renamed.py").write_text(MODULE.replace("import other", "import plus as other"))
    (folder / "plus.py").write_text(OTHER)
    done = run(COMPUTE.replace("module", "renamed"), cache, folder)
    assert (done.stdout, done.stderr) == ("32\n", "")
    for file in cache.glob("compute-*"):
        whole = file.read_bytes()
        file.write_bytes(whole[:1000])  # damaged: it is made anew
        assert run(COMPUTE, cache, put_modules(tmp_path / "a", MODULE)).stdout == "32\n"
        assert run(COMPUTE, cache, put_modules(tmp_path / "a", changed)).stdout == "42\n"
        assert len(file.read_bytes()) == len(whole)


@pytest.mark.slow
def test_a_signal_while_a_kernel_is_loaded_ends_the_program_in_order(tmp_path: Path) -> None:
    """LLVM asks for the machine code by a callback; an exception there made numba write to the address 0."""
    cache, folder = tmp_path / "cache", put_modules(tmp_path / "a")
    run(COMPUTE, cache, folder)
    for signal, code, said in (("SIGINT", 130, "interrupted\n"), ("SIGTERM", 143, "")):
        done = run(INTERRUPTED.format(signal=signal), cache, folder, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (code, "", said)


@pytest.mark.slow
def test_what_another_package_compiles_is_not_told(tmp_path: Path) -> None:
    code = "import engine.compiling, numba\n@numba.njit\ndef other(x):\n    return x + 1\nprint(other(1))"
    done = run(code, tmp_path / "cache")
    assert (done.stdout, done.stderr) == ("2\n", "")


@pytest.mark.slow
def test_a_complete_cache_is_read_where_nothing_can_be_written(tmp_path: Path) -> None:
    """Filled by another user, or on a read-only disk: nothing is compiled, nor is numba's own cache used."""
    cache, place = tmp_path / "cache", put_modules(tmp_path / "a")
    run(COMPUTE, cache, place)
    before = sorted(cache.iterdir())
    for folder in (cache, place):
        folder.chmod(0o555)
    done = run(COMPUTE, cache, place)
    for folder in (cache, place):
        folder.chmod(0o755)
    assert (done.stdout, done.stderr) == ("32\n", "")
    assert sorted(cache.iterdir()) == before  # root can write, and does not
    assert not list(place.glob("**/*.nbi"))


def content(monkeypatch: pytest.MonkeyPatch, module: str = MODULE, other: str = OTHER) -> str:
    """What the name of the kernel's file says of the code and the constants that it reaches."""
    modules = {"other": ModuleType("other"), "module": ModuleType("module")}
    for name, source in (("other", other), ("module", module.replace('@kernel("int64")', "@inner"))):
        monkeypatch.setitem(sys.modules, name, modules[name])
        exec(source, vars(modules[name]))
    return content_of(modules["module"].compute.py_func)


@pytest.mark.parametrize(
    ("text", "changed", "same"),
    [
        ("x * FACTOR", "x + FACTOR", False),  # a function that is called
        ("FACTOR = 2", "FACTOR = 3", False),  # a constant
        ("[1, 2, 3]", "[5, 2, 3]", False),  # a table
        ("return x + 1", "return x + 2", False),  # a function of another module
        ("@inner\ndef plus", "@njit(fastmath=True)\ndef plus", False),  # an option
        ("A = 0", "A = 1", False),  # an enumeration
        ("MORE = 0", "MORE = 1", False),  # a constant of a module in a module
        ("x // 2", "x // 3", False),  # a function that is plain to Python
        ("first: int\n    second: int", "second: int\n    first: int", False),  # what the names of a tuple stand for
        ("Doubles.", "Doubles a number.", True),
        ("return 1", "return 2", True),
        ("import numpy as np", "# A comment\nimport numpy as np", True),
    ],
)
def test_what_a_kernel_reaches_is_part_of_its_name(
    monkeypatch: pytest.MonkeyPatch, text: str, changed: str, same: bool
) -> None:
    module, other = MODULE.replace(text, changed), OTHER.replace(text, changed)
    assert (module, other) != (MODULE, OTHER)
    assert (content(monkeypatch) == content(monkeypatch, module, other)) is same


def test_the_sources_beside_an_intrinsic_are_part_of_the_name(tmp_path: Path) -> None:
    """They may write its LLVM IR."""

    def content_with(beside: str) -> str:
        (tmp_path / "beside.py").write_text(beside)
        sources_of.cache_clear()
        module: dict[str, Any] = {"__name__": "intrinsics"}
        exec(compile(INTRINSIC, tmp_path / "intrinsics.py", "exec"), module)
        return content_of(module["function"])

    assert content_with("ADDED = 1") == content_with("ADDED = 1") != content_with("ADDED = 2")


def test_what_compiled_code_cannot_be_told_by_is_refused() -> None:
    table = {"a": 1}

    def function() -> int:
        return len(table)

    with pytest.raises(TypeError, match=r"table is a dict, and compiled code may read no such global value"):
        content_of(function)


@pytest.mark.slow
def test_the_warm_up_compiles_everything_once(tmp_path: Path, scale: Scale) -> None:
    """With an empty cache (here: at length) it compiles all, so that a program that uses all of it compiles nothing."""
    cache = tmp_path / "new" if scale == "long" else cache_root()
    run("from engine.warm_up import main; assert main([]) == 0", cache)
    code = """
import json
from engine import kernel_registry, warm_up
from numba.core import event
for module in warm_up.modules_with_kernels(): __import__(module)
assert not warm_up.lacking()
class Recorder(event.Listener):
    def on_start(self, event): raise AssertionError(event.data["dispatcher"])
    def on_end(self, event): pass
event.register("numba:compile", Recorder())
kernel_registry.compile_imported()
"""
    assert run(code, cache).stderr == ""


@pytest.mark.slow
def test_all_that_is_compiled_into_a_kernel_is_reached_by_it(tmp_path: Path) -> None:
    code = """
from numba.core import event
from engine import shanten, table_kernels, warm_up
from engine.kernel_registry import imported
from engine.machine_code import name_of, reached
class Recorder(event.Listener):
    def on_start(self, event): compiled.add(name_of(event.data["dispatcher"].py_func))
    def on_end(self, event): pass
event.register("numba:compile", Recorder())
warm_up._off = True
for kernel, signature in imported():
    if kernel in (shanten.shanten_batch, table_kernels.next_round):
        compiled = set()
        kernel.compile(signature)
        ours = {name for name in compiled if not name.startswith("numba.")}
        assert ours and ours <= {name_of(function) for function in reached(kernel.py_func)}
        print(len(compiled))
"""
    (tmp_path / "cache").mkdir()
    assert len(run(code, tmp_path / "cache").stdout.split()) == 2


@pytest.mark.slow
def test_without_a_writable_cache_it_compiles_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    code = "from engine.shanten import shanten_of; print(shanten_of([0] * 27 + [2] * 7))"
    environment = os.environ | {"NUKIDORA_CACHE": str(tmp_path / "file" / "cache")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout == "-1\n"
    assert "at every start" in done.stderr
    assert str(tmp_path / "file" / "cache") in done.stderr
    assert "NUKIDORA_CACHE" in done.stderr
    assert done.stderr.count("\n") == 1


def test_other_types_than_declared_are_refused() -> None:
    raw = np.zeros(TABLE.itemsize, dtype=np.uint8)
    refused = r"^engine\.table_kernels\.apply_action takes \(.*int64\), not \(.*unicode_type\)$"
    with pytest.raises(TypeError, match=refused):
        table_kernels.apply_action(raw, 0, 0, "tsumogiri")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"next_round takes"):
        table_kernels.next_round(raw.astype(np.int8), 0)


def test_shares_hold_all_kernels_and_cost_about_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUKIDORA_CACHE", str(tmp_path))
    monkeypatch.setattr(warm_up, "usable_cores", lambda: 3)
    for module in warm_up.modules_with_kernels():
        warm_up.import_if_possible(module)
    lacking = warm_up.lacking()
    shares = warm_up.shares(lacking)
    assert sorted(kernel.name for share in shares for kernel in share.kernels) == sorted(each.name for each in lacking)
    costs = [share.cost for share in shares]
    assert len(costs) == 3
    assert max(costs) < 1.5 * min(costs)


def test_a_process_that_dies_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUKIDORA_CACHE", str(tmp_path))
    monkeypatch.setattr(warm_up, "COMPILE", "raise SystemExit('no memory left')")
    with pytest.raises(warm_up.WarmUpError, match="ended early: no memory left"):
        warm_up.compile_lacking()


def test_what_cannot_be_kept_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Such as on a full disk, where the processes that compile end as if nothing were wrong."""
    monkeypatch.setenv("NUKIDORA_CACHE", str(tmp_path))
    monkeypatch.setattr(warm_up, "compile_in_processes", lambda shares, say: 1)
    with pytest.raises(OSError, match=re.escape(str(tmp_path))):
        warm_up.compile_lacking()


def test_who_waits_is_not_told_of_the_program_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUKIDORA_CACHE", str(tmp_path))
    (tmp_path / "lock").write_text("[1, 200, 200, 3.0]")
    with warm_up.compiling_alone(), (tmp_path / "lock").open("rb") as file:
        assert "process 1" not in warm_up.state_of(file)


def test_a_module_of_ours_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert warm_up.main(["arena.rnu"]) == 1
    assert "arena.rnu" in capsys.readouterr().err


def test_a_program_that_waits_for_the_warm_up_of_another_says_for_whom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUKIDORA_CACHE", str(tmp_path))
    # A pipe: capsys loses what a thread writes while another reads it.
    read_end, write_end = os.pipe()
    entered = threading.Event()

    def wait() -> None:
        with warm_up.compiling_alone():
            entered.set()

    with os.fdopen(read_end, encoding="utf-8") as said:
        with os.fdopen(write_end, "w", encoding="utf-8") as stderr, monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", stderr)
            with warm_up.compiling_alone() as say:
                say(30, 120)
                waiting = threading.Thread(target=wait)
                waiting.start()
                line = said.readline()
                assert f"process {os.getpid()}" in line
                assert "30 of 120 functions" in line
                assert not entered.is_set()
            waiting.join()
        assert entered.is_set()
        assert said.read() == ""


@pytest.mark.parametrize("name", ["agents/bot.py", "engine/deeper/tables.npz"])
def test_any_change_of_the_sources_changes_their_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("engine.common.sources.ROOT", tmp_path)
    source = tmp_path / name
    source.parent.mkdir(parents=True)
    found = set()
    for text in ("one", "two"):
        source.write_text(text)
        found.add(digest_of_sources.__wrapped__("engine", "agents"))
    assert len(found) == 2
