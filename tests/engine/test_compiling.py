"""The cache of compiled code: filled once, found again, never used for other sources; the types a kernel takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from engine import compiling, kernels, warm_up
from engine.table import TABLE

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SHANTEN = "import numpy; from engine.shanten import shanten_of; print(shanten_of([0] * 27 + [2] * 7))"


def shanten_in_a_new_process(cache: Path) -> str:
    """Compute a shanten in a new process; returns its stderr."""
    done = subprocess.run(
        [sys.executable, "-c", SHANTEN],
        cwd=REPOSITORY,
        env=os.environ | {"NUKIDORA_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "-1\n"
    return done.stderr


@pytest.mark.slow
def test_the_warm_up_compiles_everything_once(tmp_path: Path) -> None:
    """With an empty cache a first use warms up, on several cores; then no kernel of any package is compiled again."""
    cache = tmp_path / "new"
    assert shanten_in_a_new_process(cache).startswith("compiling the rules and the bots to machine code, once")
    assert shanten_in_a_new_process(cache) == ""
    code = f"""
import json
from importlib import import_module
from engine import compiling, warm_up
from numba.core import event
compiled = []
class Recorder(event.Listener):
    def on_start(self, event): compiled.append(compiling.name_of(event.data["dispatcher"].py_func))
    def on_end(self, event): pass
event.register("numba:compile", Recorder())
for module in {[module for part in warm_up.PARTS for module in part]}:
    import_module(module)
    for dispatcher, signatures in compiling.KERNELS[module]:
        for signature in signatures:
            dispatcher.compile(signature)
print(json.dumps(compiled))
"""
    environment = os.environ | {"NUKIDORA_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True
    )
    assert (json.loads(done.stdout), done.stderr) == ([], "")


def test_the_warm_up_names_every_module_with_kernels() -> None:
    sources = (path for package in warm_up.PACKAGES for path in (REPOSITORY / package).rglob("*.py"))
    found = {
        ".".join(path.relative_to(REPOSITORY).with_suffix("").parts)
        for path in sources
        if "\n@kernel(" in path.read_text(encoding="utf-8")
    }
    assert sorted(module for part in warm_up.PARTS for module in part) == sorted(found)


def test_without_a_writable_cache_it_compiles_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    said = shanten_in_a_new_process(tmp_path / "file" / "cache")
    assert "at every start" in said
    assert str(tmp_path / "file" / "cache") in said
    assert "NUKIDORA_CACHE" in said
    assert said.count("\n") == 1


def test_other_types_than_declared_are_refused() -> None:
    raw = np.zeros(TABLE.itemsize, dtype=np.uint8)
    with pytest.raises(TypeError, match=r"^engine\.kernels\.apply_action takes \(.*int64\), not \(.*unicode_type\)$"):
        kernels.apply_action(raw, 0, 0, "tsumogiri")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"next_round takes"):
        kernels.next_round(raw.astype(np.int8), 0)


def test_a_process_that_dies_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUKIDORA_CACHE", str(tmp_path))
    monkeypatch.setattr(warm_up, "COMPILE", "raise SystemExit({path!r} == {modules!r})")
    compiling.cache_folder.cache_clear()
    try:
        with pytest.raises(warm_up.WarmUpError, match="ended early"):
            warm_up.warm_up()
        assert not warm_up.stamp().exists()
    finally:
        compiling.cache_folder.cache_clear()


def test_a_module_that_needs_a_broken_package_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "needs_broken.py").write_text("raise ImportError('undefined symbol')")
    monkeypatch.syspath_prepend(tmp_path)
    assert not warm_up._imports("needs_broken")


def test_a_program_that_waits_for_the_warm_up_of_another_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A pipe: capsys loses what a thread writes while another reads it.
    read_end, write_end = os.pipe()
    entered = threading.Event()

    def wait() -> None:
        with warm_up._exclusive(tmp_path / "lock"):
            entered.set()

    with os.fdopen(read_end, encoding="utf-8") as said:
        with os.fdopen(write_end, "w", encoding="utf-8") as stderr, monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", stderr)
            with warm_up._exclusive(tmp_path / "lock"):
                waiting = threading.Thread(target=wait)
                waiting.start()
                assert said.readline() == "another program compiles the rules and the bots: waiting for it …\n"
                assert not entered.is_set()
            waiting.join()
        assert entered.is_set()
        assert said.read() == ""


@pytest.mark.parametrize("name", ["bot.py", "deeper/tables.npz"])
def test_any_change_of_the_sources_changes_the_folder(tmp_path: Path, name: str) -> None:
    source = tmp_path / name
    source.parent.mkdir(exist_ok=True)
    folders = set()
    for text in ("one", "two"):
        source.write_text(text)
        compiling.cache_folder.cache_clear()
        folders.add(compiling.cache_folder(tmp_path))
    assert len(folders) == 2


def test_a_bot_s_folder_depends_on_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package"
    package.mkdir()
    before = compiling.cache_folder(package)
    monkeypatch.setattr(compiling, "ENGINE", tmp_path / "another engine")
    compiling.cache_folder.cache_clear()
    assert compiling.cache_folder(package) != before
    compiling.cache_folder.cache_clear()
