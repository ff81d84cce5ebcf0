"""The dial of strength: how a dialled bot plays, and the scale that says how far the dial is turned."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from agents import registry
from agents.base import Agent
from agents.built_in import BUILT_IN
from agents.strength import scale as scales
from agents.strength.dial import Dialled, Setting
from agents.strength.scale import Scale, Step, read_scale, scale_path, write_scale
from engine.actions import N_ACTIONS, actions_of
from tests.support.views import views_of_games

SCALE = Scale(
    "rule",
    3000,
    (
        Step(0.0, 0.0, Setting(0.0, 0.0)),
        Step(-100.0, 9.0, Setting(0.01, 0.0)),
        Step(-300.0, 9.0, Setting(0.04, 0.0)),
        Step(-700.5, 9.0, Setting(0.04, 1.0)),
    ),
)


@pytest.fixture(scope="module")
def views() -> np.ndarray:
    return views_of_games(1, "random")


def legal_of(view: np.record) -> list[int]:
    return list(actions_of(*view.legal[view.viewer]))


class Valued:
    """A bot whose values are given: of the n-th legal action, values[n % len(values)]."""

    name = "valued"

    def __init__(self, *values: float) -> None:
        self.values = values
        self.asked = 0

    def act(self, views: np.ndarray) -> np.ndarray:
        return self.action_values(views).argmax(axis=1)

    def action_values(self, views: np.ndarray) -> np.ndarray:
        self.asked += len(views)
        values = np.full((len(views), N_ACTIONS), -np.inf, dtype=np.float32)
        for row, view in zip(values, views):
            legal = legal_of(view)
            row[legal] = [self.values[k % len(self.values)] for k in range(len(legal))]
        return values


def shares(bot: Agent, setting: Setting, view: np.ndarray, n: int = 3000) -> dict[int, float]:
    """How often each action is played in `view`, TABLE[1], over many seeds."""
    played = [int(Dialled(bot, setting, "", seed).act(view)[0]) for seed in range(n)]
    return {action: played.count(action) / n for action in sorted(set(played))}


def test_at_full_strength_it_plays_as_the_bot(views: np.ndarray) -> None:
    for name in ("rule", "efficiency"):
        bot = registry.make(name)
        assert (Dialled(bot, Setting(0.0, 0.0), "", 1).act(views) == bot.act(views)).all()


def test_a_temperature_draws_from_the_softmax_of_the_values(views: np.ndarray) -> None:
    view = next(view for view in views if len(legal_of(view)) >= 6)[np.newaxis]
    legal = legal_of(view[0])
    bot = Valued(1.0, 0.8, 0.0, -np.inf)
    temperature = 0.5
    weights = np.exp(np.array([bot.values[k % 4] for k in range(len(legal))]) / temperature)
    expected = dict(zip(legal, (weights / weights.sum()).tolist()))
    measured = shares(bot, Setting(temperature, 0.0), view)
    for action in legal:  # four standard errors
        assert measured.get(action, 0.0) == pytest.approx(expected[action], abs=4 * np.sqrt(0.25 / 3000))
    assert measured.keys() == {action for action in legal if expected[action] > 0}


def test_a_share_is_uniform_among_all_legal_actions(views: np.ndarray) -> None:
    view = next(view for view in views if len(legal_of(view)) >= 6)[np.newaxis]
    legal = legal_of(view[0])
    bot = Valued(1.0, *[0.0] * 20)
    measured = shares(bot, Setting(0.0, 0.4), view)
    assert measured.keys() == set(legal)
    assert measured[legal[0]] == pytest.approx(0.6 + 0.4 / len(legal), abs=0.036)
    assert sum(measured[action] for action in legal[1:4]) == pytest.approx(3 * 0.4 / len(legal), abs=0.036)


def test_a_bot_that_is_all_random_is_never_asked(views: np.ndarray) -> None:
    bot = Valued(0.0)
    actions = Dialled(bot, Setting(1.0, 1.0), "", 3).act(views)
    assert bot.asked == 0
    assert all(action in legal_of(view) for action, view in zip(actions.tolist(), views))


def test_it_depends_on_view_and_seed_alone(views: np.ndarray) -> None:
    def dialled(seed: int) -> Dialled:
        return Dialled(registry.make("rule", 5), Setting(0.05, 0.3), "", seed)

    together = dialled(1).act(views)
    backwards = dialled(1).act(views[::-1])[::-1]
    assert (together == backwards).all()
    assert (together == np.concatenate([dialled(1).act(views[k : k + 1]) for k in range(len(views))])).all()
    assert (together != dialled(2).act(views)).any()


@pytest.mark.parametrize("bad", ["shape", "nothing"])
def test_action_values_that_are_none_are_an_error(views: np.ndarray, bad: str) -> None:
    class Bad(Valued):
        def action_values(self, views: np.ndarray) -> np.ndarray:
            shape = (len(views), 3) if bad == "shape" else (len(views), N_ACTIONS)
            return np.full(shape, -np.inf)

    with pytest.raises(ValueError, match="action_values gives"):
        Dialled(Bad(), Setting(0.1, 0.0), "", 0).act(views)


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the scales of built-in bots, with one for the rule bot."""
    monkeypatch.setattr(scales, "SHIPPED", tmp_path / "scales")
    write_scale(SCALE)
    return tmp_path / "scales"


