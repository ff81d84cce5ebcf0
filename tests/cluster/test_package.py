"""What is sent to the machines of a cluster."""

from __future__ import annotations

import re
from pathlib import Path
from zipfile import ZipFile

import pytest

from agents.clusters import words_of
from engine.common import cluster_package
from engine.common.cluster_package import users_files, write_package
from engine.shanten import shanten_of


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with files of bots."""
    for name in ("mine/bot.py", "mine/data/weights.npz", "mine/.venv/x.py", "mine/runs/x", "runs/first/model/x.onnx"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "table.csv").write_text("1")
    (tmp_path / "other.csv").write_text("2")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("mine/bot.py", ["mine/bot.py", "mine/data/weights.npz"]),
        ("runs/first/model", ["runs/first/model/x.onnx"]),
        ("table.csv", ["table.csv"]),
        ("missing.csv", []),
        ("../elsewhere", []),
    ],
)
def test_a_file_is_sent_with_what_belongs_to_it(here: Path, path: str, sent: list[str]) -> None:
    (here.parent / "elsewhere").touch()
    assert [file.as_posix() for file in users_files([Path(path)])] == sent


def test_a_large_folder_is_refused(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_package, "MAX_SIZE", 20)
    told = (
        f"{here / 'mine'} is sent to the machines of the cluster with mine/bot.py, but all that is sent is more than "
    )
    with pytest.raises(ValueError, match=re.escape(told) + "0 MiB: put what the bot needs in a folder of its own"):
        users_files([Path("mine/bot.py")])


def test_the_limit_is_that_of_all_files_together(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = [Path("mine/bot.py"), Path("runs/first/model")]
    files = users_files([*sent, *sent])
    size = sum(file.stat().st_size for file in files)
    monkeypatch.setattr(cluster_package, "MAX_SIZE", size)
    assert users_files([*sent, *sent]) == files  # each is sent once
    monkeypatch.setattr(cluster_package, "MAX_SIZE", size - 1)
    with pytest.raises(ValueError, match=re.escape(f"{here / 'runs/first/model'} is sent")):
        users_files(sent)


def test_the_files_of_a_bot_are_found_in_its_text() -> None:
    assert words_of("bert:runs/first/model@-300") == ["bert", "runs/first/model"]
    assert words_of("my/bot.py:Eager:argument") == ["my/bot.py", "Eager", "argument"]
    assert words_of("exec+kita:python my/bot.py --fast") == ["exec+kita", "python", "my/bot.py", "--fast"]


@pytest.mark.slow
def test_the_package_has_sources_machine_code_and_files(here: Path) -> None:
    shanten_of([0] * 27 + [2] * 7)
    for name in ("first", "second"):
        write_package(here / name, [Path("table.csv")])
    assert (here / "first").read_bytes() == (here / "second").read_bytes(), "it would be sent again"
    assert (here / "first").stat().st_size < cluster_package.MAX_SIZE
    with ZipFile(here / "first") as package:
        names = package.namelist()
    assert {name.split("/")[0] for name in names} == {"engine", "agents", "arena", "nukidora", "cache", "files"}
    assert [name for name in names if "__pycache__" in name or name.endswith(".pyc")] == []
    assert any(name.startswith("cache/shanten_batch-") for name in names)
    assert "files/table.csv" in names
