"""The single environment, for ``gymnasium.make("nukidora/Sanma-v0")``, built like the vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np

from engine.checks import check_seed
from nukidora.envs.games import Games, Settings
from nukidora.envs.showing import RENDERERS, check_mode, render
from nukidora.envs.spaces import LegalActions, Sampled, among_legal, observation_space
from nukidora.envs.vector import result_info


class SanmaEnv(gymnasium.Env[dict[str, np.ndarray], Any]):
    """A game of three-player mahjong, in which the learner plays two bots.

    Observations, actions, rewards and infos are those of one environment of `nukidora.envs.vector.SanmaVectorEnv`.
    ``action_masks()`` is required by sb3-contrib's MaskablePPO.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDERERS), "render_fps": 2}  # noqa: RUF012 - as in the base class

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        """`settings`: the fields of `nukidora.envs.games.Settings`. Raises ValueError or TypeError, in one line."""
        self.games = Games(1, Settings.of(settings))
        self.render_mode = check_mode(render_mode)
        self.observation_space = observation_space(self.games.settings.observation)
        self.action_space = LegalActions(lambda: self.games.masks)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy, whose action space samples actions that are legal in the copy."""
        self.__dict__ |= state
        self.action_space = LegalActions(lambda: self.games.masks)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Begin a game: the first one of `seed`, or the next one of the previous seed, which is random at first.

        `options` are not used. Raises ValueError or TypeError if `seed` is not valid.
        """
        if seed is not None:
            super().reset(seed=check_seed(seed))
        elif not self.games.begun:
            seed = int(self.np_random.integers(1 << 63))
        self.games.start({0: seed})
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """Take an action, and play until the learner is asked again or the game is over.

        Raises ValueError if the action is not legal or the game is over, TypeError if it is not an integer.
        """
        if self.games.over[0]:
            raise ValueError("the game is over: call reset()")
        if isinstance(action, Sampled):
            action = among_legal(self.games.masks[0], action)
        rewards, ended = self.games.step(np.asarray(action)[None])
        over = bool(ended[0])
        info = self._info() | (result_info(self.games, 0) if over else {})
        return self._observation(), float(rewards[0]), over, False, info

    def render(self) -> Any:
        """Return the learner's view by the render mode; None without one. Raises ValueError before `reset`."""
        if self.render_mode is None:
            return None
        self.games.check_begun()
        return render(self.render_mode, self.games.views[0])

    def set_opponents(self, opponents: Sequence[Any]) -> None:
        """Set the two opponents of all games started from now on; see `nukidora.envs.games.Games.set_opponents`."""
        self.games.set_opponents(opponents)

    def action_masks(self) -> np.ndarray:
        """Whether each action is legal: bool[115]."""
        return self.games.masks[0] != 0

    def _observation(self) -> dict[str, np.ndarray]:
        return {"observation": self.games.observe()[0], "action_mask": self.games.masks[0].copy()}

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.games.masks[0].copy(), "seat": int(self.games.seats[0])}