def test_a_scale_is_read_as_it_was_written(shipped: Path) -> None:
    assert read_scale("rule") == SCALE


def test_settings_are_linear_between_steps_and_only_get_weaker() -> None:
    assert SCALE.setting(-200) == pytest.approx(Setting(0.025, 0.0))
    assert SCALE.setting(-500).share == pytest.approx(200 / 400.5)
    settings = [SCALE.setting(-points) for points in range(701)]
    assert all(a.temperature <= b.temperature and a.share <= b.share for a, b in pairwise(settings))
    assert SCALE.lowest == -700
    with pytest.raises(ValueError, match=r"rule@-701: the weakest that rule can be is rule@-700"):
        SCALE.setting(-701)


@pytest.mark.usefixtures("shipped")
def test_a_bot_with_a_strength_is_made_by_name(views: np.ndarray) -> None:
    bot = registry.make("rule@-150", 4)
    assert isinstance(bot, Dialled)
    assert bot.name == "rule@-150"
    assert (bot.act(views) == Dialled(registry.make("rule", 4), SCALE.setting(-150), "", 4).act(views)).all()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"games": 1, "steps": 3}',
        '{"games": 1, "steps": []}',
        json.dumps({"games": 1, "steps": [{"points": 0, "interval": 0, "temperature": 0, "share": 0}] * 2}),
        json.dumps(
            {"games": 1, "steps": [{"points": -k, "interval": 0, "temperature": 0, "share": k} for k in range(3)]}
        ),
    ],
)
def test_a_file_that_holds_no_scale_is_one_clear_error(shipped: Path, text: str) -> None:
    (shipped / "rule.json").write_text(text)
    with pytest.raises(ValueError, match=r"rule\.json holds .*measure .* again: .*calibrate rule$") as raised:
        read_scale("rule")
    assert "\n" not in str(raised.value)


def test_a_scale_is_kept_with_the_bot(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "weights.json").touch()
    for bot, path in {
        "rule": scales.SHIPPED / "rule.json",
        "bert:?temperature=0.5": scales.SHIPPED / "bert.json",
        f"bert:{tmp_path}/net": tmp_path / "net" / "strength.json",
        f"bert:{tmp_path}/net?temperature=0.5": tmp_path / "net" / "strength.json",
        f"linear:{tmp_path}/weights.json": tmp_path / "weights.json.strength.json",
        f"{tmp_path}/my_bot.py:Eager:an argument": tmp_path / "my_bot.Eager.strength.json",
    }.items():
        assert scale_path(bot) == path


@pytest.mark.parametrize("path", ["~no_such_user/x", "x" * 300])
@pytest.mark.parametrize("bot", ["bert:{}", "{}.py:Eager"])
def test_a_bot_at_an_impossible_path_has_no_scale(bot: str, path: str) -> None:
    with pytest.raises(ValueError, match=path):
        read_scale(bot.format(path))


@pytest.mark.parametrize("path", sorted(scales.SHIPPED.glob("*.json")), ids=lambda path: path.stem)
def test_shipped_scales_are_of_built_in_bots_and_reach_far(path: Path) -> None:
    assert path.stem in BUILT_IN
    scale = read_scale(path.stem)
    assert scale.lowest <= -500
    assert scale.steps[-1].setting.share == 1
