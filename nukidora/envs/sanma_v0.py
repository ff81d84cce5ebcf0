"""The PettingZoo environment: three agents at one table, asked one at a time (AEC).

>>> from nukidora.envs import sanma_v0
>>> env = sanma_v0.env(observation="planes", reward="placement")
>>> env.reset(seed=7)
>>> for agent in env.agent_iter():
...     observation, reward, terminated, truncated, info = env.last()
...     action = None if terminated else env.action_space(agent).sample(observation["action_mask"])
...     env.step(action)

There is no parallel environment, as usually only one seat is asked.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from gymnasium import logger, spaces
from gymnasium.utils import seeding

from engine.actions import N_ACTIONS
from engine.checks import check_seed
from engine.common.program import missing
from engine.game import Game
from engine.rules import START_POINTS, Rules
from engine.seeds import derive_seed
from engine.table import N_SEATS, TABLE
from nukidora.envs.games import REWARDS, Result, RewardFunction, Settings, rewards_by
from nukidora.envs.observations import OBSERVATIONS, action_masks
from nukidora.envs.showing import RENDERERS, render
from nukidora.envs.spaces import observation_space

try:
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(missing(error), name=error.name) from None

AGENTS = tuple(f"player_{seat}" for seat in range(N_SEATS))
HUMAN = "human"


def env(**settings: Any) -> AECEnv[str, dict[str, np.ndarray], int]:
    """The environment with PettingZoo's checks of the order of calls; `settings` as in `SanmaAEC`."""
    return wrappers.OrderEnforcingWrapper(SanmaAEC(**settings))


def raw_env(**settings: Any) -> AECEnv[str, dict[str, np.ndarray], int]:
    """The environment without PettingZoo's checks; `settings` as in `SanmaAEC`."""
    return SanmaAEC(**settings)


