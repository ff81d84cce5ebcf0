"""Properties of every built-in bot: its actions are legal and depend on the view and the seed only."""

from __future__ import annotations

import numpy as np
import pytest

from agents import registry
from agents.registry import make
from engine.game import Game
from engine.tables import Tables
from tests.support.built_in_bots import BOTS, quick

GAMES = 40
FEWER = dict.fromkeys(("bert", "human", "cnn", "selfplay", "ensemble", "search:n=4"), 10)  # games of slow bots


class RecordingBot:
    """A bot that records some of its views and its actions in them."""

    def __init__(self, name: str, seed: int = 3) -> None:
        self.bot = registry.make(name, seed)
        self.views: list[np.ndarray] = []
        self.actions: list[np.ndarray] = []

    def act(self, views: np.ndarray) -> np.ndarray:
        before = views.copy()
        actions = self.bot.act(views)
        assert before.tobytes() == views.tobytes(), "a bot must not change its views"
        self.views.append(before[::5])
        self.actions.append(actions[::5])
        return actions


def play(bots: list[RecordingBot], seeds: range) -> np.ndarray:
    """Play hanchan among three bots; returns the final scores, int32[n, 3]. Raises for an illegal action."""
    tables = Tables(list(seeds))
    for _ in tables.play([bot.act for bot in bots], np.tile(np.arange(3, dtype=np.int8), (len(seeds), 1))):
        pass
    return tables.records["seat"]["score"].copy()


@pytest.fixture(scope="module", params=[*map(quick, BOTS)])
def recorded(request: pytest.FixtureRequest) -> RecordingBot:
    """A bot after hanchan against efficiency and random; all its actions were legal."""
    bot = RecordingBot(request.param)
    play([bot, RecordingBot("efficiency"), RecordingBot("random")], range(FEWER.get(request.param, GAMES)))
    return bot


@pytest.mark.slow
def test_actions_do_not_depend_on_the_batch(recorded: RecordingBot) -> None:
    views, actions = np.concatenate(recorded.views), np.concatenate(recorded.actions)
    assert (recorded.bot.act(views[::-1])[::-1] == actions).all()
    alone = [int(recorded.bot.act(views[i : i + 1])[0]) for i in range(0, len(views), 7)]
    assert alone == actions[::7].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 4])
def test_only_bots_that_draw_lots_depend_on_the_seed(recorded: RecordingBot, seed: int) -> None:
    views, actions = np.concatenate(recorded.views), np.concatenate(recorded.actions)
    same = (registry.make(recorded.bot.name, seed).act(views) == actions).all()
    assert same == (seed == 3 or recorded.bot.name not in ("random", "softmax", "search:n=4"))


@pytest.mark.parametrize("name", BOTS)
def test_one_view_instead_of_an_array_is_a_clear_error(name: str) -> None:
    """Compiled code would read beyond its end."""
    view = Game(seed=7).view(0)
    bot = make(name)
    with pytest.raises(TypeError, match=r"expected an array of views, such as np\.array\(\[game\..*, not one view"):
        bot.act(view)
    for wrong in (np.array([1, 2, 3]), np.array([[view]])):
        with pytest.raises(TypeError, match="expected an array of views"):
            bot.act(wrong)
    assert len(bot.act(np.array([view]))) == 1
