"""A bot at the arena's tables: its answers are counted and checked."""

from __future__ import annotations

import traceback
from pathlib import Path

import numpy as np

from agents.base import Agent
from engine.actions import ACTION_NAMES, actions_of
from engine.compiling import entry
from engine.entries import is_legal
from engine.table import TABLE


class BotError(Exception):
    """A bot raised or gave an answer that is none. `index` is the place of the view in the batch it was asked about."""

    def __init__(self, label: str, index: int, what: str) -> None:
        super().__init__(what)
        self.label, self.index = label, index


class Bot:
    """A bot as a policy of `engine.tables.Tables`. `label` tells it from the others, `decisions` counts its answers."""

    def __init__(self, label: str, agent: Agent) -> None:
        self.label = label
        self.agent = agent
        self.decisions = 0

    def __call__(self, views: np.ndarray) -> np.ndarray:
        """The bot's actions, int64[n], all of them legal. Raises BotError."""
        self.decisions += len(views)
        try:
            actions = np.asarray(self.agent.act(views))
        except Exception as error:
            raise BotError(self.label, self._raises_at(views), f"raised {describe(error)}") from error
        if actions.shape != (len(views),) or actions.dtype.kind not in "iu":
            what = f"answered {len(views)} views with {actions.dtype}{list(actions.shape)}, not one action number each"
            raise BotError(self.label, 0, what)
        actions = actions.astype(np.int64, copy=False)
        illegal = first_illegal(views.view(np.uint8), actions)
        if illegal >= 0:
            raise BotError(self.label, illegal, complaint(views[illegal], int(actions[illegal])))
        return actions

    def _raises_at(self, views: np.ndarray) -> int:
        """The first view at which the bot raises when asked about it alone; 0 where only the whole batch fails."""
        for index in range(len(views)):
            try:
                self.agent.act(views[index : index + 1])
            except Exception:
                return index
        return 0


@entry
def first_illegal(views: np.ndarray, actions: np.ndarray) -> int:
    """Index of the first view whose action is not on the viewer's menu, -1 where all are."""
    seen = views.view(TABLE)
    for k in range(len(actions)):
        if not is_legal(seen[k], np.int64(seen[k].viewer), actions[k]):
            return k
    return -1


def complaint(view: np.record, action: int) -> str:
    """What is wrong with an illegal action."""
    name = ACTION_NAMES[action] if 0 <= action < len(ACTION_NAMES) else f"answer {action}"
    menu = ", ".join(ACTION_NAMES[legal] for legal in actions_of(*view.legal[view.viewer].tolist()))
    return f"may not {name}; legal: {menu}"


def describe(error: Exception) -> str:
    """An exception in one line: its type, what it says, and where it was raised."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said} ({Path(place.filename).name}, line {place.lineno})"
