"""Bots by name, built in or from other packages."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import numpy as np
import pytest

from agents import registry


class ExternalAgent:
    """A bot as another package would write it."""

    def __init__(self, argument: str | None, seed: int) -> None:
        self.name, self.argument, self.seed = "foreign", argument, seed

    def act(self, views: np.ndarray) -> np.ndarray:
        return np.zeros(len(views), dtype=np.int64)


@pytest.fixture
def foreign(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two bots of another package, one under a name that is taken."""
    offered = [
        EntryPoint(name, "tests.agents.test_registry:ExternalAgent", registry.GROUP) for name in ("my-bot", "random")
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: offered if group == registry.GROUP else [])


@pytest.mark.parametrize("name", ["random", "tsumogiri", "efficiency", "rule"])
def test_built_in_bots_answer_to_their_names(name: str) -> None:
    assert registry.make(name).name == name
    assert name in registry.names()


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown bot 'mortal'.*random, tsumogiri, efficiency, rule, bert"):
        registry.make("mortal")


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_seed_must_fit_in_64_bits(seed: int) -> None:
    with pytest.raises(ValueError, match="seed"):
        registry.make("random", seed=seed)


@pytest.mark.parametrize("spec", ["rule:fast", "random:"])
def test_built_in_bots_take_no_argument(spec: str) -> None:
    with pytest.raises(ValueError, match="takes no argument"):
        registry.make(spec)


@pytest.mark.usefixtures("foreign")
@pytest.mark.parametrize(("spec", "argument"), [("my-bot", None), ("my-bot:", ""), ("my-bot:a:b", "a:b")])
def test_bots_of_other_packages_get_argument_and_seed(spec: str, argument: str | None) -> None:
    bot = registry.make(spec, seed=5)
    assert isinstance(bot, ExternalAgent)
    assert (bot.argument, bot.seed) == (argument, 5)


@pytest.mark.usefixtures("foreign")
def test_other_packages_cannot_take_a_built_in_name() -> None:
    assert registry.names() == ["random", "tsumogiri", "efficiency", "rule", "bert", "my-bot"]
    assert not isinstance(registry.make("random"), ExternalAgent)
