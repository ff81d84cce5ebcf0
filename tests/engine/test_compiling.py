"""The cache of compiled code: filled once, found again, never used for other sources."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine import compiling

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


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    assert shanten_in_a_new_process(tmp_path / "new").startswith("compiling the rules once")
    assert shanten_in_a_new_process(tmp_path / "new") == ""


def test_without_a_writable_cache_it_compiles_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    said = shanten_in_a_new_process(tmp_path / "file" / "cache")
    assert "at every start" in said
    assert str(tmp_path / "file" / "cache") in said
    assert "NUKIDORA_CACHE" in said


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
