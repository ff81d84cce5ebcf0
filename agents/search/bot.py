"""The bot `search`: tries the candidates of a fast bot in sampled worlds, and plays the best one.

=====================  ================================================================================================
``search``             as ``search:n=400``
``n=N``                tries up to N worlds a decision; the same view and seed give the same action
``ms=T``               tries worlds for up to T milliseconds a decision
``bot=BOT``            gives the candidates and the prior (default: residual); it must have action values
``playouts=POLICY``    plays worlds out where one may call or declare riichi: linear, quick or rule
``k=K``, ``margin=M``  tries the K best actions at most, those within M placements of the best
``trust=T``            how far values go from the prior to the means of the playouts, 1: all the way (see `tree`)
``prior=H``            after H playouts they go half as far
``model=FILE``         the model of hidden hands, of ``python -m agents.search fit FILE``
``critic=FILE``        the critic, ``critic.npz`` of ``python -m agents.rl train``
=====================  ================================================================================================

If the fast bot leaves a single candidate, it is played: the search gains nothing measurable by actions further behind
(docs/experiments.md). So is its choice about norths and about discards of quiet hands far from tenpai. A critic values
other discards one turn later (see `one_turn`). The results of the search are sent along with the replies over mjai.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from agents.base import ActionValues
from agents.options import BotOptions, read_options, read_path
from agents.playouts.policies import POLICIES, linear_weights
from agents.registry import make as make_bot
from agents.residual.features import FEATURES
from agents.rl.critic import load_critic
from agents.search.model import BUNDLED, load_model
from agents.search.one_turn import OneTurn
from agents.search.tree import (
    CRITIC,
    MAX_CANDIDATES,
    PLAYOUTS,
    SEARCH,
    begin,
    count_values,
    extend,
    lay_copies,
    read_values,
)
from engine.actions import N_ACTIONS, action_name
from engine.table import TABLE, raw_bytes

WORLDS = 400
MOST_WORLDS = 1_000_000
LOOK = 5  # worlds between two looks at the clock
AT_ONCE = 10  # worlds that the critic values at once
BUNDLED_CRITIC = BUNDLED.parent / "critic.npz"
POLICY = "linear"
DEFAULTS = {"k": 6, "margin": 0.0025, "prior": 150.0, "trust": 0.7}


def read_count(text: str) -> int:
    """A number of worlds. Raises ValueError."""
    number = int(text)
    if not 1 <= number <= MOST_WORLDS:
        raise ValueError
    return number


def read_candidates(text: str) -> int:
    """A number of candidates. Raises ValueError."""
    number = int(text)
    if not 1 <= number <= MAX_CANDIDATES:
        raise ValueError
    return number


def read_positive(text: str) -> float:
    """A finite number > 0. Raises ValueError."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError
    return number


def read_share(text: str) -> float:
    """A number > 0, at most 1. Raises ValueError."""
    number = read_positive(text)
    if number > 1:
        raise ValueError
    return number


def read_policy(text: str) -> str:
    """A playout policy. Raises ValueError."""
    if text not in POLICIES:
        raise ValueError
    return text


OPTIONS: BotOptions = {
    "model": (read_path, "a file of python -m agents.search fit (default: the bundled model)"),
    "n": (read_count, f"worlds a decision at most, 1 to {MOST_WORLDS:,} (default: {WORLDS})"),
    "ms": (read_positive, "milliseconds a decision at most"),
    "critic": (read_path, "a critic.npz of python -m agents.rl train for residual (default: the bundled one)"),
    "bot": (str, "the bot that gives candidates and prior (default: residual)"),
    "playouts": (read_policy, f"what plays on: {', '.join(POLICIES)} (default: {POLICY})"),
    "k": (read_candidates, f"candidates at most, 1 to {MAX_CANDIDATES} (default: {DEFAULTS['k']})"),
    "margin": (read_positive, f"placements that a prior may be behind (default: {DEFAULTS['margin']})"),
    "trust": (read_share, f"how far values go from prior to worlds, up to 1 (default: {DEFAULTS['trust']})"),
    "prior": (read_positive, f"playouts after which they go half as far (default: {DEFAULTS['prior']:.0f})"),
}


