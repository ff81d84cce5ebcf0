"""The schedule: seats, seeds, labels, chunks."""

from __future__ import annotations

from functools import partial
from itertools import permutations
from types import SimpleNamespace
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.chunk import GamesPlayed, play_chunk
from arena.schedule import MAX_WALLS, Bot, RunSettings, round_up, split_walls
from engine.common.labels import labels
from engine.contests.seating import ROTATIONS, seating
from engine.tables import Policy


def test_every_bot_has_every_seat_of_every_wall_once() -> None:
    seats = seating(range(10))
    assert seats.shape == (10, ROTATIONS, 3)
    for wall in seats:
        assert [sorted(game) for game in wall.tolist()] == [[0, 1, 2]] * ROTATIONS
        assert [sorted(column) for column in wall.T.tolist()] == [[0, 1, 2]] * 3


def test_two_walls_see_all_six_orders() -> None:
    assert sorted(map(tuple, seating([4, 5]).reshape(-1, 3).tolist())) == sorted(permutations(range(3)))


def test_seats_of_a_wall_do_not_depend_on_the_walls_beside_it() -> None:
    assert np.array_equal(seating([7, 2, 9])[1:2], seating([2]))


def test_a_warm_up_plays_the_first_game_of_the_schedule() -> None:
    assert seating([0])[0, 0].tolist() == [0, 1, 2]


def test_wall_seeds_are_distinct_and_depend_on_the_seed() -> None:
    def seeds(seed: int) -> list[int]:
        return RunSettings(("random",) * 3, 3000, seed, "tenhou", "hanchan").wall_seeds(range(1000))

    assert len(set(seeds(1)) | set(seeds(2))) == 2000
    assert all(0 <= seed < 1 << 64 for seed in seeds(1))
    assert seeds(1) == seeds(1)


def test_bots_of_the_same_name_get_labels_and_seeds_of_their_own() -> None:
    bots = RunSettings(("random", "random", "random"), 3, 0, "tenhou", "hanchan").make_bots()
    assert [bot.label for bot in bots] == ["random", "random#2", "random#3"]
    assert labels(["a", "b", "a"]) == ["a", "b", "a#2"]
    assert labels(["a", "a", "a#2"]) == ["a", "a#2", "a#2#2"]
    assert labels(["a#2", "a", "a"]) == ["a#2", "a", "a#3"]


@pytest.mark.parametrize(("games", "played"), [(1, 3), (3, 3), (1000, 1002), (1002, 1002)])
def test_games_are_rounded_up_to_whole_walls(games: int, played: int) -> None:
    assert round_up(games) == played


@pytest.mark.parametrize("length", ["east", "hanchan"])
def test_what_has_been_played_grows_evenly(length: Literal["east", "hanchan"]) -> None:
    """Of games in lock step hardly one ends in the first half of the time, of which the time left is a guess."""
    settings = RunSettings(("efficiency", "random", "random"), 90, 1, "tenhou", length)
    decisions, bots = 0, settings.make_bots()

    def counted(act: Policy, views: np.ndarray) -> np.ndarray:
        nonlocal decisions
        decisions += len(views)
        return act(views)

    counting = [Bot(bot.label, SimpleNamespace(name=bot.label, act=partial(counted, bot.agent.act))) for bot in bots]
    updates = [(update, decisions) for update in play_chunk(settings, counting, list(range(30)), None)]
    parts = [(update.n / 90, at / decisions) for update, at in updates if isinstance(update, GamesPlayed)]
    assert sum(part for part, _ in parts) == pytest.approx(1.0)
    for share in (0.25, 0.5, 0.75):
        assert abs(sum(part for part, at in parts if at <= share) - share) < 0.2


@given(st.integers(0, 1000), st.integers(1, 40))
def test_chunks_have_every_wall_once_and_every_job_has_work(n_walls: int, jobs: int) -> None:
    walls = list(range(5, 5 + n_walls))
    chunks = split_walls(walls, jobs)
    assert [wall for chunk in chunks for wall in chunk] == walls
    sizes = [len(chunk) for chunk in chunks]
    assert all(0 < size <= MAX_WALLS for size in sizes)
    assert len(chunks) >= min(jobs, n_walls)
    assert not sizes or max(sizes) - min(sizes) <= 1
