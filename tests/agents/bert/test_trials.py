"""Trying decisions: what is tried, and that results tell what is better."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from agents import registry
from agents.bert.labels import REACH_LABEL
from agents.bert.training.data import selfplay
from agents.bert.training.data.dataset import Dataset
from agents.bert.training.data.decisions import Decisions
from agents.bert.training.data.shards import save
from agents.bert.training.targets import rollouts
from agents.bert.training.targets.rollouts import Trials
from engine.actions import DISCARD, N_ACTIONS, NUKIDORA, TSUMO, TSUMOGIRI
from engine.rules import TENHOU
from engine.table import NOBODY, TABLE
from engine.tables import Tables
from engine.tiles import MPSZ_TILES
from tests.support.scenario import Scenario
from tests.support.scripted_positions import ATTACKER, view_of


@pytest.fixture(autouse=True)
def every_decision_but_no_discards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollouts, "LEFT_OF", 1)
    monkeypatch.setattr(rollouts, "DISCARDS_OF", 1 << 62)


def tried(between: list[int], scenario: Scenario, seat: int, n: int, lost: Sequence[float] | float = 0.0) -> np.ndarray:
    """float32[N_ACTIONS]: how `seat`, which hesitates between actions that it thinks have `lost`, stands after each."""
    table = np.frombuffer(bytearray(scenario.side.raw.tobytes()), dtype=TABLE)
    worths = np.full((1, N_ACTIONS), -np.inf, dtype=np.float32)
    worths[:, between] = -np.asarray(lost, dtype=np.float32)
    found = Trials(registry.make("rule"), n, TENHOU, seed=1).of(view_of(scenario.side.raw, seat), worths, table)
    assert found.rows.tolist() == [0]
    assert table.tobytes() == scenario.side.raw.tobytes()  # the game itself goes on as it was
    return found.worths[0]


def test_a_win_comes_out_better_than_throwing_it_away() -> None:
    scenario = Scenario(["123456p23s44555z", "", ""], "1s")
    worths = tried([TSUMO, TSUMOGIRI], scenario, 0, 20)
    assert set(np.flatnonzero(np.isfinite(worths))) == {TSUMO, TSUMOGIRI}
    assert worths[TSUMO] > worths[TSUMOGIRI] + 0.02
    assert -3 < worths[TSUMO] < 0


def test_what_the_bot_of_the_trials_would_do_is_tried_as_well() -> None:
    scenario = Scenario(["123456p23s44555z", "", ""], "1s")
    thrown_away = tried([TSUMOGIRI], scenario, 0, 20)
    assert set(np.flatnonzero(np.isfinite(thrown_away))) == {TSUMO, TSUMOGIRI}
    assert thrown_away[TSUMO] > thrown_away[TSUMOGIRI] + 0.02
    agreed = tried([TSUMO], scenario, 0, 20)
    assert np.flatnonzero(np.isfinite(agreed)).tolist() == [TSUMO]
    assert agreed[TSUMO] == 0


def test_close_discards_are_tried_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = Scenario(["1379p2468s135z9m", "", ""], "7z")
    between = [DISCARD + MPSZ_TILES[tile] for tile in ("9p", "1z", "3z", "5z")]
    monkeypatch.setattr(rollouts, "DISCARDS_OF", 1)
    close, far = [0.0, 0.003, 0.006, 0.007], [0.0, 0.009, 0.01, 0.012]
    assert np.flatnonzero(np.isfinite(tried(between, scenario, 0, 2, close))).tolist() == between[: rollouts.FEW]
    assert np.flatnonzero(np.isfinite(tried(between, scenario, 0, 2, far))).tolist() == between[:1]
    monkeypatch.setattr(rollouts, "DISCARDS_OF", 1 << 62)
    assert np.flatnonzero(np.isfinite(tried(between, scenario, 0, 2, close))).tolist() == between[:1]


def test_trials_follow_the_calls_of_others() -> None:
    """A discard that somebody waits for is worse than a safe one, as they say ron in the trials."""
    scenario = Scenario(["1379p2468s134z9m", ATTACKER, ""], "7z9p9m6s").do("7z", "riichi", "9p", "9m")
    safe, winning = DISCARD + MPSZ_TILES["9p"], TSUMOGIRI
    worths = tried([safe, winning, NUKIDORA], scenario, 0, 20)
    assert worths[safe] > worths[winning] + 0.05


def test_only_what_nobody_has_seen_changes() -> None:
    rule, tables = registry.make("rule"), Tables(range(4))
    n_checked = 0

    def watched(views: np.ndarray) -> np.ndarray:
        nonlocal n_checked
        before = tables.records.copy()
        after = before.copy()
        rollouts.shuffle_all(after.view(np.uint8), np.arange(4, dtype=np.uint64))
        hidden = before["known_by"] == NOBODY
        assert (after["wall"] == before["wall"])[~hidden].all()
        assert (after["wall"] != before["wall"])[hidden].mean() > 0.7
        assert np.array_equal(np.sort(after["wall"], axis=1), np.sort(before["wall"], axis=1))
        after["wall"] = before["wall"]
        assert after.tobytes() == before.tobytes()
        n_checked += 1
        return rule.act(views)

    for _ in tables.play([watched], np.zeros((4, 3), dtype=np.int8)):
        break
    assert n_checked > 10


def test_what_is_gathered_is_what_came_of_trials_and_what_needed_none(tmp_path: Path) -> None:
    names = ["rule", "efficiency", "efficiency"]
    bots = selfplay.make_bots(names, 1)
    rule = bots[0]
    save(selfplay.play(bots, names, 1, 0, 6, Decisions(), teacher=rule, n_trials=2), tmp_path, 0)
    again = tmp_path / "again"
    again.mkdir()
    save(selfplay.play(bots, names, 1, 0, 6, Decisions(), teacher=rule, n_trials=2), again, 0)
    for path in again.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()
    data = Dataset(tmp_path)
    batch = data.batch(data.places)
    told = np.isfinite(batch.regret)
    assert len(batch.label) > 50
    several = told.sum(axis=1) > 1
    assert several.sum() > 10
    assert told[several, REACH_LABEL:].any(axis=1).all()  # labels of discards come first
    assert (told[~several].sum(axis=1) == 1).all()
    assert not (told & ~batch.legal).any()
    assert (batch.regret.min(axis=1) == 0).all()
    assert batch.regret[told].max() > 0.05  # results differ far more than guesses
