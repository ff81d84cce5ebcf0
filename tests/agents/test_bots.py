"""What holds for every built-in bot: legal answers that depend on the view and the seed, and on nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from agents import registry
from engine import kernels
from engine.table import TABLE
from engine.tables import Tables
from tests.support.hidden_information import shuffle_hidden

BOTS = ["random", "tsumogiri", "efficiency", "rule", "bert"]
GAMES = 100


class Watched:
    """A bot that keeps some of the views it is asked about, with its answers."""

    def __init__(self, name: str, seed: int = 3) -> None:
        self.bot = registry.make(name, seed)
        self.views: list[np.ndarray] = []
        self.actions: list[np.ndarray] = []

    def act(self, views: np.ndarray) -> np.ndarray:
        before = views.copy()
        actions = self.bot.act(views)
        assert before.tobytes() == views.tobytes(), "a bot must leave its views as they are"
        self.views.append(before[::5])
        self.actions.append(actions[::5])
        return actions


def play(bots: list[Watched], seeds: range) -> np.ndarray:
    """Play hanchan among three bots; returns the final scores, int32[n, 3]. An illegal answer raises."""
    tables = Tables(list(seeds))
    for _ in tables.play([bot.act for bot in bots], np.tile(np.arange(3, dtype=np.int8), (len(seeds), 1))):
        pass
    return tables.records["seat"]["score"].copy()


@pytest.fixture(scope="module", params=BOTS)
def watched(request: pytest.FixtureRequest) -> Watched:
    """A bot after hanchan against efficiency and random; every answer was legal."""
    bot = Watched(request.param)
    play([bot, Watched("efficiency"), Watched("random")], range(GAMES))
    return bot


def test_answers_do_not_depend_on_the_batch(watched: Watched) -> None:
    views, actions = np.concatenate(watched.views), np.concatenate(watched.actions)
    assert (watched.bot.act(views[::-1])[::-1] == actions).all()
    alone = [int(watched.bot.act(views[i : i + 1])[0]) for i in range(0, len(views), 7)]
    assert alone == actions[::7].tolist()


def test_a_bot_made_anew_answers_the_same(watched: Watched) -> None:
    views, actions = np.concatenate(watched.views), np.concatenate(watched.actions)
    assert (registry.make(watched.bot.name, 3).act(views) == actions).all()


def test_only_random_depends_on_its_seed(watched: Watched) -> None:
    views, actions = np.concatenate(watched.views), np.concatenate(watched.actions)
    same = (registry.make(watched.bot.name, 4).act(views) == actions).all()
    assert same == (watched.bot.name != "random")


@pytest.mark.parametrize("name", BOTS)
def test_nothing_hidden_changes_an_answer(name: str) -> None:
    rng = np.random.default_rng(1)
    bot, driver = registry.make(name, 3), registry.make("efficiency")
    tables = Tables(list(range(500, 540)))
    compared = 0

    def compare(views: np.ndarray) -> np.ndarray:
        nonlocal compared
        for i in rng.integers(0, len(tables.records), 4):
            for seat in range(3):
                if not kernels.asked_seats(tables.raw, i) >> seat & 1:
                    continue
                table, view = tables.records[i : i + 1].copy(), np.zeros(1, dtype=TABLE)
                kernels.write_view(table.view(np.uint8), 0, seat, view.view(np.uint8), 0)
                expected = bot.act(view)
                shuffle_hidden(table, seat, rng)
                kernels.write_view(table.view(np.uint8), 0, seat, view.view(np.uint8), 0)
                assert bot.act(view) == expected
                compared += 1
        return driver.act(views)

    for _ in tables.play([compare], np.zeros((40, 3), dtype=np.int8)):
        pass
    assert compared > 1000
