"""The agent that plays on where a bot has failed."""

from __future__ import annotations

import numpy as np

from engine.actions import actions_of
from engine.mjai.possible_actions import safe_default


class FallbackAgent:
    """Plays the safe default: pass, else the tile just drawn, else the first legal discard. It never fails."""

    name = "fallback"

    def act(self, views: np.ndarray) -> np.ndarray:
        """Choose the safe default in each of `views`."""
        menus = [actions_of(*view.legal[view.viewer].tolist()) for view in views]
        return np.array([safe_default(menu) for menu in menus], dtype=np.int64)