class SanmaAEC(AECEnv[str, dict[str, np.ndarray], int]):  # type: ignore[misc]  # PettingZoo has no types
    """A game of three agents, ``player_0`` to ``player_2``: the seats. ``player_0`` deals first.

    An observation is a dict of ``observation`` (see `nukidora.envs.observations`) and ``action_mask`` int8[115], as the
    agent's seat sees the table; the mask of an agent that is not asked is 0 everywhere. Actions are the numbers of
    `engine.actions`. ``infos`` have the ``action_mask``, and at the end of the game ``placement``, ``final_points`` and
    ``scores``.

    If two seats may react to a tile, the one next in turn after its owner is asked first. Its answer takes effect and
    becomes visible only when the other one has answered, too: ron takes precedence over a call.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as in the base class
        "name": "sanma_v0",
        "render_modes": [HUMAN, *RENDERERS],
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        observation: str = "planes",
        reward: str | RewardFunction = "placement",
        length: Literal["east", "hanchan"] | None = None,
        rules: str | Rules = "tenhou",
        render_mode: str | None = None,
    ) -> None:
        """Keywords as in `nukidora.envs.games.Settings`.

        `reward`: ``placement`` (1, 0, -1) or ``final_points`` of each agent at the end of the game, or
        ``round_points``, the thousands of points won in each round, paid when it ends; or a function that is called
        after each action with the whole table before and after it, TABLE[3] each, and the seats int8[3], and returns
        the rewards of all agents, float[3]. `render_mode`: ``human`` prints the table after each action; with ``ansi``,
        ``svg`` and ``rgb_array``, `render` returns it. Raises ValueError or TypeError, with a one-line message, for
        invalid arguments.
        """
        settings = Settings(observation=observation, reward=reward, length=length, rules=rules)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(
                f"unknown render_mode {render_mode!r}: choose one of {', '.join(self.metadata['render_modes'])}"
            )
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self._rules = settings.make_rules()
        self._encode = OBSERVATIONS[observation].encode
        self._own_reward = None if isinstance(reward, str) else reward
        self._at_end = REWARDS[reward] if isinstance(reward, str) else None
        self._observation_space = observation_space(observation)
        self.observation_spaces = dict.fromkeys(AGENTS, self._observation_space)
        self.action_spaces = {agent: spaces.Discrete(N_ACTIONS) for agent in AGENTS}
        self._seed: int | None = None
        self._episode = 0

    def observation_space(self, agent: str) -> spaces.Dict:
        """The space of an agent's observations, the same for all."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete[np.int64]:
        """The actions 0 to 114 of `engine.actions`; ``sample(observation["action_mask"])`` draws a legal one."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game: the first one of `seed`, or the next one of the previous seed, which is random at first.

        `options` are not used. Raises ValueError or TypeError if `seed` is not valid.
        """
        if seed is not None:
            self._seed, self._episode = check_seed(seed), 0
        elif self._seed is None:
            self._seed = int(seeding.np_random()[0].integers(1 << 63))
        else:
            self._episode += 1
        self.game = Game(derive_seed(self._seed, "game", self._episode), self._rules, AGENTS)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._paid = [START_POINTS] * N_SEATS  # the scores when rounds were last paid
        self._round = self._round_number()
        self._ask_next()

    def step(self, action: Any) -> None:
        """Take an action of the agent `agent_selection`, an integer or a tensor of one; None once the game is over.

        Raises `engine.game.IllegalAction`, a ValueError, with nothing changed, if the action is not legal.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        before = self.game.table.copy()
        given = np.asarray(action)
        self.game.act(AGENTS.index(agent), action if given.ndim else given.item())
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        if self.game.over:
            self.terminations = dict.fromkeys(AGENTS, True)
        self._ask_next()
        self.rewards = self._rewards(before)
        self._accumulate_rewards()
        if self.render_mode == HUMAN:
            self.render()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Return the current observation of an agent."""
        seat = AGENTS.index(agent)
        found = self._encode(np.array([self.game.view(seat)]), None)[0]
        return {"observation": found, "action_mask": self._mask(seat)}

    def render(self) -> str | np.ndarray | None:
        """Return the whole table by the render mode: text, SVG or uint8[height, width, 3]; or print it and return None.

        To show the view of one seat, use `nukidora.envs.rendering`: ``render_rgb(env.unwrapped.game.view(0))``. Raises
        ValueError before `reset`.
        """
        if self.render_mode is None:
            logger.warn("render() shows nothing without a render_mode")
            return None
        if not hasattr(self, "game"):
            raise ValueError("no game has begun: call reset()")
        if self.render_mode == HUMAN:
            print(self.game)
            return None
        found: str | np.ndarray = render(self.render_mode, self.game.table, *AGENTS)
        return found

    def close(self) -> None:
        """Do nothing: there are no resources to release."""

    def _ask_next(self) -> None:
        """Select the asked seat that is next in turn; at the end of the game, the one whose turn it was."""
        turn = int(self.game.table.turn)
        asked = self.game.asked or range(N_SEATS)
        self.agent_selection = AGENTS[min(asked, key=lambda seat: (seat - turn) % N_SEATS)]
        self.infos = {agent: self._info(seat) for seat, agent in enumerate(self.agents)}

    def _mask(self, seat: int) -> np.ndarray:
        """Return the legal actions of a seat: none if it is not asked or has answered; pass at the end of the game."""
        if self.game.over or seat in self.game.asked:
            return action_masks(np.array([self.game.view(seat)]))[0]
        return np.zeros(N_ACTIONS, dtype=np.int8)

    def _info(self, seat: int) -> dict[str, Any]:
        """The info of a seat."""
        info: dict[str, Any] = {"action_mask": self._mask(seat)}
        if self.game.over:
            result = self._result(seat)
            info |= {"placement": result.placement, "final_points": result.final_points}
            info["scores"] = np.array(result.scores, dtype=np.int64)
        return info

    def _result(self, seat: int) -> Result:
        """The result of a game that is over."""
        return Result(self.game.ranks[seat], self.game.final_points[seat], self.game.scores)

    def _rewards(self, before: np.record) -> dict[str, float]:
        """Return all agents' rewards for the last action; `before`: the table when it was taken."""
        if self._own_reward is not None:
            then, now = (np.array([table] * N_SEATS, dtype=TABLE) for table in (before, self.game.table))
            found = rewards_by(self._own_reward, then, now, np.arange(N_SEATS, dtype=np.int8))
            return dict(zip(AGENTS, found.astype(float).tolist()))
        if self._at_end is not None:
            ended = self.game.over
            return {agent: self._at_end(self._result(seat)) if ended else 0.0 for seat, agent in enumerate(AGENTS)}
        last, self._round = self._round, self._round_number()
        if self._round == last:
            return dict.fromkeys(AGENTS, 0.0)
        paid, self._paid = self._paid, self.game.scores
        return {agent: (self._paid[seat] - paid[seat]) / 1_000 for seat, agent in enumerate(AGENTS)}

    def _round_number(self) -> tuple[int, ...]:
        """What differs from round to round: after a round the dealer changes, or the honba, or the game is over."""
        t = self.game.table
        return int(t.round_wind), int(t.dealer), int(t.honba), int(self.game.over)
