"""The files that belong to a bot: which its text names, and what makes it another bot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents import bot_files
from agents.bot_files import digest_of_files, digest_of_weights, paths_of, split_at_paths
from agents.strength import scale
from agents.strength.scale import SHIPPED

FILES = ("x.npz", "y.npz", "w.json", "my bot.py", "bot.py", "net/model.onnx", "runs/lr=0.1@2/model.onnx", "residual/a")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with files of bots."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ("rule", []),
        ("residual", []),
        ("residual:residual", ["residual"]),
        ("bert:net", ["net"]),
        ("bert:~/net/?temperature=0", ["~/net"]),
        ("bert:runs/lr=0.1@2/?top=3", ["runs/lr=0.1@2"]),
        ("search:critic=x.npz", ["x.npz"]),
        ("search:n=2&model=x.npz&bot=residual:net&critic=y.npz", ["x.npz", "net", "y.npz"]),
        ("search:bot=residual&n=2", []),
        ("search:critic=none.npz", []),
        ("bot.py:Eager", ["bot.py"]),
        ("bot.py:residual:x.npz,y.npz", ["bot.py", "x.npz", "y.npz"]),
        ("my bot.py:Eager:~no_such_user/x", ["my bot.py"]),
        ("linear:w.json@-300", ["w.json", "w.json.strength.json"]),
        ("bert:net?top=3@-300", ["net", "net/strength.json"]),
        ("bot.py:Eager@-300", ["bot.py", "bot.Eager.strength.json"]),
        ("rule@-300", [SHIPPED / "rule.json"]),
        ('exec+kita:python "my bot.py" x.npz', ["my bot.py", "x.npz"]),
        ("exec:python bot.py --weights=w.json -v", ["bot.py", "w.json"]),
        ("exec:python 'bot.py", []),
        ("mjsonp://localhost:1/x.npz", []),
    ],
)
def test_the_files_of_a_bot_are_found_in_its_text(spec: str, paths: list[str | Path]) -> None:
    assert paths_of(spec) == [Path(path) for path in paths]


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("rule@-300", ["rule@-300"]),
        ("linear:w.json@-300", ["linear:", "w.json", "@-300"]),
        ("bot.py:Eager:x.npz", ["", "bot.py", ":Eager:", "x.npz", ""]),
        ("search:n=2&critic=x.npz&k=3", ["search:n=2&critic=", "x.npz", "&k=3"]),
    ],
)
def test_a_text_is_split_at_its_paths(spec: str, parts: list[str]) -> None:
    assert split_at_paths(spec) == parts
    assert "".join(parts) == spec


@pytest.mark.parametrize(
    ("spec", "file"),
    [
        ("search:critic=x.npz", "x.npz"),
        ("search:model=x.npz&n=2", "x.npz"),
        ("search:bot=residual:x.npz&n=2", "x.npz"),
        ('exec:python "my bot.py"', "my bot.py"),
        ("exec:python bot.py --weights=w.json", "w.json"),
        ("bert:net", "net/model.onnx"),
        ("bert:net@-300", "net/strength.json"),
        ("linear:w.json@-300", "w.json.strength.json"),
    ],
)
def test_a_bot_is_another_one_when_its_files_have_changed(spec: str, file: str) -> None:
    before = digest_of_files([spec])
    assert digest_of_files([spec]) == before
    Path(file).write_text("2")
    assert digest_of_files([spec]) != before


@pytest.mark.parametrize(
    ("spec", "scale"),
    [
        ("bert:net", "net/strength.json"),
        ("search:bot=bert:net", "net/strength.json"),
        ("bot.py:Eager:net", "net/x.Eager.strength.json"),
        ("linear:w.json", "w.json.strength.json"),
    ],
)
def test_a_bot_at_full_strength_is_the_same_one_when_it_has_been_calibrated(spec: str, scale: str) -> None:
    before = digest_of_files([spec])
    Path(scale).write_text(json.dumps({"games": 1}))
    assert digest_of_files([spec]) == before


def test_bundled_weights_are_the_same_wherever_the_repository_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for place, weights in (("a", b"1"), ("b", b"1"), ("b", b"2")):
        folder = tmp_path / place / "agents" / "bot" / "weights"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "network.npz").write_bytes(weights)
        monkeypatch.setattr(bot_files, "ROOT", tmp_path / place)
        found.append(digest_of_weights.__wrapped__())
    assert found[0] == found[1] != found[2]


def test_a_weakened_bot_is_the_same_one_wherever_the_repository_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for place, content in (("a", "1"), ("b", "1"), ("b", "2")):
        scales = tmp_path / place / "agents" / "strength" / "scales"
        scales.mkdir(parents=True, exist_ok=True)
        (scales / "rule.json").write_text(content)
        monkeypatch.setattr(bot_files, "ROOT", tmp_path / place)
        monkeypatch.setattr(scale, "SHIPPED", scales)
        found.append(digest_of_files(["rule@-300"]))
    assert found[0] == found[1] != found[2]
