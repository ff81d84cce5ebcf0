"""Hard examples: which decisions are chosen, and their targets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import registry
from agents.base import Probabilities
from agents.bert.checkpoint import REGRET_UNIT
from agents.bert.inference import softmax
from agents.bert.training.data.dataset import Dataset
from agents.bert.training.data.selfplay import SelfPlayConfig, play
from agents.bert.training.data.shards import UNKNOWN_REGRET, save
from agents.bert.training.targets import hard_examples
from agents.bert.training.targets.hard_examples import HardExamples
from agents.bert.training.targets.protocol import Decisions, Targets
from agents.bert.training.targets.teacher import Teacher
from tests.support.views import views_of_games

SHARP = 1000.0  # a factor of action values: the softmax of the product is nearly one-hot


RULE: Any = registry.make("rule")


@pytest.fixture(scope="module")
def views() -> np.ndarray:
    """TABLE[n]: decisions of games that `rule` plays."""
    return views_of_games(10)


@pytest.fixture(scope="module")
def right(views: np.ndarray) -> np.ndarray:
    """The action values of `rule` in `views`."""
    values: np.ndarray = RULE.action_values(views)
    return values


def chosen(views: np.ndarray, values: np.ndarray) -> np.ndarray:
    """int64[n]: the rows that are chosen where a bot has these action values. Checks the targets as well."""
    rows, targets = HardExamples(RULE, seed=1).label(Decisions(views, values.argmax(axis=1), values))
    teacher = RULE.action_values(views)[rows]
    mistakes = np.where(np.isfinite(values[rows]), -np.float32(UNKNOWN_REGRET), -np.inf)
    expected = np.where(np.isfinite(teacher), teacher - teacher.max(axis=1, keepdims=True), mistakes)
    assert np.array_equal(targets, expected)
    return rows


def test_mistakes_are_chosen_and_correct_decisions_are_not(
    views: np.ndarray, right: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hard_examples, "KEEP_ONE_IN", 1 << 62)
    assert len(chosen(views, SHARP * right)) == 0
    lost = right.max(axis=1) - np.where(np.isfinite(right), right, np.inf).min(axis=1)
    wrong = np.where(np.isfinite(right), -SHARP * right, -np.inf).astype(np.float32)
    assert np.array_equal(chosen(views, wrong), np.flatnonzero(lost >= hard_examples.MIN_EXPECTED_REGRET))
    assert 50 < len(chosen(views, wrong)) < len(views)


@pytest.mark.parametrize("teacher", ["residual", "selfplay", "softmax", "bert"])
def test_a_policy_teaches_its_probabilities(views: np.ndarray, teacher: str) -> None:
    bot = registry.make(teacher)
    assert isinstance(bot, Probabilities)
    few = views[:200]
    _, targets = Teacher(bot).label(Decisions(few, bot.act(few)))
    expected = softmax(bot.action_values(few).astype(np.float64) / bot.value_temperature)
    assert np.allclose(softmax(targets.astype(np.float64) / REGRET_UNIT), expected, atol=1e-5)
    assert 0.1 < expected.max(axis=1).min() < 0.7


def test_the_policy_of_the_bot_says_how_probable_its_mistakes_are(
    views: np.ndarray, right: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hard_examples, "KEEP_ONE_IN", 1 << 62)
    bot = registry.make("residual")
    assert isinstance(bot, Probabilities)
    values = bot.action_values(views)
    kept = []
    for unit in (bot.value_temperature, REGRET_UNIT):
        decisions = Decisions(views, values.argmax(axis=1), values, value_temperature=unit)
        kept.append(HardExamples(RULE, seed=1).label(decisions).rows)
    odds = softmax(values.astype(np.float64) / bot.value_temperature)
    regret = np.where(np.isfinite(right), right.max(axis=1, keepdims=True) - right, UNKNOWN_REGRET)
    wanted = np.flatnonzero((odds * regret).sum(axis=1) >= hard_examples.MIN_EXPECTED_REGRET)
    assert kept[0].tolist() == wanted.tolist()
    assert len(kept[1]) > 1.2 * len(kept[0]), "flatter odds make more mistakes probable"


def test_actions_that_the_bot_does_not_consider_have_targets(views: np.ndarray, right: np.ndarray) -> None:
    narrow = np.where(right < right.max(axis=1, keepdims=True), right, -np.inf)  # without the best action
    some = np.isfinite(narrow).any(axis=1)
    assert len(chosen(views[some], narrow[some])) > 50


def test_some_of_the_other_decisions_are_kept(views: np.ndarray, right: np.ndarray) -> None:
    assert len(views) / 16 < len(chosen(views, SHARP * right)) < len(views) / 4


def test_self_play_chooses_decisions_of_bots_with_action_values(tmp_path: Path) -> None:
    samples = {}
    for hard in (False, True):
        folder = tmp_path / str(hard)
        folder.mkdir()
        decisions = "all" if hard else "player:rule"
        bots = ("rule", "efficiency", "efficiency")
        config = SelfPlayConfig(bots, seed=1, decisions=decisions, teacher="rule", hard_examples=hard)
        save(play(config, 0, 6), folder, 0)
        data = Dataset(folder)
        batch = data.batch(data.indices)
        samples[hard] = {(row.tobytes(), label) for row, label in zip(batch.input_ids, batch.label.tolist())}
        assert (batch.regret.min(axis=1) == 0).all()
    assert 20 < len(samples[True]) < 0.8 * len(samples[False])


def test_self_play_tells_the_policy_of_the_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    units = set()
    original = HardExamples.label

    def label(self: HardExamples, decisions: Decisions) -> Targets:
        units.add(decisions.value_temperature)
        return original(self, decisions)

    monkeypatch.setattr(HardExamples, "label", label)
    play(SelfPlayConfig(("residual", "rule", "efficiency"), seed=1, teacher="rule", hard_examples=True), 0, 6)
    residual = registry.make("residual")
    assert isinstance(residual, Probabilities)
    assert units == {residual.value_temperature, REGRET_UNIT}


def test_action_values_are_required(views: np.ndarray) -> None:
    with pytest.raises(ValueError, match="action values"):
        HardExamples(RULE, seed=1).label(Decisions(views, RULE.act(views)))
