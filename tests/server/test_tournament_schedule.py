"""The schedule of a tournament, and the order in which its games start."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import fields
from datetime import UTC, datetime
from itertools import combinations, permutations
from math import comb
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.rules import N_SEATS
from server.settings import RoomSettings
from server.tournaments.plan import FIXED, MAX_GAMES, SETTABLE, Plan
from server.tournaments.tournament import Tournament

NAMES = [f"bot{number}" for number in range(8)]
PLANS = st.builds(
    lambda n, amount: plan(players=NAMES[:n], **amount),
    st.integers(3, len(NAMES)),
    st.one_of(
        st.builds(lambda walls: {"walls": walls}, st.integers(1, 3)),
        st.builds(lambda games: {"walls": 0, "games": games}, st.integers(1, 200)),
    ),
)
NO_EFFECT = ("fill_delay", "idle")  # where nobody fills seats, and no wait ends


def plan(**values: Any) -> Plan:
    """A plan of house bots."""
    nothing: dict[str, Any] = {"entrants": (), "house_bots": (), "places": 0, "starts": None, "games": 0, "walls": 1}
    return Plan(**nothing | {"seed": 1} | values)


def test_every_setting_of_a_room_is_settable_follows_from_the_schedule_or_has_no_effect() -> None:
    told = "put the new setting of rooms into SETTABLE or FIXED of server/tournaments/plan.py"
    assert sorted([*SETTABLE, *FIXED, *NO_EFFECT]) == sorted(field.name for field in fields(RoomSettings)), told


@given(PLANS)
def test_every_entrant_has_every_seat_equally_often_on_every_wall(drawn: Plan) -> None:
    schedule = drawn.schedule()
    assert [due.number for due in schedule] == list(range(len(schedule)))
    promised = drawn.n_games(len(drawn.players))
    more = 0 if drawn.walls else N_SEATS * comb(len(drawn.players), 2)  # every two meet equally often, or nearly so
    assert promised <= len(schedule) <= promised + more
    seats = Counter((due.wall, name, seat) for due in schedule for seat, name in enumerate(due.seats))
    for wall, name, _ in list(seats):
        assert len({seats[wall, name, seat] for seat in range(N_SEATS)}) == 1
    assert len({frozenset(due.seats) for due in schedule}) * N_SEATS <= len(schedule)


@given(PLANS)
def test_walls_are_shared_and_every_two_meet(drawn: Plan) -> None:
    schedule = drawn.schedule()
    met = Counter(pair for due in schedule for pair in permutations(due.seats, 2))
    counts = [met[pair] for pair in permutations(drawn.players, 2)]
    if drawn.walls:  # all threes, on all walls
        threes = Counter((due.wall, frozenset(due.seats)) for due in schedule)
        all_threes = {
            (wall, frozenset(three)) for wall in range(drawn.walls) for three in combinations(drawn.players, 3)
        }
        assert threes == dict.fromkeys(all_threes, N_SEATS)
        assert len(set(counts)) == 1
    else:
        assert min(counts) > 0
        assert max(counts) - min(counts) <= 2 * N_SEATS
        walls = {name: {due.wall for due in schedule if name in due.seats} for name in drawn.players}
        longest = max(walls.values(), key=len)
        assert all(len(longest - own) <= 2 for own in walls.values())


def test_two_walls_have_all_orders_of_three() -> None:
    schedule = plan(players=NAMES[:3], walls=2).schedule()
    assert Counter(due.seats for due in schedule) == dict.fromkeys(permutations(NAMES[:3]), 1)


@given(PLANS, st.integers(0, 1000))
@settings(max_examples=30)
def test_nobody_plays_two_games_at_once_and_all_are_played(drawn: Plan, seed: int) -> None:
    """Whatever the order in which games end; and no two who are free wait for each other."""
    chance = random.Random(seed)
    bots = tuple(drawn.players)
    house = tuple(f"{bot} (house)" for bot in bots)
    drawn = drawn.model_copy(update={"house_bots": bots, "players": house})
    room = Tournament("cup", "0" * 32, RoomSettings(), drawn, "running", datetime.now(UTC), print)
    started = []
    while not room.over:
        while room.full:
            due_id = room.next_id()
            new = room.start_game()
            assert [f"{spec} (house)" for spec, _ in new.seats] == list(room.in_play[due_id].seats)
            assert new.seed == drawn.wall_seed(room.in_play[due_id].wall)
            started.append(room.in_play[due_id])
            playing = [name for due in room.in_play.values() for name in due.seats]
            assert len(set(playing)) == len(playing)
        assert room.in_play
        room.game_over(chance.choice(list(room.in_play)), None)
    assert sorted(started, key=lambda due: due.number) == room.schedule


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"house_bots": ("rule", "random")}, "entrants and house_bots name 2: name at least three"),
        ({"house_bots": ("rule", "rule", "random")}, "house_bots has 'rule' twice"),
        ({"entrants": ("a", "b", "a")}, "entrants has 'a' twice"),
        ({"entrants": ("a", "b", "rule (house)")}, "entrants.2 is 'rule (house)'"),
        ({"entrants": ("a", "b", "\n")}, "entrants.2: "),
        ({"entrants": ("a", "b", "c"), "places": 3}, "places is 3, and 3 are named"),
        ({"entrants": tuple(map(str, range(20))), "house_bots": tuple(map(str, range(5)))}, "name 25, more than 24"),
        ({"entrants": ("a", "b", "c"), "walls": 0}, "walls or games is needed"),
        ({"entrants": ("a", "b", "c"), "games": 9}, "walls or games is needed"),
        ({"entrants": ("a", "b", "c"), "places": 20, "walls": 1}, "walls is 1: 3420 games, more than"),
    ],
)
def test_plans_that_cannot_be_played(values: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        plan(**values).check()


def test_the_largest_plans_can_be_played() -> None:
    names = tuple(map(str, range(24)))
    plan(entrants=names, walls=0, games=2700).check()
    largest = plan(entrants=names, walls=0, games=2700, players=names).schedule()
    assert 2000 < len(largest) <= MAX_GAMES
    plan(entrants=("a",), places=3, walls=1000).check()


def test_the_games_that_are_played_are_limited() -> None:
    """Those of a balanced choice are more than were asked for."""
    many = plan(entrants=tuple(f"bot{number}" for number in range(24)), walls=0, games=MAX_GAMES)
    with pytest.raises(ValueError, match=r"games is 3000: 3063 games, more than 3000"):
        many.check()
