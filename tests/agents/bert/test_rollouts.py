"""Rollouts: which actions are rolled out, and that the results tell which is better."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import registry
from agents.bert.labels import REACH_LABEL
from agents.bert.training.data.dataset import Dataset
from agents.bert.training.data.selfplay import SelfPlayConfig, play
from agents.bert.training.data.shards import save
from agents.bert.training.targets import rollouts
from agents.bert.training.targets.protocol import Decisions
from agents.bert.training.targets.rollouts import Rollouts
from engine.actions import DISCARD, N_ACTIONS, NUKIDORA, TSUMO, TSUMOGIRI
from engine.rules import TENHOU
from engine.table import TABLE
from engine.tiles import MPSZ_TILES
from tests.support.scenario import Scenario
from tests.support.scripted_positions import ATTACKER, view_of

RULE = registry.make("rule")


@pytest.fixture(autouse=True)
def keep_all_decisions_but_try_no_discards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollouts, "KEEP_ONE_IN", 1)
    monkeypatch.setattr(rollouts, "TRY_DISCARDS_ONE_IN", 1 << 62)


def rolled_out(
    actions: list[int],
    scenario: Scenario,
    seat: int,
    n: int,
    gap: Sequence[float] | float = 0.0,
    *,
    teacher: Any = RULE,
    playouts: Any = RULE,
) -> np.ndarray:
    """float32[N_ACTIONS]: the targets of `seat`, whose bot values these actions `gap` below its best one."""
    table = np.frombuffer(bytearray(scenario.side.raw.tobytes()), dtype=TABLE)
    values = np.full((1, N_ACTIONS), -np.inf, dtype=np.float32)
    values[:, actions] = -np.asarray(gap, dtype=np.float32)
    source = Rollouts(teacher, n, TENHOU, seed=1, playouts=playouts)
    views = view_of(scenario.side.raw, seat)
    targets = source.label(Decisions(views, values.argmax(axis=1), values, table, np.array([0])))
    assert np.array_equal(targets.rows, [0])
    assert table.tobytes() == scenario.side.raw.tobytes()  # the game itself is unchanged
    return targets.action_values[0]


def test_a_win_has_a_higher_value_than_discarding_the_winning_tile() -> None:
    scenario = Scenario(["123456p23s44555z", "", ""], "1s")
    values = rolled_out([TSUMO, TSUMOGIRI], scenario, 0, 20)
    assert set(np.flatnonzero(np.isfinite(values))) == {TSUMO, TSUMOGIRI}
    assert values[TSUMO] > values[TSUMOGIRI] + 0.02
    assert -3 < values[TSUMO] < 0


def test_the_action_of_the_rollout_bot_is_a_candidate() -> None:
    scenario = Scenario(["123456p23s44555z", "", ""], "1s")
    disagreed = rolled_out([TSUMOGIRI], scenario, 0, 20)
    assert set(np.flatnonzero(np.isfinite(disagreed))) == {TSUMO, TSUMOGIRI}
    assert disagreed[TSUMO] > disagreed[TSUMOGIRI] + 0.02
    agreed = rolled_out([TSUMO], scenario, 0, 20)
    assert np.flatnonzero(np.isfinite(agreed)).tolist() == [TSUMO]
    assert agreed[TSUMO] == 0


def test_some_close_discards_are_rolled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = Scenario(["1379p2468s135z9m", "", ""], "7z")
    actions = [DISCARD + MPSZ_TILES[tile] for tile in ("9p", "1z", "3z", "5z")]
    monkeypatch.setattr(rollouts, "TRY_DISCARDS_ONE_IN", 1)
    close, far = [0.0, 0.003, 0.006, 0.007], [0.0, 0.009, 0.01, 0.012]
    assert (
        np.flatnonzero(np.isfinite(rolled_out(actions, scenario, 0, 2, close))).tolist()
        == actions[: rollouts.MAX_DISCARDS]
    )
    assert np.flatnonzero(np.isfinite(rolled_out(actions, scenario, 0, 2, far))).tolist() == actions[:1]
    monkeypatch.setattr(rollouts, "TRY_DISCARDS_ONE_IN", 1 << 62)
    assert np.flatnonzero(np.isfinite(rolled_out(actions, scenario, 0, 2, close))).tolist() == actions[:1]


def test_opponents_answer_the_action_in_rollouts() -> None:
    """A discard that an opponent waits for is worse than a safe one, as the opponent calls ron in the rollouts."""
    scenario = Scenario(["1379p2468s134z9m", ATTACKER, ""], "7z9p9m6s").do("7z", "riichi", "9p", "9m")
    safe, winning = DISCARD + MPSZ_TILES["9p"], TSUMOGIRI
    values = rolled_out([safe, winning, NUKIDORA], scenario, 0, 20)
    assert values[safe] > values[winning] + 0.05


def test_samples_are_decisions_with_and_without_rollouts(tmp_path: Path) -> None:
    config = SelfPlayConfig(("rule", "efficiency", "efficiency"), seed=1, teacher="rule", rollouts=2)
    save(play(config, 0, 6), tmp_path, 0)
    again = tmp_path / "again"
    again.mkdir()
    save(play(config, 0, 6), again, 0)
    for path in again.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()
    data = Dataset(tmp_path)
    batch = data.batch(data.indices)
    known = np.isfinite(batch.regret)
    assert len(batch.label) > 50
    several = known.sum(axis=1) > 1
    assert several.sum() > 10
    assert known[several, REACH_LABEL:].any(axis=1).all()  # labels of discards come first
    assert (known[~several].sum(axis=1) == 1).all()
    assert not (known & ~batch.legal).any()
    assert (batch.regret.min(axis=1) == 0).all()
    assert batch.regret[known].max() > 0.05  # results of rollouts differ far more than the bot's action values


def test_tables_are_required() -> None:
    scenario = Scenario(["123456p23s44555z", "", ""], "1s")
    values = np.zeros((1, N_ACTIONS), dtype=np.float32)
    source = Rollouts(registry.make("rule"), 1, TENHOU, seed=1, playouts=registry.make("rule"))
    with pytest.raises(ValueError, match="whole tables"):
        source.label(Decisions(view_of(scenario.side.raw, 0), np.array([TSUMO]), values))


class Counting:
    """A bot that counts the views it is asked about."""

    def __init__(self, name: str) -> None:
        self.name, self.bot, self.asked = name, registry.make(name, 1), 0

    def act(self, views: np.ndarray) -> np.ndarray:
        self.asked += len(views)
        return self.bot.act(views)


@pytest.mark.parametrize("policy", ["softmax", "linear"])
def test_another_bot_may_play_the_rollouts(policy: str) -> None:
    scenario, teacher, playouts = Scenario(["123456p23s44555z", "", ""], "1s"), Counting("rule"), Counting(policy)
    values = rolled_out([TSUMO, TSUMOGIRI], scenario, 0, 20, teacher=teacher, playouts=playouts)
    assert teacher.asked == 1  # for its candidate
    assert playouts.asked > 100
    assert values[TSUMO] > values[TSUMOGIRI] + 0.02
