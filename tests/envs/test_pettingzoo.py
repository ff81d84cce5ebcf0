"""The PettingZoo environment: PettingZoo's own tests, and what they do not see."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from agents.registry import make as make_bot
from engine.actions import DISCARD, N_ACTIONS, PON, RON
from engine.game import Game, IllegalAction
from engine.rules import preset
from engine.seeds import derive_seed
from engine.table import TABLE
from nukidora.envs import sanma_v0
from nukidora.envs.observations import planes
from nukidora.envs.sanma_v0 import AGENTS, SanmaAEC
from tests.support.walls import build_wall

DICTS = ["Observation space for each agent probably", "Observation is not a NumPy array"]  # as all masked ones are

FIVE_SOU = DISCARD + 22


@pytest.mark.parametrize("observation", ["planes", "tokens", "view"])
def test_pettingzoos_api_test(observation: str) -> None:
    """Several games; the only warnings are that observations are dicts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(sanma_v0.env(observation=observation, length="east"), num_cycles=500)
    assert {str(each.message) for each in caught if not any(known in str(each.message) for known in DICTS)} == set()


@pytest.mark.slow
@pytest.mark.parametrize("reward", ["placement", "final_points", "round_points"])
def test_pettingzoos_seed_test(reward: str) -> None:
    seed_test(lambda: sanma_v0.env(reward=reward), num_cycles=300)


def test_pettingzoos_render_test(capsys: pytest.CaptureFixture[str]) -> None:
    render_test(sanma_v0.env, {"svg": lambda found: found.startswith("<svg")})
    assert "draws left" in capsys.readouterr().out


