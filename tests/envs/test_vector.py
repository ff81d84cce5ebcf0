"""The vector environment: Gymnasium's definitions, its rewards and results, and its errors."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from agents.registry import make
from engine.actions import N_ACTIONS, PASS
from engine.rules import PRESETS
from nukidora.envs.games import REWARDS
from nukidora.envs.observations import action_masks
from nukidora.envs.vector import SanmaVectorEnv

ID = "nukidora.envs:nukidora/Sanma-v0"
QUICK: dict[str, Any] = {"opponents": ("efficiency", "random"), "length": "east", "observation": "view"}


def envs_of(n: int, **settings: Any) -> SanmaVectorEnv:
    return SanmaVectorEnv(n, **(QUICK | settings))


def drawn(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random legal action in each row."""
    return (masks * rng.uniform(0.1, 1, masks.shape)).argmax(axis=1)


def equal(first: Any, second: Any) -> bool:
    """Whether two observations or infos are equal, in types and shapes too."""
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(equal(first[key], second[key]) for key in first)
    if first is None or second is None or first.dtype == object:  # of games that have ended
        return first is second or (len(first) == len(second) and all(map(equal, first, second)))
    same = first.dtype == second.dtype and first.shape == second.shape
    return bool(same and (first == second).all())


@pytest.mark.parametrize("observation", ["planes", "tokens", "view"])
@pytest.mark.parametrize("mode", AutoresetMode, ids=lambda mode: mode.name)
def test_it_steps_and_resets_as_gymnasium_does_with_single_environments(observation: str, mode: AutoresetMode) -> None:
    """SyncVectorEnv defines the autoreset, the seeds, the shapes and the infos. Some games begin anew in mid-game."""
    settings = QUICK | {"observation": observation, "reward": "round_points"}
    ours = gymnasium.make_vec(ID, num_envs=3, autoreset_mode=mode.name, **settings)
    kwargs = {"autoreset_mode": mode}
    theirs = gymnasium.make_vec(ID, num_envs=3, vectorization_mode="sync", vector_kwargs=kwargs, **settings)
    assert isinstance(ours, SanmaVectorEnv)
    assert isinstance(theirs, SyncVectorEnv)
    for name in ("observation_space", "single_observation_space", "action_space"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"] == mode
    rng = np.random.default_rng(1)
    found, expected = ours.reset(seed=5), theirs.reset(seed=5)
    assert all(map(equal, found, expected))
    ended, ends = np.zeros(3, dtype=bool), 0
    for step in range(400):
        actions = drawn(found[0]["action_mask"], rng)
        if mode == AutoresetMode.NEXT_STEP:
            actions[ended] = N_ACTIONS + 7  # is ignored
        result, stepped = ours.step(actions), theirs.step(actions)
        assert all(map(equal, result, stepped))
        assert result[0] in ours.observation_space
        found, ended, begins = (result[0], result[-1]), result[2], rng.random(3) < 0.01
        assert mode == AutoresetMode.SAME_STEP or (result[0]["action_mask"][ended].argmax(axis=1) == PASS).all()
        ends += int(ended.sum())
        if mode == AutoresetMode.DISABLED and ended.any():
            begins |= ended
            told = f"env {int(ended.argmax())}: the game is over: call reset.*reset_mask"
            with pytest.raises(ValueError, match=told):
                ours.step(actions)
        if begins.any():
            seed = [None, step, None]
            found = ours.reset(seed=seed, options={"reset_mask": begins})
            assert all(map(equal, found, theirs.reset(seed=seed, options={"reset_mask": begins.copy()})))
            ended = ended & ~begins
    assert ends > 3


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("rules", PRESETS)
def test_rewards_are_those_of_the_result(reward: str, rules: str) -> None:
    envs = envs_of(6, reward=reward, rules=rules)
    rng = np.random.default_rng(3)
    observations, _ = envs.reset(seed=7)
    sums, n_rewards, games = np.zeros(6), 0, 0
    while games < 18:
        observations, rewards, terminations, _, info = envs.step(drawn(observations["action_mask"], rng))
        sums += rewards
        n_rewards += int(np.count_nonzero(rewards))
        for i in np.flatnonzero(terminations):
            games += 1
            scores, seat = info["scores"][i].tolist(), int(info["seat"][i])
            chosen = PRESETS[rules].with_length("east")
            placement, points = chosen.ranks(scores)[seat], chosen.final_points(scores)[seat]
            assert (info["placement"][i], info["final_points"][i]) == (placement, points)
            expected = {"placement": 2 - placement, "final_points": points, "round_points": scores[seat] / 1000 - 35}
            assert sums[i] == pytest.approx(expected[reward])
            sums[i] = 0
    assert (n_rewards > games) == (reward == "round_points")


@pytest.mark.parametrize("given", ["majsoul", *(PRESETS["majsoul"].with_length(each) for each in ("east", "hanchan"))])
@pytest.mark.parametrize("length", [None, "east", "hanchan"])
def test_the_length_is_the_given_one_or_that_of_the_rules(given: Any, length: Any) -> None:
    own = "hanchan" if isinstance(given, str) else given.length
    assert envs_of(1, rules=given, length=length).games.rules.length == (length or own)


def test_seats_rotate_from_game_to_game() -> None:
    envs = envs_of(5)
    seats = [envs.reset(seed=4)[1]["seat"], *(envs.reset()[1]["seat"] for _ in range(3))]
    assert np.array(seats).tolist() == [[(4 + i + game) % 3 for i in range(5)] for game in range(4)]


def test_opponents_sit_after_the_learner_in_their_order() -> None:
    seen: dict[str, set[tuple[int, int]]] = {"first": set(), "second": set()}

    class Opponent:
        def __init__(self, name: str) -> None:
            self.name, self._bot = name, make("tsumogiri")

        def act(self, views: np.ndarray) -> np.ndarray:
            seen[self.name] |= {(int(env), int(seat)) for env, seat in zip(tables.asked_tables, views["viewer"])}
            return self._bot.act(views)

    envs = envs_of(1, opponents=(Opponent("first"), Opponent("second")), seat=1)
    tables = envs.games.tables
    observations, _ = envs.reset(seed=1)
    for _ in range(30):
        observations, *_ = envs.step(drawn(observations["action_mask"], np.random.default_rng(0)))
    assert seen == {"first": {(0, 2)}, "second": {(0, 0)}}


@pytest.mark.parametrize("seed", [4, [4, 5]])
def test_a_reset_without_a_seed_begins_the_next_games_of_the_seeds_before(seed: Any) -> None:
    envs = [envs_of(2), envs_of(2)]
    for each in envs:
        each.reset(seed=seed)
    first, second = (each.reset()[0]["observation"] for each in envs)
    assert (first == second).all()
    first, second = envs[0].reset(seed=[None, 9])[0]["observation"], envs[1].reset()[0]["observation"]
    assert (first[0] == second[0]).all()
    assert (first[1] != second[1]).any()


def test_an_environment_that_has_no_seed_yet_gets_a_random_one() -> None:
    first, second = (envs_of(2).reset(seed=[None, 5])[0]["observation"] for _ in range(2))
    assert (first[0] != second[0]).any()
    assert (first[1] == second[1]).all()


def test_sampled_actions_are_legal_and_reproducible() -> None:
    envs = envs_of(16)
    observations, _ = envs.reset(seed=1)
    envs.action_space.seed(3)
    first = envs.action_space.sample()
    envs.action_space.seed(3)
    assert (envs.action_space.sample() == first).all()
    for _ in range(200):
        observations, *_ = envs.step(envs.action_space.sample())
    masks = tuple(observations["action_mask"])
    assert all(mask[action] for mask, action in zip(masks, envs.action_space.sample(mask=masks), strict=True))


def test_observations_of_earlier_steps_are_kept() -> None:
    envs = envs_of(4)
    observations, info = envs.reset(seed=1)
    before = observations["observation"].tobytes(), observations["action_mask"].tobytes(), info["action_mask"].tobytes()
    for _ in range(5):
        envs.step(envs.action_space.sample())
    kept = observations["observation"].tobytes(), observations["action_mask"].tobytes(), info["action_mask"].tobytes()
    assert kept == before


def test_an_illegal_action_is_named_and_changes_nothing() -> None:
    envs = envs_of(3)
    observations, _ = envs.reset(seed=2)
    before = envs.games.tables.records.tobytes()
    actions = observations["action_mask"].argmax(axis=1)
    legal = actions.copy()
    actions[1] = int(np.flatnonzero(observations["action_mask"][1] == 0)[0])
    with pytest.raises(ValueError, match=r"^env 1: seat \d may not discard .* \(action \d+\); legal: .* \(\d+\)"):
        envs.step(actions)
    actions[1] = 999
    with pytest.raises(ValueError, match=r"^env 1: seat \d may not answer 999 \(action 999\); legal: "):
        envs.step(actions)
    assert envs.games.tables.records.tobytes() == before
    envs.step(legal)


@pytest.mark.parametrize("actions", [np.zeros(2, dtype=np.int64), np.zeros(3), None, [1.0, 2.0, 3.0], 5])
def test_what_are_no_actions_is_an_error(actions: Any) -> None:
    envs = envs_of(3)
    envs.reset(seed=2)
    with pytest.raises(TypeError, match=r"^actions must be integers\[3\], one for each env, not "):
        envs.step(actions)


class Broken:
    """An opponent that answers nonsense."""

    name = "broken"

    def act(self, views: np.ndarray) -> np.ndarray:
        return np.full(len(views), 114)


def test_an_opponent_that_fails_is_named() -> None:
    envs = envs_of(2, opponents=("random", Broken()))
    with pytest.raises(ValueError, match=r"^the opponent .*Broken.*, env \d, seat \d: may not kakan C"):
        play_some(envs)


class Interrupted:
    """An opponent in whose turn somebody presses Ctrl-C, at its tenth move."""

    name = "interrupted"

    def __init__(self) -> None:
        self.n = 0

    def act(self, views: np.ndarray) -> np.ndarray:
        self.n += 1
        if self.n == 5:
            raise KeyboardInterrupt
        return make("tsumogiri").act(views)


def test_after_an_interruption_the_games_begin_anew() -> None:
    """The tables have gone on, but not the masks that actions are checked against: the compiled rules check nothing."""
    envs = envs_of(2, opponents=("tsumogiri", Interrupted()), seat=0)
    with pytest.raises(KeyboardInterrupt):
        play_some(envs)
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        envs.step(envs.action_space.sample())
    play_some(envs)


def play_some(envs: SanmaVectorEnv) -> None:
    envs.reset(seed=1)
    for _ in range(5):
        envs.step(envs.action_space.sample())


@pytest.mark.parametrize(
    ("settings", "error", "told"),
    [
        ({"observation": "pixels"}, ValueError, "unknown observation 'pixels': choose one of planes, tokens, view"),
        (
            {"reward": "score"},
            ValueError,
            "unknown reward 'score': choose one of placement, final_points, round_points",
        ),
        ({"opponents": ("rule",)}, ValueError, r"two opponents play, as in \(\"rule\", \"rule\"\), not \('rule',\)"),
        ({"opponents": "rule"}, ValueError, "two opponents play"),
        ({"opponents": ("rule", "exec:bot")}, ValueError, "the opponent 'exec:bot' is a program or a connection"),
        ({"opponents": ("rule", "mjsonp://x:1/y")}, ValueError, "is a program or a connection"),
        ({"opponents": ("rule", "nobody")}, ValueError, "unknown bot 'nobody'"),
        ({"opponents": ("rule", 5)}, ValueError, "is not a bot"),
        ({"opponents": (None, "random")}, ValueError, "None is not a bot"),
        ({"opponents": ("random", None)}, ValueError, "None is not a bot"),
        ({"opponents": None}, ValueError, "two opponents play"),
        ({"opponents": {"rule", "random"}}, ValueError, "two opponents play"),  # in no order
        (  # as Python says it: libraries look for these words
            {"opponent": "rule"},
            TypeError,
            r"__init__\(\) got an unexpected keyword argument 'opponent': choose from opponents, observation",
        ),
        ({"seat": 3}, ValueError, "seat must be 'rotate', 0, 1 or 2, not 3"),
        ({"seat": True}, ValueError, "seat must be"),
        ({"seat": 1.0}, ValueError, "seat must be 'rotate', 0, 1 or 2, not 1.0"),
        ({"seat": np.array([0, 1])}, ValueError, "seat must be"),
        ({"length": "long"}, ValueError, "length 'long': choose east or hanchan"),
        ({"rules": "house"}, ValueError, "unknown rules 'house'"),
        ({"rules": 3}, TypeError, "rules must be"),
        ({"render_mode": "human"}, ValueError, "unknown render_mode 'human': choose one of ansi, svg, rgb_array"),
        ({"num_envs": 0}, ValueError, "num_envs must be a positive integer, not 0"),
        ({"num_envs": 2.5}, TypeError, "num_envs must be a positive integer, not 2.5"),
    ],
)
def test_settings_that_do_not_exist_are_errors(settings: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        gymnasium.make_vec(ID, **{"num_envs": 2, **settings})


def test_a_reward_of_ones_own_sees_the_tables_before_and_after() -> None:
    """Here the points won since the last decision, which add up to the rewards by rounds."""

    def points(before: np.ndarray, after: np.ndarray, seats: np.ndarray) -> np.ndarray:
        each = np.arange(len(seats))
        won: np.ndarray = (after["seat"]["score"] - before["seat"]["score"])[each, seats] / 1_000
        return won

    own, known = envs_of(4, reward=points), envs_of(4, reward="round_points")
    rng = np.random.default_rng(3)
    observations, _ = own.reset(seed=1)
    known.reset(seed=1)
    totals = np.zeros((2, 4))
    ends = 0
    while ends < 6:
        actions = drawn(observations["action_mask"], rng)
        observations, rewards, terminations, _, _ = own.step(actions)
        totals += [rewards, known.step(actions)[1]]
        np.testing.assert_allclose(*totals[:, terminations])
        totals[:, terminations] = 0
        ends += int(terminations.sum())


@pytest.mark.parametrize(("found", "told"), [(1.0, r"float64\[\]"), (np.zeros(3), r"\[3\]"), (["a", "b"], "<U1")])
def test_a_reward_of_ones_own_that_is_none_is_an_error(found: Any, told: str) -> None:
    envs = envs_of(2, reward=lambda before, after, seats: found)
    observations, _ = envs.reset(seed=1)
    with pytest.raises(TypeError, match=rf"reward must return float\[2\], .*{told}"):
        envs.step(observations["action_mask"].argmax(axis=1))


@pytest.mark.parametrize("found", [np.nan, np.inf])
def test_a_reward_of_ones_own_is_finite(found: float) -> None:
    envs = envs_of(2, reward=lambda before, after, seats: np.array([0.0, found]))
    observations, _ = envs.reset(seed=1)
    with pytest.raises(ValueError, match="reward must return finite numbers"):
        envs.step(observations["action_mask"].argmax(axis=1))


def test_after_a_reward_of_ones_own_has_raised_only_a_reset_goes_on() -> None:
    def reward(before: np.ndarray, after: np.ndarray, seats: np.ndarray) -> np.ndarray:
        found: np.ndarray = after["honba"] / bool(after["honba"].max() == 0)  # raises in some round, and for no games
        return found

    envs = envs_of(1, reward=reward)
    rng = np.random.default_rng(1)
    observations, _ = envs.reset(seed=1)

    def play() -> None:
        nonlocal observations
        while True:
            observations, *_ = envs.step(drawn(observations["action_mask"], rng))

    with np.errstate(divide="raise", invalid="raise"), pytest.raises(FloatingPointError):
        play()
    with pytest.raises(ValueError, match="call reset"):
        envs.step(np.zeros(1, dtype=np.int64))
    envs.reset(seed=1)
    envs.step(envs.action_space.sample())


def test_opponents_may_be_changed_in_every_step() -> None:
    """A name, or an object, is one policy; there may be as many others as an index can tell."""
    envs = envs_of(4)
    envs.reset(seed=1)
    bot = make("efficiency")
    for _ in range(200):
        envs.set_opponents((bot, "random"))
        envs.step(envs.action_space.sample())
    many = envs_of(130, autoreset_mode="DISABLED", opponents=("random", "random"))
    many.reset(seed=1)
    for number in range(125):
        many.set_opponents((partial(first_legal, number), "random"))
        many.reset(options={"reset_mask": np.arange(130) == number})
    with pytest.raises(ValueError, match="at most 127"):
        many.set_opponents((partial(first_legal, 125), partial(first_legal, 126)))
    many.step(many.action_space.sample())


def first_legal(number: int, view: np.record) -> int:
    return int(action_masks(np.array([view]))[0].argmax())


def test_opponents_are_changed_for_the_games_that_begin_then() -> None:
    """Those of games that are being played stay."""
    asked: list[str] = []

    def bot(name: str) -> Any:
        def choose(view: np.record) -> int:
            asked.append(name)
            return int(np.flatnonzero(action_masks(np.array([view]))[0])[-1])

        return choose

    envs = envs_of(1, opponents=(bot("a"), bot("b")), autoreset_mode="SAME_STEP")
    rng = np.random.default_rng(1)
    observations, _ = envs.reset(seed=1)
    playing = {"a", "b"}
    for opponents, named in (
        ((bot("c"), bot("d")), {"c", "d"}),
        (("random", bot("e")), {"e"}),
        (("rule", "rule"), set()),
    ):
        envs.set_opponents(opponents)
        asked.clear()
        ended = False
        while not ended:
            observations, _, terminations, _, _ = envs.step(drawn(observations["action_mask"], rng))
            ended = bool(terminations[0])
        assert playing <= set(asked) <= playing | named  # the next game has begun, up to the learner's first decision
        playing = named
    with pytest.raises(ValueError, match="two opponents"):
        envs.set_opponents(("rule",))


@pytest.mark.parametrize(
    ("settings", "reset", "error", "told"),
    [
        ({"autoreset_mode": "never"}, {}, ValueError, "must be NEXT_STEP, SAME_STEP, DISABLED, not 'never'"),
        ({}, {"seed": [1]}, ValueError, "seed"),
        ({}, {"seed": -1}, ValueError, "seed"),
        ({}, {"seed": 1.5}, TypeError, "seed"),
        ({}, {"options": {"reset_mask": np.ones(3, dtype=bool)}}, TypeError, r"must be bool\[2\], not bool\[3\]"),
        ({}, {"options": {"reset_mask": np.ones(2)}}, TypeError, r"must be bool\[2\], not float64\[2\]"),
        ({}, {"options": {"reset_mask": np.zeros(2, dtype=bool)}}, ValueError, "must be True for one env or more"),
        ({}, {"options": {"reset_mask": np.array([True, False])}}, ValueError, r"no game has begun: call reset\(\)"),
    ],
)
def test_a_reset_with_what_does_not_exist_is_an_error(
    settings: dict[str, Any], reset: dict[str, Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        envs_of(2, **settings).reset(**reset)


def test_nothing_is_done_before_the_first_reset() -> None:
    envs = envs_of(1, render_mode="ansi")
    for act in (envs.render, lambda: envs.step(np.array([0]))):
        with pytest.raises(ValueError, match=r"call reset\(\)"):
            act()
