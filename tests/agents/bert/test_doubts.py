"""Choosing the decisions in which a bot may be wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agents import registry
from agents.base import ActionValues
from agents.bert.training.data import selfplay
from agents.bert.training.data.dataset import Dataset
from agents.bert.training.data.decisions import Decisions
from agents.bert.training.data.shards import NOT_THOUGHT_OF, save
from agents.bert.training.targets import hard_examples
from agents.bert.training.targets.hard_examples import Doubts
from engine.tables import Tables

SURE = 1000.0  # times what rule thinks of the actions: then it has no doubt which is best


@pytest.fixture(scope="module")
def views() -> np.ndarray:
    """TABLE[n]: decisions of games that `rule` plays."""
    rule, seen = registry.make("rule"), []

    def watched(views: np.ndarray) -> np.ndarray:
        seen.append(views.copy())
        return rule.act(views)

    for _ in Tables(range(20)).play([watched], np.zeros((20, 3), dtype=np.int8)):
        break
    return np.concatenate(seen)


def chosen(views: np.ndarray, worths: np.ndarray) -> np.ndarray:
    """int64[n]: the rows that are chosen where a bot weighs its actions so."""
    rule = registry.make("rule")
    assert isinstance(rule, ActionValues)
    lesson = Doubts(rule, seed=1).of(views, worths, views)
    taught = rule.action_values(views)[lesson.rows]  # the teacher's word, not the bot's
    mistakes = np.where(np.isfinite(worths[lesson.rows]), -np.float32(NOT_THOUGHT_OF), -np.inf)
    said = np.where(np.isfinite(taught), taught - taught.max(axis=1, keepdims=True), mistakes)
    assert np.array_equal(lesson.worths, said)
    return lesson.rows


def test_what_a_bot_gets_wrong_is_chosen_and_what_it_gets_right_is_not(
    views: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hard_examples, "LEFT_OF", 1 << 62)
    rule = registry.make("rule")
    assert isinstance(rule, ActionValues)
    right = rule.action_values(views)
    assert len(chosen(views, SURE * right)) == 0
    lost = right.max(axis=1) - np.where(np.isfinite(right), right, np.inf).min(axis=1)
    wrong = np.where(np.isfinite(right), -SURE * right, -np.inf).astype(np.float32)
    assert np.array_equal(chosen(views, wrong), np.flatnonzero(lost >= hard_examples.DOUBTFUL))
    assert 50 < len(chosen(views, wrong)) < len(views)


def test_what_the_teacher_did_not_think_of_is_a_mistake(views: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hard_examples, "LEFT_OF", 1 << 62)
    rule = registry.make("rule")
    assert isinstance(rule, ActionValues)
    right = rule.action_values(views)
    unthought = np.where(np.isfinite(right), np.float32(-SURE), np.float32(0.0))
    assert np.array_equal(chosen(views, unthought), np.arange(len(views)))


def test_what_the_bot_did_not_think_of_is_taught_all_the_same(views: np.ndarray) -> None:
    rule = registry.make("rule")
    assert isinstance(rule, ActionValues)
    right = rule.action_values(views)
    narrow = np.where(right < right.max(axis=1, keepdims=True), right, -np.inf)  # never of the best
    some = np.isfinite(narrow).any(axis=1)
    assert len(chosen(views[some], narrow[some])) > 50


def test_some_of_the_others_come_along(views: np.ndarray) -> None:
    rule = registry.make("rule")
    assert isinstance(rule, ActionValues)
    assert len(views) / 16 < len(chosen(views, SURE * rule.action_values(views))) < len(views) / 4


def test_only_bots_that_weigh_teach_and_they_play_on(tmp_path: Path) -> None:
    names = ["rule", "efficiency", "efficiency"]
    bots = selfplay.make_bots(names, 1)
    taught = {}
    for doubtful in (False, True):
        folder = tmp_path / str(doubtful)
        folder.mkdir()
        whose = Decisions() if doubtful else Decisions(player="rule")
        shard = selfplay.play(bots, names, 1, 0, 6, whose, teacher=registry.make("rule"), doubtful=doubtful)
        save(shard, folder, 0)
        data = Dataset(folder)
        batch = data.batch(data.places)
        taught[doubtful] = {(row.tobytes(), label) for row, label in zip(batch.ids, batch.label.tolist())}
        assert (batch.regret.min(axis=1) == 0).all()
    assert 20 < len(taught[True]) < 0.8 * len(taught[False])