def test_the_environment_plays_what_a_game_plays() -> None:
    """The same game by the engine alone: who is asked, what each agent sees, its menu, and the result."""
    env = sanma_v0.env(length="east")
    env.reset(seed=5)
    game = Game(derive_seed(5, "game", 0), preset("tenhou", "east"))
    rng = np.random.default_rng(0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        assert not truncated
        if terminated:
            assert game.over
            assert reward == 2 - info["placement"]
            env.step(None)
            continue
        seat = AGENTS.index(agent)
        assert reward == 0
        assert seat in game.asked
        assert np.flatnonzero(observation["action_mask"]).tolist() == game.legal(seat)
        assert (info["action_mask"] == observation["action_mask"]).all()
        assert (observation["observation"] == planes(np.array([game.view(seat)]))[0]).all()
        action = int(rng.choice(game.legal(seat)))
        game.act(seat, action)
        env.step(action)
    assert env.agents == []
    finished = env.unwrapped
    assert isinstance(finished, SanmaAEC)
    assert finished.game.scores == game.scores


@pytest.mark.parametrize("reward", ["placement", "final_points", "round_points"])
def test_rewards(reward: str) -> None:
    env, bot = sanma_v0.raw_env(reward=reward), make_bot("rule")
    env.reset(seed=2)
    totals, ends = dict.fromkeys(AGENTS, 0.0), 0
    results: dict[str, Any] = {}
    for agent in env.agent_iter():
        _, last, terminated, _, info = env.last()
        totals[agent] += last
        if terminated:
            results[agent] = info
        ends += not terminated and any(env.rewards.values())
        view = np.array([env.game.view(AGENTS.index(agent))])
        env.step(None if terminated else bot.act(view)[0])
    points = [results[agent]["final_points"] for agent in AGENTS]
    scores = results["player_0"]["scores"].tolist()
    expected = {
        "placement": [2.0 - results[agent]["placement"] for agent in AGENTS],
        "final_points": points,
        "round_points": [(score - 35_000) / 1_000 for score in scores],
    }
    assert [totals[agent] for agent in AGENTS] == pytest.approx(expected[reward])
    assert sorted(results[agent]["placement"] for agent in AGENTS) == [1, 2, 3]
    assert sum(points) == pytest.approx(0)
    assert (ends > 2) == (reward == "round_points")


def test_a_reward_of_ones_own_is_that_of_each_action_for_all_agents() -> None:
    def points(before: np.ndarray, after: np.ndarray, seats: np.ndarray) -> np.ndarray:
        assert before.dtype == after.dtype == TABLE
        own = np.arange(len(seats)), seats
        if not before["honba"].any() and after["honba"].any():
            raise RuntimeError("a dealer repeats")
        return (after["seat"]["score"][own] - before["seat"]["score"][own]) / 1_000

    env, bot = sanma_v0.raw_env(reward=points, length="east"), make_bot("rule")
    env.reset(seed=2)
    totals, raised = dict.fromkeys(AGENTS, 0.0), 0
    missed = np.zeros(3)
    for agent in env.agent_iter():
        totals[agent] += env.last()[1]
        over, before = env.terminations[agent], np.array(env.game.scores)
        try:
            env.step(None if over else bot.act(np.array([env.game.view(AGENTS.index(agent))]))[0])
        except RuntimeError:  # the action is taken, its reward is lost, and the game goes on
            raised += 1
            missed += np.array(env.game.scores) - before
    assert raised > 0
    assert [totals[agent] for agent in AGENTS] == pytest.approx((before - missed - 35_000) / 1_000)


@pytest.mark.parametrize("of", [np.int64, np.array, lambda action: pytest.importorskip("torch").tensor(action)])
def test_an_action_may_be_an_array_or_a_tensor(of: Callable[[int], Any]) -> None:
    env, plain = sanma_v0.raw_env(), sanma_v0.raw_env()
    for each in (env, plain):
        each.reset(seed=1)
    action = int(np.flatnonzero(plain.observe("player_0")["action_mask"])[0])
    plain.step(action)
    env.step(of(action))
    assert env.game.table == plain.game.table


@pytest.mark.parametrize("action", [np.array([3]), np.array(3.0), "3", [3], None])
def test_what_is_no_number_of_an_action_is_refused(action: object) -> None:
    env = sanma_v0.raw_env()
    env.reset(seed=1)
    with pytest.raises(TypeError):
        env.step(action)


def test_a_reward_of_ones_own_that_gives_no_rewards_is_told() -> None:
    env = sanma_v0.raw_env(reward=lambda before, after, seats: [0.0])
    env.reset(seed=1)
    with pytest.raises(TypeError, match=r"reward must return float\[3\]"):
        env.step(env.action_space("player_0").sample(env.observe("player_0")["action_mask"]))


def test_round_points_are_paid_when_their_round_ends() -> None:
    """Whoever deals next, and once a round."""
    env, bot = sanma_v0.raw_env(reward="round_points"), make_bot("rule")
    env.reset(seed=2)
    scores, ended, dealt_again = env.game.scores, 0, 0
    for agent in env.agent_iter():
        env.step(None if env.terminations[agent] else bot.act(np.array([env.game.view(AGENTS.index(agent))]))[0])
        rounds = [message for message in env.game.messages if message["type"] == "end_kyoku"]
        if env.game.over:
            break
        if len(rounds) == ended:
            assert not any(env.rewards.values())
            continue
        expected = [(now - before) / 1_000 for now, before in zip(env.game.scores, scores, strict=True)]
        assert [env.rewards[agent] for agent in AGENTS] == pytest.approx(expected)
        scores, ended = env.game.scores, len(rounds)
        dealt_again += int(env.game.table.honba) > 0
    assert dealt_again > 1


def test_of_two_who_may_react_the_next_in_turn_is_asked_first_and_nobody_sees_its_answer() -> None:
    """Seat 0 discards 5s: seat 1 may call it, seat 2 may win on it, which goes first."""
    env = sanma_v0.raw_env(observation="view")
    env.reset(seed=1)
    env.game = Game(walls=[build_wall(["5s", "55s", "234678p2288846s"])], names=AGENTS)
    env.step(FIVE_SOU)
    assert env.game.asked == (1, 2)
    assert env.agent_selection == "player_1"
    before = {agent: env.observe(agent) for agent in AGENTS}
    assert [bool(seen["action_mask"].any()) for seen in before.values()] == [False, True, True]
    env.step(PON)
    assert env.agent_selection == "player_2"
    for agent in ("player_0", "player_2"):
        assert_equal(env.observe(agent), before[agent])
    assert not env.observe("player_1")["action_mask"].any()
    assert not any(env.rewards.values())
    env.step(RON)
    assert [message["type"] for message in env.game.messages if message["type"] in ("pon", "hora")] == ["hora"]


def assert_equal(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert all((one[key] == other[key]).all() for key in one)


def test_the_games_of_a_seed_follow_each_other() -> None:
    env = sanma_v0.raw_env()
    walls = []
    for seed in (4, None, None, 4, None):
        env.reset(seed=seed)
        walls.append(env.game.table.wall.tolist())
    assert walls[:2] == walls[3:]
    assert len({tuple(wall) for wall in walls}) == 3
    one, other = sanma_v0.raw_env(), sanma_v0.raw_env()
    one.reset()
    other.reset()
    assert one.game.table.wall.tolist() != other.game.table.wall.tolist()


def test_an_illegal_action_is_named_and_changes_nothing() -> None:
    env = sanma_v0.env()
    env.reset(seed=1)
    before = env.unwrapped.game.table.tobytes()  # type: ignore[attr-defined]
    with pytest.raises(IllegalAction, match="seat 0 may not pon; legal: "):
        env.step(PON)
    assert env.unwrapped.game.table.tobytes() == before  # type: ignore[attr-defined]
    assert env.action_space("player_0").n == N_ACTIONS


@pytest.mark.parametrize("name", ["observation", "reward", "render_mode", "rules", "length"])
def test_settings_that_do_not_exist_are_told(name: str) -> None:
    with pytest.raises(ValueError, match=r"'chess'.*choose "):
        sanma_v0.env(**{name: "chess"})
