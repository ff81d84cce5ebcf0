"""The environment of one game, for Gymnasium and for sb3-contrib."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from engine.actions import N_ACTIONS, actions_of
from nukidora.envs.single import SanmaEnv
from nukidora.envs.spaces import Sampled, among_legal

ID = "nukidora.envs:nukidora/Sanma-v0"


@pytest.mark.parametrize("observation", ["planes", "tokens", "view"])
@pytest.mark.parametrize("reward", ["placement", "round_points"])
def test_gymnasiums_checker_finds_nothing(observation: str, reward: str) -> None:
    env = gymnasium.make(ID, observation=observation, reward=reward, opponents=("random", "rule")).unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env)


def test_a_game_is_played_to_its_end_by_sampled_actions() -> None:
    env = gymnasium.make(ID, opponents=("random", "tsumogiri"), length="east")
    env.action_space.seed(1)
    observation, info = env.reset(seed=1)
    over = False
    while not over:
        assert observation in env.observation_space
        assert (observation["action_mask"] == info["action_mask"]).all()
        assert (env.unwrapped.action_masks() == (observation["action_mask"] == 1)).all()  # type: ignore[attr-defined]
        observation, reward, over, truncated, info = env.step(env.action_space.sample())
        assert not truncated
    assert reward == 2 - info["placement"]
    assert sum(info["scores"]) == 105_000
    with pytest.raises(ValueError, match=r"the game is over: call reset\(\)"):
        env.unwrapped.step(0)


def test_a_sampled_action_that_is_no_longer_legal_stands_for_a_legal_one() -> None:
    mask = np.zeros(N_ACTIONS, dtype=np.int8)
    mask[[3, 40, 46]] = 1
    assert among_legal(mask, 40) == 40
    assert {among_legal(mask, number) for number in range(100)} == {3, 40, 46}
    env = SanmaEnv(opponents=("random", "random"))
    observation, _ = env.reset(seed=1)
    env.step(Sampled(int(np.flatnonzero(observation["action_mask"] == 0)[-1])))


def test_its_action_space_is_copied_and_sent_as_a_plain_one() -> None:
    env = SanmaEnv()
    assert env.action_space == spaces.Discrete(N_ACTIONS)
    for copied in (copy.deepcopy(env.action_space), pickle.loads(pickle.dumps(env.action_space))):
        assert type(copied) is spaces.Discrete
        assert copied == env.action_space


class First:
    """Plays the first legal action; an instance also as a tactic."""

    def __call__(self, view: Any) -> int:
        return actions_of(*view.legal[view.viewer].tolist())[0]


class FirstOfAll(First):
    """The same, for many views."""

    def act(self, views: np.ndarray) -> np.ndarray:
        return np.array([self(view) for view in views])


def first(view: Any) -> int:
    return First()(view)


def test_objects_play_what_their_classes_and_functions_play() -> None:
    """What the arena takes as FILE.py:CLASS: agents, tactics, classes of them; and a function of a view."""
    played = []
    for bot in (First(), FirstOfAll(), First, FirstOfAll, first):
        env = SanmaEnv(opponents=(bot, "tsumogiri"), length="east")
        env.reset(seed=3)
        over, rewards = False, 0.0
        while not over:
            action = int(np.flatnonzero(env.action_masks())[-1])
            _, reward, over, _, info = env.step(action)
            rewards += reward
        played.append((rewards, info["scores"].tolist()))
    assert played == played[:1] * 5


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("settings", [{"reward": "final_points"}, {"reward": "round_points", "observation": "view"}])
def test_a_copy_plays_on_as_the_environment(copied: Callable[[SanmaEnv], SanmaEnv], settings: dict[str, str]) -> None:
    env = SanmaEnv(opponents=("random", first), length="east", **settings)
    env.reset(seed=8)
    for _ in range(20):
        env.step(int(np.flatnonzero(env.action_masks())[0]))
    other, over = copied(env), False
    while not over:
        action = int(np.flatnonzero(env.action_masks())[-1])
        ours, theirs = env.step(action), other.step(action)
        assert ours[1:3] == theirs[1:3]
        assert np.array_equal(ours[0]["observation"], theirs[0]["observation"])
        over = ours[2]
        assert over or other.action_masks()[other.action_space.sample()]
