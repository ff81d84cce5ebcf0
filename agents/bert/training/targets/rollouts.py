"""What comes of a decision: the actions a bot hesitates between are tried, and the round is played out many times.

So is what another bot would do instead: where two bots disagree, neither need hesitate, and one of them errs.

The tiles that nobody has seen are shuffled anew for each trial, the same way for every action: what differs between
actions then comes of the actions. The hands stay as they are. Over many positions the hands that a player cannot see
are those it meets in such positions, so what is learned from all of them is what it may expect.

Most of what differs is luck all the same, and between discards almost all of it: of these only close decisions are
tried, and few of them (docs/training.md tells what either kind has taught).
"""

from __future__ import annotations

import numpy as np

from agents.base import Agent
from agents.bert.training.data.collect import Lesson
from agents.bots.rule.placement import placement_value, rounds_after
from engine import kernels
from engine.actions import TSUMOGIRI
from engine.compiling import inner, kernel
from engine.rng import scaled, splitmix
from engine.rules import Rules
from engine.table import N_SEATS, NOBODY, TABLE, WALL_SIZE
from engine.tables import Tables

HESITATION = 0.02  # places: actions that the bot thinks no worse than that are tried
CLOSE = 0.008  # places: the same for decisions between discards alone, of which …
FEW = 3  # … so many are tried, …
DISCARDS_OF = 3  # … in one of so many decisions
LEFT_OF = 64  # of the decisions that are not tried, one in so many is gathered
NO_CHANGE = (0.0, 0.0, 0.0)


@inner
def shuffle_unseen(t: np.record, seed: np.uint64) -> None:
    """Shuffle the wall tiles that nobody has seen among their places."""
    places = np.empty(WALL_SIZE, dtype=np.int64)
    n = np.int64(0)
    for place in range(WALL_SIZE):
        if t.known_by[place] == NOBODY:
            places[n] = place
            n += 1
    for i in range(n - 1, 0, -1):
        j = scaled(splitmix(seed + np.uint64(i)), i + 1)
        t.wall[places[i]], t.wall[places[j]] = t.wall[places[j]], t.wall[places[i]]


@kernel
def shuffle_all(raw: np.ndarray, seeds: np.ndarray) -> None:
    """Shuffle what nobody has seen on the tables `raw` uint8[n * TABLE.itemsize], by `seeds` uint64[n]."""
    tables = raw.view(TABLE)
    for k in range(len(seeds)):
        shuffle_unseen(tables[k], seeds[k])


@kernel
def _stand_all(raw: np.ndarray, seats: np.ndarray, standings: np.ndarray) -> None:
    """How each seat stands after the round, float32[n]: minus the place it may expect, and a little for points."""
    tables = raw.view(TABLE)
    for k in range(len(seats)):
        t = tables[k]
        t.viewer = seats[k]
        standings[k] = placement_value(t, NO_CHANGE, rounds_after(t, t.dealer_stays != 0))


class Trials:
    """Tries decisions; a bot plays for all three seats afterwards."""

    def __init__(self, bot: Agent, n: int, rules: Rules, seed: int) -> None:
        """`n` trials of each action, at tables with these rules."""
        self._bot, self._n, self._rules = bot, n, rules
        self._random = np.random.default_rng(seed)

    def of(self, views: np.ndarray, worths: np.ndarray, tables: np.ndarray) -> Lesson:
        """Try what is to be tried of the decisions `views` TABLE[n], of the whole `tables` TABLE[n].

        `worths` float32[n, N_ACTIONS] tells between which actions who plays there hesitates; where these are not
        discards alone, what the bot of the trials would do is tried as well. What an action promises is the mean
        standing after it. Some decisions that are not tried are among those returned: what is best there has 0.
        """
        each = np.arange(len(views))
        lost = worths.max(axis=1, keepdims=True) - worths
        thinkable = lost <= HESITATION
        thinkable[each, self._bot.act(views)] = True
        tried = (thinkable.sum(axis=1) > 1) & thinkable[:, TSUMOGIRI + 1 :].any(axis=1)
        discards = np.flatnonzero(~tried & (self._random.integers(DISCARDS_OF, size=len(views)) == 0))
        best = np.sort(lost[discards], axis=1)[:, FEW - 1 : FEW]
        thinkable[discards] &= lost[discards] <= np.minimum(best, CLOSE)
        tried[discards] = thinkable[discards].sum(axis=1) > 1
        found = np.full(worths.shape, -np.inf, dtype=np.float32)
        found[each, worths.argmax(axis=1)] = 0.0
        of, actions = np.nonzero(thinkable & tried[:, None])
        found[of, actions] = self._try(tables[of], views["viewer"][of], actions, of)
        rows = np.flatnonzero(tried | (self._random.integers(LEFT_OF, size=len(views)) == 0))
        return Lesson(rows, found[rows])

    def _try(self, tables: np.ndarray, seats: np.ndarray, actions: np.ndarray, of: np.ndarray) -> np.ndarray:
        """float64[n]: mean standings of `seats` after `actions`; those of one decision, `of` int64[n], alike."""
        if not len(actions):
            return np.empty(0)
        walls = self._random.integers(1 << 63, size=(of.max() + 1, self._n), dtype=np.uint64)
        seats = np.repeat(seats, self._n)
        trials = Tables.from_records(np.repeat(tables, self._n), self._rules)
        shuffle_all(trials.raw, walls[of].ravel())
        kernels.apply_actions(trials.raw, np.arange(len(seats)), seats, np.repeat(actions, self._n))
        trials.play_round([self._bot.act], np.zeros((len(seats), N_SEATS), dtype=np.int8))
        standings = np.empty(len(seats), dtype=np.float32)
        _stand_all(trials.raw, seats, standings)
        return standings.reshape(-1, self._n).mean(axis=1, dtype=np.float64)
