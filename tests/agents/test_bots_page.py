"""The examples of docs/bots.md run, and the fields it lists exist."""

from __future__ import annotations

import importlib
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from agents import registry
from agents.base import ActionValues, Agent, Annotating
from agents.client.cli import make_parser
from engine.table import TABLE
from engine.tables import Tables

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "bots.md").read_text(encoding="utf-8")
MODULES = ("my_bots", "my_annotated_bot", "my_compiled_bot")


def code_blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Agent]]:
    """The bots of the page by the name of their module, made by the factories of the page."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        for block in code_blocks("python"):
            first_line, _, _ = block.partition("\n")
            (folder / first_line.removeprefix("# ")).write_text(block, encoding="utf-8")
        yield {name: importlib.import_module(name).make(None, 1) for name in MODULES}


@pytest.mark.parametrize("name", MODULES)
def test_the_bots_of_the_page_play_legally(bots: dict[str, Agent], name: str) -> None:
    tables = Tables([1, 2])
    for _ in tables.play([bots[name].act], np.zeros((2, 3), dtype=np.int8)):
        pass
    assert (tables.records["seat"]["score"].sum(axis=1) > 0).all()


def test_the_annotated_bot_offers_what_the_page_says(bots: dict[str, Agent]) -> None:
    bot = bots["my_annotated_bot"]
    assert isinstance(bot, ActionValues)
    assert isinstance(bot, Annotating)
    checked = 0

    def act(views: np.ndarray) -> np.ndarray:
        nonlocal checked
        actions = bot.act(views)
        assert bot.annotate() == {"action": actions[-1]}
        assert (bot.action_values(views).argmax(axis=1) == actions).all()
        checked += len(views)
        return actions

    for _ in Tables([3]).play([act], np.zeros((1, 3), dtype=np.int8)):
        pass
    assert checked > 100


def test_the_entry_point_of_the_page_is_found() -> None:
    (block,) = code_blocks("toml")
    assert tomllib.loads(block)["project"]["entry-points"] == {registry.GROUP: {"eager": "my_bots:make"}}


def test_every_field_of_the_page_exists() -> None:
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `view.")]
    seat_fields = {name for row in rows for name in re.findall(r"`view\.seat\[s\]\.(\w+)", row)}
    fields = {name for row in rows for name in re.findall(r"\bview\.(\w+)", row)}
    assert len(rows) > 10
    assert seat_fields <= set(TABLE["seat"].base.names or ())
    assert fields <= set(TABLE.names or ())


def test_the_client_accepts_the_commands_of_the_page() -> None:
    lines = [line for block in code_blocks("sh") for line in block.splitlines()]
    commands = [shlex.split(line, comments=True) for line in lines if "agents.client" in line]
    assert len(commands) == 2
    for python, option, module, *arguments in commands:
        assert (python, option, module) == ("python", "-m", "agents.client")
        assert make_parser().parse_intermixed_args(arguments).url.room == "default"
