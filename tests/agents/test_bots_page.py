"""The bots of docs/bots.md do what the page says, and the names it lists exist. Its blocks run in test_documents."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from agents import registry
from agents.base import ActionValues, Agent, Annotating
from engine.actions import action_name
from engine.table import TABLE
from engine.tables import Tables
from tests.support.built_in_bots import BOTS
from tests.support.markdown_blocks import REPOSITORY, files_of

NAME = "docs/bots.md"
PAGE = (REPOSITORY / NAME).read_text(encoding="utf-8")
FILES = files_of(NAME)


def make(spec: str, folder: Path) -> Agent:
    """The bot that a spec of the page names."""
    file = spec.partition(":")[0]
    (folder / file).write_text(FILES[file], encoding="utf-8")
    return registry.make(f"{folder}/{spec}", seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec", ["my_bot.py:Eager", "my_tactic.py:MyTactic", "my_talker.py:Talker", "my_fast_bot.py:make"]
)
def test_the_bots_of_the_page_play_legally(tmp_path: Path, spec: str) -> None:
    tables = Tables([1, 2])
    for _ in tables.play([make(spec, tmp_path).act], np.zeros((2, 3), dtype=np.int8)):
        pass
    assert (tables.records["seat"]["score"].sum(axis=1) > 0).all()


def test_the_bot_that_annotates_offers_what_the_page_says(tmp_path: Path) -> None:
    bot = make("my_talker.py:Talker", tmp_path)
    assert isinstance(bot, ActionValues)
    assert isinstance(bot, Annotating)
    checked = 0

    def act(views: np.ndarray) -> np.ndarray:
        nonlocal checked
        actions = bot.act(views)
        assert bot.annotate()[action_name(actions[-1])] == 0.0
        assert (bot.action_values(views).argmax(axis=1) == actions).all()
        checked += len(views)
        return actions

    for _ in Tables([3]).play([act], np.zeros((1, 3), dtype=np.int8)):
        pass
    assert checked > 100


def test_the_page_names_the_bots_without_action_values() -> None:
    (listed,) = re.findall(r"All built-in bots have it except (.*?)\.\n", PAGE, re.DOTALL)
    without = [name for name in BOTS if not isinstance(registry.make(name, seed=1), ActionValues)]
    assert re.findall(r"`(\w+)`", listed) == without, f"docs/bots.md says who has no action_values: {without}"


def test_the_entry_point_of_the_page_is_found() -> None:
    project = tomllib.loads(FILES["my-bots/pyproject.toml"])["project"]
    assert project["entry-points"] == {registry.GROUP: {"calm": "my_bots:make"}}
    assert "def make(argument, seed):" in FILES["my-bots/my_bots.py"]


def test_every_field_of_the_page_exists() -> None:
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `view.")]
    seat_fields = {name for row in rows for name in re.findall(r"`view\.seat\[s\]\.(\w+)", row)}
    fields = {name for row in rows for name in re.findall(r"\bview\.(\w+)", row)}
    assert len(rows) > 10
    assert seat_fields <= set(TABLE["seat"].base.names or ())
    assert fields <= set(TABLE.names or ())


def test_every_helper_of_the_page_exists() -> None:
    rows = [
        line.split("|")[1:3]
        for line in PAGE.splitlines()
        if re.match(r"\| (`(agents|engine)\.[\w.]+` )?\| `\w+\(", line)
    ]
    module = ""
    for where, what in rows:
        module = where.strip(" `") or module
        for name in re.findall(r"`(\w+)\(", what):
            assert hasattr(import_module(module), name), f"{module}.{name}"
    assert len(rows) == 14
