"""Games and rounds played on this engine and on RiichiEnv side by side (see `tests/support/differential.py`)."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("riichienv", reason="the oracle, riichienv, is not installed")

from engine.game import Game
from engine.rules import RIICHI_STICK, TOTAL_POINTS
from tests.support.differential import Comparison
from tests.support.players import ALL_HABITS, Chooser, Habits, efficient_driver, random_driver
from tests.support.riichienv_side import our_wall
from tests.support.sides import FIRST_ROUND, Round, State, normal_events
from tests.support.walls import ALL_TILES, clustered_wall

ODD_ROUNDS_PER_GAME = 10


def play_hanchan(
    comparison: Comparison, we_lead: bool, seed: int, choose: Chooser
) -> tuple[list[Round], list[list[int]]]:
    """A hanchan, led by one side: its rounds, and their walls in our layout."""
    rng = random.Random(-seed - 1)
    state, rounds, walls = FIRST_ROUND, [], []
    while not state.over:
        tiles = rng.sample(ALL_TILES, len(ALL_TILES))
        played = comparison.play(we_lead, state, tiles, choose, f"seed {seed}")
        rounds.append(played)
        walls.append(tiles if we_lead else our_wall(played.wall, played.events))
        assert played.after is not None
        state = played.after
    return rounds, walls


def check_game(rounds: list[Round], walls: list[list[int]]) -> None:
    """`Game` with the same walls and actions has the same messages and scores."""
    game = Game(walls=walls)
    for played in rounds:
        for decision in played.decisions:
            assert game.asked == tuple(sorted(decision.answers))
            for seat, action in decision.answers.items():
                game.act(seat, action)
    assert game.over
    starts = [i for i, message in enumerate(game.messages) if message["type"] == "start_kyoku"]
    for played, start in zip(rounds, starts, strict=True):
        assert normal_events(game.messages[start:]) == played.events
    assert rounds[-1].after is not None
    assert tuple(game.scores) == rounds[-1].after.scores


@pytest.mark.slow
@pytest.mark.parametrize("we_lead", [False, True], ids=["riichienv leads", "we lead"])
def test_hanchan(we_lead: bool, oracle_games: int) -> None:
    """Half of the games are played at random, half efficiently."""
    comparison = Comparison()
    for seed in range(we_lead, oracle_games, 2):
        rng = random.Random(seed)
        efficient = efficient_driver(rng, ALL_HABITS[seed // 4 % len(ALL_HABITS)])
        rounds, walls = play_hanchan(comparison, we_lead, seed, efficient if seed // 2 % 2 else random_driver(rng))
        check_game(rounds, walls)
    print(dict(comparison.seen))


def odd_state(rng: random.Random) -> State:
    """A state with the end of the game near, low scores or riichi sticks on the table."""
    sticks = rng.choice([0, 0, 1, 2])
    total = TOTAL_POINTS - RIICHI_STICK * sticks
    low = rng.choice([0, 100, 900, 1_000, 1_100, 1_900, 2_000, *range(20_000, 42_000, 500)])
    middle = min(rng.choice([rng.randrange(10_000, 50_000, 100), rng.randrange(38_000, 42_000, 100)]), total - low)
    scores = rng.sample([low, middle, total - low - middle], 3)
    wind, dealer = rng.choice([(0, 0), (0, 2), (1, 0), (1, 1), (1, 2), (1, 2), (2, 0), (2, 1), (2, 2)])
    return State(wind, dealer, rng.choice([0, 0, 1, 3]), sticks, tuple(scores))


def odd_habits(rng: random.Random) -> Habits:
    """A random mix of habits."""
    return Habits(
        win=rng.choice([0.1, 0.5, 1]),
        riichi=rng.choice([0, 0.5, 1]),
        nukidora=rng.choice([0.3, 1]),
        pon=rng.choice([0, 0.5, 1]),
        kan=rng.choice([0.1, 0.5, 1]),
        abort=rng.choice([0, 1]),
        noise=rng.choice([0, 0.1]),
        first=rng.choice(["", "", "outer", "inner"]),
    )


@pytest.mark.slow
def test_odd_rounds(oracle_games: int) -> None:
    """Single rounds with clustered walls from odd states: more kans, robbed tiles, yakuman and ends of games."""
    comparison = Comparison()
    n = ODD_ROUNDS_PER_GAME * oracle_games
    for seed in range(n):
        rng = random.Random(seed)
        state, tiles = odd_state(rng), clustered_wall(rng)
        choose = random_driver(rng) if seed % 7 == 0 else efficient_driver(rng, odd_habits(rng))
        comparison.play(seed % 2 == 0, state, tiles, choose, f"odd seed {seed}")
    print(dict(comparison.seen))
    if n >= 3_000:
        rare = ("nagashimangan", "sukaikan", "kyushukyuhai", "kakan", "ron after nukidora", "ron after hora")
        assert [name for name in rare if comparison.seen[name] == 0] == []
