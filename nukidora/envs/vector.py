"""The vector environment, for ``gymnasium.make_vec("nukidora/Sanma-v0", num_envs=n)``: many games in lockstep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from engine.actions import N_ACTIONS
from engine.checks import check_seed
from engine.seeds import MAX_SEED
from nukidora.envs.games import Games, Settings
from nukidora.envs.showing import RENDERERS, check_mode, render
from nukidora.envs.spaces import LegalActionsOfAll, observation_space


class SanmaVectorEnv(VectorEnv[dict[str, np.ndarray], np.ndarray, np.ndarray]):
    """`num_envs` games of three-player mahjong, in each of which the learner plays two bots.

    Observations are a dict of ``observation`` (see `nukidora.envs.observations`) and ``action_mask`` int8[num_envs,
    115], actions int64[num_envs], numbers of `engine.actions`. A step plays until each learner is asked again. A game
    that has ended is restarted at the next step, which ignores its action (`AutoresetMode.NEXT_STEP`); or immediately
    (`AutoresetMode.SAME_STEP`), with ``final_obs`` and ``final_info`` of the ended game in ``info``; or by `reset` with
    a ``reset_mask`` (`AutoresetMode.DISABLED`).

    ``info`` holds ``action_mask`` and ``seat`` int64[num_envs], and for games that have ended ``placement`` int64,
    ``final_points`` float64 and ``scores`` int64[num_envs, 3] (with SAME_STEP in ``final_info``); following Gymnasium's
    convention, ``_placement`` and so on say which environments a key applies to.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDERERS), "render_fps": 2}  # noqa: RUF012 - as in the base class

    def __init__(
        self,
        num_envs: int = 1,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **settings: Any,
    ) -> None:
        """`settings`: the fields of `nukidora.envs.games.Settings`. Raises ValueError or TypeError, in one line."""
        self.autoreset_mode = check_autoreset(autoreset_mode)
        self.metadata = self.metadata | {"autoreset_mode": self.autoreset_mode}
        self.games = Games(num_envs, Settings.of(settings))
        self.num_envs = self.games.n
        self.render_mode = check_mode(render_mode)
        self.single_observation_space = observation_space(self.games.settings.observation)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.single_action_space = spaces.Discrete(N_ACTIONS)
        self.action_space = LegalActionsOfAll(self.num_envs, self.action_masks)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy, whose action space samples actions that are legal in the copy."""
        self.__dict__ |= state
        self.action_space = LegalActionsOfAll(self.num_envs, self.action_masks)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Begin a game in each environment, or in those of the ``reset_mask`` bool[num_envs] in `options`.

        `seed`: environment i gets seed + i, or ``seed[i]``; the same seed gives the same games. Without one, the games
        continue from the previous seed, which is random at first. No other `options` are used. Raises ValueError or
        TypeError for an invalid seed or mask.
        """
        begins = self._check_reset_mask((options or {}).get("reset_mask"))
        seeds: list[int | None]
        if isinstance(seed, Sequence):
            seeds = [None if each is None else check_seed(each) for each in seed]
            if len(seeds) != self.num_envs:
                raise ValueError(f"seed must be an integer, or {self.num_envs} of them, not {len(seeds)}")
        elif seed is not None:
            first = check_seed(seed)
            seeds = [(first + i) & MAX_SEED for i in range(self.num_envs)]
            super().reset(seed=first)
        else:
            seeds = [None] * self.num_envs
        if not self.games.begun:  # environments without a seed get a random one
            drawn = self.np_random.integers(1 << 63, size=self.num_envs).tolist()
            seeds = [random if each is None else each for each, random in zip(seeds, drawn)]
        self.games.start({i: seeds[i] for i in np.flatnonzero(begins).tolist()})
        return self._observations(), self._info(begins, np.zeros(self.num_envs, dtype=bool))

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Take `actions` int[num_envs]; see the class. Nothing is ever truncated.

        Raises ValueError, which names the environment and the action, with nothing changed, if an action is not legal
        or a game is over that only `reset` restarts. Raises TypeError if `actions` are not integers.
        """
        if self.autoreset_mode == AutoresetMode.DISABLED and self.games.over.any():
            env = int(self.games.over.argmax())
            raise ValueError(f'env {env}: the game is over: call reset(options={{"reset_mask": …}})')
        rewards, terminations = self.games.step(actions)
        truncations, everywhere = np.zeros(self.num_envs, dtype=bool), np.ones(self.num_envs, dtype=bool)
        if self.autoreset_mode != AutoresetMode.SAME_STEP or not terminations.any():
            return self._observations(), rewards, terminations, truncations, self._info(everywhere, terminations)
        final = self._final(terminations)
        self.games.begin_anew()
        info = self._info(everywhere, np.zeros(self.num_envs, dtype=bool)) | final
        return self._observations(), rewards, terminations, truncations, info

    def set_opponents(self, opponents: Sequence[Any]) -> None:
        """Set the two opponents of all games started from now on; see `nukidora.envs.games.Games.set_opponents`."""
        self.games.set_opponents(opponents)

    def render(self) -> tuple[Any, ...] | None:
        """Return each learner's view by the render mode; None without one. Raises ValueError before `reset`."""
        if self.render_mode is None:
            return None
        self.games.check_begun()
        return tuple(render(self.render_mode, view) for view in self.games.views)

    def action_masks(self) -> np.ndarray:
        """1 for each legal action: int8[num_envs, 115]."""
        return self.games.masks.copy()

    def _observations(self) -> dict[str, np.ndarray]:
        return {"observation": self.games.observe(), "action_mask": self.action_masks()}

    def _final(self, ended: np.ndarray) -> dict[str, Any]:
        """Return the last observations and infos of games that have `ended`, in Gymnasium's form for SAME_STEP."""
        final: dict[str, Any] = {}
        for i, observation in zip(np.flatnonzero(ended).tolist(), self.games.observe_some(ended)):
            mask = self.games.masks[i].copy()
            info = {"action_mask": mask, "seat": int(self.games.seats[i])} | result_info(self.games, i)
            last = {"observation": observation, "action_mask": mask}
            final = self._add_info(final, {"final_obs": last, "final_info": info}, i)
        return final

    def _check_reset_mask(self, mask: Any) -> np.ndarray:
        """Return where games begin, bool[num_envs]; everywhere without a `mask`. Raises ValueError or TypeError."""
        if mask is None:
            return np.ones(self.num_envs, dtype=bool)
        begins = np.array(mask)
        if begins.shape != (self.num_envs,) or begins.dtype != bool:
            raise TypeError(f"reset_mask must be bool[{self.num_envs}], not {begins.dtype}{list(begins.shape)}")
        if not begins.any():
            raise ValueError("reset_mask must be True for one env or more")
        if not begins.all():
            self.games.check_begun()  # the other games continue
        return begins

    def _info(self, about: np.ndarray, ended: np.ndarray) -> dict[str, Any]:
        """Return the infos of the games `about`, bool[num_envs]; `ended` bool[num_envs]: games that have just ended."""
        info = {"action_mask": self.games.masks * about[:, None], "_action_mask": about}
        info |= {"seat": np.where(about, self.games.seats, 0).astype(np.int64), "_seat": about.copy()}
        for i in np.flatnonzero(ended):
            info = self._add_info(info, result_info(self.games, int(i)), int(i))
        return info


def check_autoreset(mode: AutoresetMode | str) -> AutoresetMode:
    """`mode`, or the mode of that name, such as ``"SAME_STEP"``. Raises ValueError for others."""
    for each in AutoresetMode:
        if mode in (each, each.name, each.value):
            return each
    raise ValueError(f"autoreset_mode must be {', '.join(each.name for each in AutoresetMode)}, not {mode!r}")


def result_info(games: Games, i: int) -> dict[str, Any]:
    """The result of game i, which has ended, as infos have it."""
    result = games.result(i)
    return {
        "placement": result.placement,
        "final_points": result.final_points,
        "scores": np.array(result.scores, dtype=np.int64),
    }
