"""Targets from rollouts: each candidate action is tried, and the round is played out many times.

Candidates are the actions that the bot values nearly as highly as its best one, and the action that the teacher would
play: where two bots disagree, one of them errs, even if neither is unsure. (Where all are discards, only the close ones
are.)

Method: Monte Carlo rollouts with common random numbers. Before each rollout the tiles that nobody has seen are
shuffled, in the same way for every candidate, so that differences come from the actions. The hands stay as they are:
over many samples the hidden hands are those that occur in such positions, so the network learns the expectation over
them.

Most of the difference that remains is noise; between discards nearly all of it is. So, if all candidates are discards,
only a share of the close decisions gets rollouts.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from agents.base import Agent
from agents.bert.training.targets.protocol import Decisions, Targets
from agents.playouts import Playouts
from agents.playouts.playouts import shuffle_unseen
from agents.playouts.value import round_values
from engine import kernels
from engine.actions import TSUMOGIRI
from engine.compiling import kernel
from engine.rules import Rules
from engine.table import N_SEATS, TABLE
from engine.tables import Tables

# Differences of action values are in placement units: 1 is a better final rank by one.
MAX_GAP = 0.02  # actions that the bot values at most this much below its best one are candidates
MAX_DISCARD_GAP = 0.008  # the same where all candidates are discards
MAX_DISCARDS = 3  # candidates at most where all are discards
TRY_DISCARDS_ONE_IN = 3  # share of the decisions between discards in which rollouts are made
KEEP_ONE_IN = 64  # share of the decisions without rollouts that is kept


@kernel("uint8[::1], uint64[::1]")
def shuffle_all(raw: np.ndarray, seeds: np.ndarray) -> None:
    """Shuffle the unseen tiles of the tables `raw` uint8[n * TABLE.itemsize] by `seeds` uint64[n]."""
    tables = raw.view(TABLE)
    for k in range(len(seeds)):
        shuffle_unseen(tables[k], seeds[k])


class Rollouts:
    """A `TargetSource` that labels decisions with the mean results of rollouts; the playout policy plays all seats."""

    uses_action_values: ClassVar[bool] = True

    def __init__(self, bot: Agent, n: int, rules: Rules, seed: int, playouts: Agent | Playouts) -> None:
        """Play `n` rollouts of each candidate action, at tables with these rules.

        The action of `bot` is a candidate; `playouts` plays on, a compiled policy or any bot.
        """
        self._bot, self._n, self._rules = bot, n, rules
        self._playouts = playouts
        self._random = np.random.default_rng(seed)

    def label(self, decisions: Decisions) -> Targets:
        """Choose decisions whose candidates are tried by rollouts.

        The action value of a candidate is the mean over its rollouts of -expected placement after the round. Some
        decisions without rollouts are kept as well: there the bot's best action has 0, all others -inf.
        """
        values, tables, games = decisions.action_values, decisions.tables, decisions.games
        if values is None or tables is None or games is None:
            raise ValueError("rollouts need the action values of the bot that plays and the whole tables")
        views, each = decisions.views, np.arange(len(values))
        candidates, tried = self._choose(views, values)
        targets = np.full(values.shape, -np.inf, dtype=np.float32)
        targets[each, values.argmax(axis=1)] = 0.0
        decision, actions = np.nonzero(candidates & tried[:, None])
        tables, seats = tables[games[decision]], views["viewer"][decision]
        targets[decision, actions] = self.roll_out(tables, seats, actions, decision)
        rows = np.flatnonzero(tried | (self._random.integers(KEEP_ONE_IN, size=len(views)) == 0))
        return Targets(rows, targets[rows])

    def _choose(self, views: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The candidate actions bool[n, N_ACTIONS] of each decision, and which decisions to try, bool[n]."""
        gap = values.max(axis=1, keepdims=True) - values
        candidates = gap <= MAX_GAP
        candidates[np.arange(len(values)), self._bot.act(views)] = True
        tried = (candidates.sum(axis=1) > 1) & candidates[:, TSUMOGIRI + 1 :].any(axis=1)
        discards = np.flatnonzero(~tried & (self._random.integers(TRY_DISCARDS_ONE_IN, size=len(values)) == 0))
        last = np.sort(gap[discards], axis=1)[:, MAX_DISCARDS - 1 : MAX_DISCARDS]
        candidates[discards] &= gap[discards] <= np.minimum(last, MAX_DISCARD_GAP)
        tried[discards] = candidates[discards].sum(axis=1) > 1
        return candidates, tried

    def roll_out(self, tables: np.ndarray, seats: np.ndarray, actions: np.ndarray, decision: np.ndarray) -> np.ndarray:
        """float64[k]: mean value to `seats` int[k] of playing `actions` int64[k] at `tables` TABLE[k].

        Candidates of the same `decision` int64[k], an index, get the same shuffles.
        """
        if not len(actions):
            return np.empty(0)
        walls = self._random.integers(1 << 63, size=(decision.max() + 1, self._n), dtype=np.uint64)
        if isinstance(self._playouts, Playouts):
            found = self._playouts.try_actions(tables, np.arange(len(actions)), seats, actions, walls[decision])
            return found.mean(axis=1, dtype=np.float64)
        seats = np.repeat(seats, self._n)
        rollouts = Tables.from_records(np.repeat(tables, self._n), self._rules)
        shuffle_all(rollouts.raw, walls[decision].ravel())
        kernels.apply_actions(rollouts.raw, np.arange(len(seats), dtype=np.int32), seats, np.repeat(actions, self._n))
        rollouts.play_round([self._playouts.act], np.zeros((len(seats), N_SEATS), dtype=np.int8))
        values = np.empty(len(seats), dtype=np.float32)
        round_values(rollouts.raw, seats, values)
        return values.reshape(-1, self._n).mean(axis=1, dtype=np.float64)
