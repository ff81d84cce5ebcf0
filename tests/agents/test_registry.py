"""Bots by name, built in or from other packages."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from agents import registry
from tests.support.built_in_bots import BOTS


class PluginBot:
    """A bot of another package."""

    def __init__(self, argument: str | None, seed: int) -> None:
        self.name, self.argument, self.seed = "plugin", argument, seed

    def act(self, views: np.ndarray) -> np.ndarray:
        return np.zeros(len(views), dtype=np.int64)


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two bots of another package, one with the name of a built-in bot."""
    offered = [
        EntryPoint(name, "tests.agents.test_registry:PluginBot", registry.GROUP) for name in ("my-bot", "random")
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: offered if group == registry.GROUP else [])


def test_the_page_of_the_players_has_them_all() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "players.md").read_text(encoding="utf-8")
    rows = (line.split("|")[1] for line in page.splitlines() if line.startswith("| "))
    listed = {name for cell in rows for name in re.findall(r"`(\w+)`", cell)}
    assert set(BOTS) - listed == set()


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_seed_must_fit_in_64_bits(seed: int) -> None:
    with pytest.raises(ValueError, match="seed"):
        registry.make("random", seed=seed)


def test_options_without_the_colon_are_told_where_it_belongs() -> None:
    for spec in ("bert?temperature=1", "search?n=5"):
        with pytest.raises(ValueError, match="options follow a colon, as in bert:"):
            registry.make(spec)
    with pytest.raises(ValueError, match="choose one of"):
        registry.make("nobody?n=5")


@pytest.mark.usefixtures("plugins")
@pytest.mark.parametrize(("spec", "argument"), [("my-bot", None), ("my-bot:", ""), ("my-bot:a:b", "a:b")])
def test_bots_of_other_packages_get_argument_and_seed(spec: str, argument: str | None) -> None:
    bot = registry.make(spec, seed=5)
    assert isinstance(bot, PluginBot)
    assert (bot.argument, bot.seed) == (argument, 5)


@pytest.mark.usefixtures("plugins")
def test_other_packages_cannot_replace_a_built_in_bot() -> None:
    assert registry.names() == [*BOTS, "my-bot"]
    assert not isinstance(registry.make("random"), PluginBot)
