"""Bots in a file of one's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agents import registry
from agents.external.specs import make_agent

BOTS = """\
import random  # the standard library's, although a random.py lies beside this file

import helper
import numpy as np

assert random.random


class Eager:
    name = "eager"

    def act(self, views):
        return np.zeros(len(views), dtype=np.int64)


class Nameless:
    act = Eager.act


class Seeded(Eager):
    def __init__(self, seed):
        self.name = f"seeded-{seed}"


def make(argument, seed):
    bot = Seeded(seed)
    bot.argument = argument
    return bot
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with bots: the working directory."""
    (tmp_path / "my_bot.py").write_text(BOTS)
    (tmp_path / "helper.py").write_text("")
    (tmp_path / "random.py").write_text("raise SystemError('shadows the standard library')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("my_bot.py:Eager", "eager"),
        ("./my_bot.py:Eager", "eager"),
        ("my_bot.py:Nameless", "Nameless"),
        ("my_bot.py:Seeded", "seeded-5"),
        ("my_bot.py:make", "seeded-5"),
    ],
)
def test_a_class_or_function_of_a_file_makes_a_bot(spec: str, name: str) -> None:
    before = list(sys.path)
    bot = make_agent(spec, 5, timeout=1.0)
    assert bot.name == name
    assert sys.path == [*before, str(Path.cwd())], "the folder of the file is searched last"


def test_the_path_may_be_absolute_or_begin_at_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    monkeypatch.setenv("HOME", str(folder))
    assert registry.make(f"{folder}/my_bot.py:Eager").name == "eager"
    assert registry.make("~/my_bot.py:Eager").name == "eager"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("spec", "argument"), [("", None), (":", ""), (":fast:er", "fast:er"), (":http://host/x", "http://host/x")]
)
def test_a_parameter_named_argument_gets_the_argument(spec: str, argument: str | None) -> None:
    assert make_agent("my_bot.py:make" + spec, 5).argument == argument  # type: ignore[attr-defined]


@pytest.mark.usefixtures("folder")
def test_a_file_is_executed_once() -> None:
    assert type(registry.make("my_bot.py:Eager")) is type(registry.make("./my_bot.py:Eager"))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("my_bot.py:Eager", True),
        ("my_bot.py", True),
        ("C:\\bots\\my_bot.py:Eager:x", True),
        ("exec:python my_bot.py", False),
        ("exec+kita:python my_bot.py", False),
        ("mjsonp://host/my_bot.py", False),
        ("rule", False),
        ("bert:run/model", False),
    ],
)
def test_the_text_tells_whether_a_bot_is_in_a_file(spec: str, expected: bool) -> None:
    assert registry.is_file(spec) is expected


@pytest.mark.slow
def test_a_file_bot_plays_in_worker_processes(folder: Path) -> None:
    """Two of them at a time, with a relative path; what it raises in a game is told with its line."""
    (folder / "my_bot.py").write_text(
        BOTS + "\n\nclass First(Eager):\n    def act(self, views):\n        return [self.first(v) for v in views]\n\n"
        "    def first(self, view):\n        from engine.actions import actions_of\n\n"
        "        return actions_of(*view.legal[view.viewer].tolist())[0]\n\n\n"
        "class Raising(Eager):\n    def act(self, views):\n        raise KeyError('lost')\n"
    )
    root = Path(__file__).resolve().parents[2]
    arena = [sys.executable, "-m", "arena", "--games", "12", "--length", "east", "--jobs", "2", "--bots"]
    environment = os.environ | {"PYTHONPATH": str(root)}

    def run(bot: str, *options: str) -> subprocess.CompletedProcess[str]:
        command = [*arena, f"{folder.name}/my_bot.py:{bot},random,random", *options]
        return subprocess.run(command, env=environment, cwd=folder.parent, capture_output=True, text=True, timeout=600)

    done = run("First", "--json", str(folder / "results.json"))
    assert done.returncode == 0, done.stderr
    assert json.loads((folder / "results.json").read_text())["bots"][0]["bot"] == "eager"
    failed = run("Raising")
    assert failed.returncode == 1
    assert "bot eager, game 0 " in failed.stderr
    line = next(n for n, text in enumerate((folder / "my_bot.py").read_text().splitlines(), 1) if "lost" in text)
    assert f"raised KeyError: 'lost' (my_bot.py, line {line})" in failed.stderr
    assert "Traceback" not in failed.stderr


@pytest.mark.parametrize(
    "source",
    [
        "Bot = type('\\x1b[2Jclear', (), {'act': None})",
        "Bot = type('\\x1b[2Jclear', (), {'act': lambda self, views: views})",
        "class Bot:\n    name = 'a\\nb'\n    def act(self, views): ...",
        "class Bot:\n    def __init__(self):\n        raise ValueError('\\x1b]0;title\\x07')",
        "raise type('\\x1b[31mRed', (Exception,), {})('x')\nBot = None",
    ],
)
def test_names_and_errors_of_a_file_cannot_change_the_terminal(tmp_path: Path, source: str) -> None:
    (tmp_path / "odd.py").write_text(source)
    with pytest.raises(ValueError, match=r"odd\.py") as refused:
        registry.make(f"{tmp_path / 'odd.py'}:Bot")
    assert str(refused.value).isprintable()
