"""The names of the bots `linear` and `softmax`, their weights files, and how they play."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.base import ActionValues, Probabilities
from agents.linear.data import SelfPlay, choices_of
from agents.linear.features import NAMES
from agents.linear.weights import Weights
from agents.registry import make


@pytest.fixture(scope="module")
def views() -> np.ndarray:
    """Views of self-play in which there is a choice."""
    views, actions, _, _ = next(SelfPlay(("rule",) * 3, 3, seed=8).views(print))
    kept = choices_of(views, actions, np.arange(len(views))).game
    return views[kept]


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "weights.json"
    Weights().write(path)
    return path


def test_weights_are_written_and_read_again(weights: Path) -> None:
    document = json.loads(weights.read_text())
    assert list(document["weights"]) == list(NAMES)
    assert make(f"linear:{weights}").name == f"linear:{weights}"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"format": "other"}, "nukidora linear 1"),
        ({"weights": [1, 2]}, "'weights'"),
        ({"placements_per_point": 0}, "'placements_per_point' is 0"),
        ({"placements_per_point": None}, "'placements_per_point' is None"),
        ({"temperature": -1}, "'temperature' is -1"),
        ({"temperature": True}, "'temperature' is True"),
        ({"weights": {name: 0.0 for name in NAMES if name != "tenpai"}}, "'tenpai'"),
        ({"weights": dict.fromkeys(NAMES, 0.0) | {"tempai": 1.0}}, "'tempai'"),
        *(
            ({"weights": dict.fromkeys(NAMES, 0.0) | {"progress": value}}, f"'progress' is {shown}")
            for value, shown in (("much", "'much'"), (1e999, "inf"), (10**400, "1000"))
        ),
    ],
)
@pytest.mark.parametrize("bot", ["linear", "softmax"])
def test_a_bad_weights_file_is_one_line(weights: Path, change: dict[str, Any], named: str, bot: str) -> None:
    weights.write_text(json.dumps(json.loads(weights.read_text()) | change))
    with pytest.raises(ValueError, match=rf"^the bot {bot}: {weights}: [^\n]*{named}[^\n]*$"):
        make(f"{bot}:{weights}")


@pytest.mark.parametrize("bot", ["linear", "softmax"])
def test_the_folder_of_a_run_is_told_its_file(weights: Path, bot: str) -> None:
    with pytest.raises(ValueError, match=rf"^the bot {bot}: {weights.parent}: .*; name {weights}$"):
        make(f"{bot}:{weights.parent}")
    with pytest.raises(ValueError, match="Is a directory"):
        make(f"{bot}:{weights.parent.parent}")


def test_temperature_0_plays_the_highest_value(views: np.ndarray) -> None:
    greedy = make("softmax:?temperature=0")
    assert greedy.name == "softmax?temperature=0"
    assert not isinstance(greedy, Probabilities)
    for bot in (greedy, make("linear")):
        assert isinstance(bot, ActionValues)
        assert (bot.act(views) == bot.action_values(views).argmax(axis=1)).all()


def test_samples_have_the_probabilities_of_the_policy(views: np.ndarray) -> None:
    """Over many seeds, each action of a decision is taken about as often as its probability says."""
    bot = make("softmax:?temperature=2")
    assert isinstance(bot, Probabilities)
    few = views[::40][:12]
    odds = np.exp((bot.action_values(few) - bot.action_values(few).max(axis=1)[:, None]) / bot.value_temperature)
    expected = odds / odds.sum(axis=1, keepdims=True)
    draws = 1500
    found = np.zeros_like(expected)
    for seed in range(draws):
        found[np.arange(len(few)), make("softmax:?temperature=2", seed).act(few)] += 1 / draws
    assert expected.max(axis=1).min() < 0.9  # some decision is open
    assert np.abs(found - expected).max() < 4.5 * 0.5 / draws**0.5


def test_a_higher_temperature_agrees_less_with_the_best_action(views: np.ndarray) -> None:
    best = make("softmax:?temperature=0").act(views)
    shares = [(make(f"softmax:?temperature={heat}").act(views) == best).mean() for heat in (0.1, 1, 10, 1000)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.9
    assert shares[-1] < 0.4


def test_values_are_roughly_in_placements(views: np.ndarray) -> None:
    """Beside those of `rule`, which are meant to be in placements."""
    rule, linear = make("rule"), make("linear")
    assert isinstance(rule, ActionValues)
    assert isinstance(linear, ActionValues)
    ours, theirs = linear.action_values(views), rule.action_values(views)
    both = np.isfinite(ours) & np.isfinite(theirs)
    rows = both.sum(axis=1) > 1
    assert rows.mean() > 0.5

    def mean_gap(values: np.ndarray) -> float:
        """How far the best and the worst of the actions that both evaluate are apart."""
        compared = np.where(both, values, np.nan)[rows]
        return float((np.nanmax(compared, axis=1) - np.nanmin(compared, axis=1)).mean())

    assert 0.2 < mean_gap(ours) / mean_gap(theirs) < 5
