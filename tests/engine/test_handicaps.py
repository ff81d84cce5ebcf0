"""Games with other starting scores: conserved points, and records that replay."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import make
from engine.game import Game
from engine.records import mjai, tenhou_json
from engine.records.model import GameRecord
from engine.records.replay import Replay
from engine.rules import EVEN_SCORES, TOTAL_POINTS
from engine.tables import Tables
from tests.support.conservation import find_fault
from tests.support.players import ALL_HABITS, efficient_driver, play


@st.composite
def handicaps(draw: st.DrawFn) -> tuple[int, int, int]:
    """Three starting scores."""
    first, second = sorted(draw(st.tuples(st.integers(0, 1050), st.integers(0, 1050))))
    return 100 * first, 100 * (second - first), TOTAL_POINTS - 100 * second


@settings(max_examples=20, deadline=None)
@given(handicaps(), st.integers(0, 1 << 32))
def test_a_game_starts_with_its_scores_and_its_record_replays(scores: tuple[int, int, int], seed: int) -> None:
    game = play(Game(seed, scores=scores), efficient_driver(random.Random(seed), ALL_HABITS[seed % len(ALL_HABITS)]))
    first = next(message for message in game.messages if message["type"] == "start_kyoku")
    assert (tuple(first["scores"]), first["kyotaku"]) == (scores, 0)
    assert sum(game.scores) == TOTAL_POINTS
    record = mjai.read(mjai.write(GameRecord(game.messages, None, "")), "own.mjson")
    for kept in (record, tenhou_json.read(tenhou_json.write(record), "own.json")):
        assert [str(mismatch) for mismatch in Replay(kept).check()] == []


@settings(max_examples=5, deadline=None)
@given(st.lists(handicaps(), min_size=20, max_size=20))
def test_each_table_has_its_own_scores_and_points_are_conserved(scores: list[tuple[int, int, int]]) -> None:
    tables = Tables(range(20), scores=np.array(scores))
    assert tables.records["seat"]["score"].tolist() == [list(row) for row in scores]
    for _ in tables.play([make("efficiency").act], np.zeros((20, 3), dtype=np.int8)):
        assert find_fault(tables.raw) == (-1, -1)
    assert find_fault(tables.raw) == (-1, -1)


def test_even_scores_are_the_usual_game() -> None:
    usual, given_scores, unequal = Tables([5]), Tables([5], scores=EVEN_SCORES), Tables([5], scores=(0, 5_000, 100_000))
    assert usual.raw.tobytes() == given_scores.raw.tobytes() != unequal.raw.tobytes()
    assert usual.records["wall"].tolist() == unequal.records["wall"].tolist()
