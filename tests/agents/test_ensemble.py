"""The bot `ensemble`: the product of what two experts think, where the first is unsure."""

from __future__ import annotations

import numpy as np
import pytest

from agents.ensemble.bot import EXPERT, UNSURE, Ensemble
from agents.registry import make
from engine.actions import DISCARD, N_ACTIONS, TSUMOGIRI, actions_of
from engine.game import Game


class Expert:
    """A policy with the same logits in every view."""

    value_temperature: float

    def __init__(self, logits: dict[int, float], temperature: float) -> None:
        self.value_temperature = temperature
        self.asked = 0  # views
        self._values = np.full(N_ACTIONS, -np.inf, dtype=np.float32)
        self._values[list(logits)] = np.array(list(logits.values())) * temperature

    def action_values(self, views: np.ndarray) -> np.ndarray:
        self.asked += len(views)
        return np.tile(self._values, (len(views), 1))

    def act(self, views: np.ndarray) -> np.ndarray:
        raise AssertionError("its values are asked for")


@pytest.fixture(scope="module")
def views() -> np.ndarray:
    """The first decision of a game: a tile has been drawn, no other of its kind is in hand."""
    game = Game(seed=7)
    return np.array([game.view(game.asked[0])])


def discards(views: np.ndarray) -> list[int]:
    """Three discards from the hand."""
    legal = actions_of(*views[0]["legal"][views[0]["viewer"]].tolist())
    return [int(action) for action in legal if DISCARD <= action < TSUMOGIRI and action != views[0]["drawn"]][:3]


def test_the_product_of_both_probabilities_decides(views: np.ndarray) -> None:
    a, b, c = discards(views)
    first, second = Expert({a: 0.0, b: -1.0, c: -2.0}, 0.001), Expert({a: -4.0, b: -2.0, c: -1.5}, 0.004)
    bot = Ensemble("both", first, second)
    values = bot.action_values(views)[0, [a, b, c]] / bot.value_temperature
    assert values == pytest.approx([-4.0, -3.0, -3.5], abs=1e-3)
    assert bot.act(views).tolist() == [b]


def test_candidates_are_those_of_the_first(views: np.ndarray) -> None:
    a, b, c = discards(views)
    bot = Ensemble("both", Expert({a: 0.0, b: -1.0}, 0.001), Expert({a: -1.0, b: -2.0, c: 9.0}, 0.004))
    assert np.isneginf(bot.action_values(views)[0, c])
    assert bot.act(views).tolist() == [a]


def test_the_second_is_not_asked_where_the_first_is_sure(views: np.ndarray) -> None:
    a, b, _ = discards(views)
    second = Expert({a: -9.0, b: 9.0}, 0.004)
    assert Ensemble("both", Expert({a: 0.0, b: -UNSURE - 0.1}, 0.001), second).act(views).tolist() == [a]
    assert second.asked == 0
    assert Ensemble("both", Expert({a: 0.0, b: -UNSURE + 0.1}, 0.001), second).act(views).tolist() == [b]
    assert second.asked == 1


@pytest.mark.slow
def test_it_agrees_with_both_experts_more_than_they_do_with_each_other() -> None:
    games = [Game(seed=seed) for seed in range(40)]
    seen = np.array([game.view(game.asked[0]) for game in games])
    ensemble, first, human = (make(name).act(seen) for name in ("ensemble", f"residual:{EXPERT}", "human"))
    alike = np.mean(first == human)
    assert np.mean(ensemble == first) > alike < np.mean(ensemble == human)


def test_it_takes_no_argument() -> None:
    with pytest.raises(ValueError, match="takes no argument"):
        make("ensemble:bert")