class Search:
    """The search as an agent. An instance must not be used by several threads at once."""

    def __init__(self, name: str, bot: ActionValues, options: dict[str, Any], seed: int) -> None:
        """`options`: values by the names in OPTIONS."""
        self.name = name
        self._bot, self._seed = bot, np.uint64(seed)
        self._seconds: float | None = options["ms"] / 1000 if "ms" in options else None
        self._limit = options.get("n", WORLDS if self._seconds is None else MOST_WORLDS)
        numbers = DEFAULTS | options
        self._numbers = numbers["k"], numbers["margin"], numbers["prior"], numbers["trust"]
        self._policy = POLICIES[options.get("playouts", POLICY)]
        self._model, self._weights = load_model(options.get("model", BUNDLED)), linear_weights()
        self._search = np.zeros(SEARCH.itemsize, dtype=np.uint8)
        self._tables = np.zeros(2 * TABLE.itemsize, dtype=np.uint8)
        self._critic = OneTurn(load_critic(options.get("critic", BUNDLED_CRITIC), FEATURES.n_state))
        most = AT_ONCE * MAX_CANDIDATES
        self._laid = np.zeros(most, dtype=TABLE), np.zeros(most, dtype=np.int8), np.zeros(most, dtype=np.int64)
        self._annotation: dict[str, Any] = {}

    def act(self, views: np.ndarray) -> np.ndarray:
        """Choose an action by a search in each view."""
        return self._decide(views)[0]

    def action_values(self, views: np.ndarray) -> np.ndarray:
        """Return the values as in `agents.search.tree`, minus that of the action chosen."""
        return self._decide(views)[1]

    def annotate(self) -> dict[str, Any]:
        """Return the worlds tried, and the value of each candidate in placements."""
        return self._annotation

    def _decide(self, views: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The action chosen in each of `views`, int64[n], and the values of all, float32[n, N_ACTIONS]."""
        began = perf_counter()
        priors = np.ascontiguousarray(self._bot.action_values(views), dtype=np.float32)
        raw, actions = raw_bytes(views), np.empty(len(views), dtype=np.int64)
        values = np.empty((len(views), N_ACTIONS), dtype=np.float32)
        for k in range(len(views)):
            actions[k] = self._search_one(raw, k, priors[k], values[k], began)
            began = perf_counter()
        return actions, values

    def _search_one(self, raw: np.ndarray, k: int, prior: np.ndarray, values: np.ndarray, began: float) -> int:
        """The action chosen in view `k`; writes the values of the candidates. The clock runs since `began`."""
        state = self._search
        method = begin(raw, k, prior, *self._numbers, self._model.tiles, self._seed, state, self._tables)
        if method == PLAYOUTS:
            self._play_out(began)
        elif method == CRITIC:
            self._ask_critic(raw.view(TABLE)[k : k + 1], began)
        action = int(read_values(state, values))
        found = np.flatnonzero(np.isfinite(values))
        self._annotation = {
            "worlds": int(state.view(SEARCH)["worlds"][0]),
            "values": {action_name(int(a)): round(float(values[a]), 4) for a in found[np.argsort(-values[found])]},
        }
        return action

    def _has_time(self, began: float) -> bool:
        return self._seconds is None or perf_counter() - began < self._seconds

    def _play_out(self, began: float) -> None:
        """Play worlds out until no more can change the choice, or the time is over."""
        worlds = self._limit if self._seconds is None else LOOK
        how = self._limit, self._policy, self._weights, self._model.shantens
        while extend(self._search, self._tables, worlds, *how) and self._has_time(began):
            pass

    def _ask_critic(self, view: np.ndarray, began: float) -> None:
        """Let the critic value worlds of `view` TABLE[1] until no more can change the choice, or the time is over."""
        left, more = self._limit, True
        start = self._critic.start_values(view, view["viewer"])[0]
        while more and self._has_time(began):
            worlds = min(left, AT_ONCE)
            left -= worlds
            tables, seats, actions = self._laid
            laid = self._search, self._tables, worlds, self._model.shantens, tables.view(np.uint8), seats, actions
            n = lay_copies(*laid)
            values = self._critic.values(tables[:n], seats[:n], actions[:n], start)
            more = count_values(self._search, values, self._limit)


def make(argument: str | None, seed: int) -> Search:
    """The bot ``search`` or ``search:argument``. Raises ValueError, in one line, for a bad option."""
    options = read_options("search", OPTIONS, argument or "")
    spec = options.get("bot", "residual")
    bot = make_bot(spec, seed)
    if not isinstance(bot, ActionValues):
        raise ValueError(f"the bot search cannot use bot={spec}: it has no action values; residual, rule and bert have")
    return Search(f"search:{argument}" if argument else "search", bot, options, seed)
