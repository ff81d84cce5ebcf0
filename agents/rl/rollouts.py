"""Rollouts: many tables in lock step, each played to the end of its round; the choices of the learning seats are kept.

Opponents are bots by name, and former selves: the policy as it was at some minutes of training, which plays its best
action.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Event
from typing import Any, NamedTuple

import numpy as np
import torch

from agents.registry import make
from agents.rl.bot import NetworkBot
from agents.rl.families import features_named
from agents.rl.oracle import N_ORACLE, write_oracle
from agents.rl.policy import Weights, logits_of, sample
from agents.rl.rows import Features, Rows, encode
from agents.rl.settings import Games
from agents.rl.situation import final_placements, situations_of
from engine import kernels, table_kernels
from engine.rules import TENHOU
from engine.table import EVERYTHING, GAME_OVER, N_SEATS, TABLE, packed_rules
from engine.tables import Policy, PolicyFault, Tables

LEARNER = 0  # the index of the learning policy among the players


class StoppedError(Exception):
    """Acting was stopped before the rounds had ended."""


class Experience(NamedTuple):
    """The choices of one round at each of k tables: n choices among m actions; those of a seat are in their order."""

    states: np.ndarray  # float32[n, n_state]
    oracle: np.ndarray  # float32[n, N_ORACLE]
    actions: np.ndarray  # float32[m, n_action]
    prior_logits: np.ndarray  # float32[m]
    counts: np.ndarray  # int64[n]: actions of each choice
    chosen: np.ndarray  # int64[n]: index among them
    log_probability: np.ndarray  # float32[n]: of what was chosen
    table: np.ndarray  # int64[n]
    seat: np.ndarray  # int64[n]
    before: np.ndarray  # float32[k, 3, N_SITUATION]: each seat at the start of the round
    after: np.ndarray  # float32[k, 3, N_SITUATION]: and of the next
    over: np.ndarray  # bool[k]: the game is over
    ranks: np.ndarray  # float32[k, 3]: then the final ranks, 1 to 3


class Actor:
    """A group of tables that are played on, round by round. It can be pickled between rounds."""

    def __init__(self, games: Games, n: int, seed: int) -> None:
        """`n` tables; `seed` of all that is random."""
        self._games = games
        self._random = np.random.default_rng(seed)
        self._tables = Tables.from_records(np.zeros(n, dtype=TABLE), TENHOU)
        self._players = np.zeros((n, N_SEATS), dtype=np.int8)
        self._opponents: list[Policy] | None = None  # made by the process that plays
        self._start(np.arange(n), 0)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_opponents": None}

    def state(self) -> dict[str, Any]:
        """All that the next round depends on, as tensors, numbers and texts."""
        raw = torch.from_numpy(self._tables.raw.copy())
        players = torch.from_numpy(self._players.copy())
        return {"tables": raw, "players": players, "random": self._random.bit_generator.state}

    def load_state(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned. Raises ValueError, KeyError or TypeError for anything else."""
        raw, players = state["tables"].numpy(), state["players"].numpy()
        if raw.shape != self._tables.raw.shape or raw.dtype != np.uint8 or players.shape != self._players.shape:
            n, size = len(players), raw.size // max(len(players), 1)
            raise ValueError(f"it has {n} tables of {size} bytes, not {len(self._players)} of {TABLE.itemsize}")
        self._tables.raw[:] = raw
        self._players[:] = players
        self._random.bit_generator.state = state["random"]

    def _start(self, which: np.ndarray, n_former: int) -> None:
        """Start new games at the tables `which` int64[:]; `n_former` former selves are among the opponents."""
        records: Any = self._tables.records
        scores = np.array(self._games.handicaps, dtype=np.int32)
        drawn = scores[self._random.integers(len(scores), size=len(which))]
        records[which] = np.zeros((), dtype=TABLE)
        records["rules"][which], records["viewer"][which] = packed_rules(TENHOU), EVERYTHING
        records["seed"][which] = self._random.integers(1 << 63, size=len(which), dtype=np.uint64)
        records["seat"]["score"][which] = self._random.permuted(drawn, axis=1)
        for i in which.tolist():
            table_kernels.start_round(self._tables.raw, i)
        self._players[which] = self._draw_players(len(which), len(self._games.opponents) + n_former)

    def _draw_players(self, n: int, n_opponents: int) -> np.ndarray:
        """The players of `n` games, int8[n, 3]: LEARNER, or 1 + the index of one of the opponents."""
        against = self._random.random(n) < self._games.against
        seats = np.where(against, self._random.integers(1, N_SEATS, size=n), 0)
        drawn = 1 + self._random.integers(n_opponents, size=(n, N_SEATS))
        players = np.where(np.arange(N_SEATS) < seats[:, None], drawn, LEARNER).astype(np.int8)
        return self._random.permuted(players, axis=1)

    def play(self, weights: Weights, former: Sequence[Weights], stop: Event) -> Experience:
        """Play every table to the end of its round and deal the next. Raises StoppedError soon after `stop` is set.

        `former`: the former selves. Seats refer to them by index, so if the list has moved on, a seat gets a newer one.
        """
        tables, features = self._tables, features_named(self._games.bot)
        steps = [self._choose(features, weights, tables.records[:0])[0]]  # there may be no other

        def act(views: np.ndarray) -> np.ndarray:
            if stop.is_set():
                raise StoppedError
            step, actions = self._choose(features, weights, views)
            steps.append(step)
            return actions

        if self._opponents is None:  # a separate instance, since a bot may have state
            self._opponents = [make(spec).act for spec in self._games.opponents]
        selves = [NetworkBot(self._games.bot, features, each).act for each in former]
        before = situations_of(tables.records, self._players)
        try:
            tables.play_round([act, *self._opponents, *selves], self._players)
        except PolicyFault as fault:
            if stop.is_set():
                raise StoppedError from None
            raise ValueError(f"{self._name(fault.policy)}, seat {fault.seat}: {fault.what}") from fault
        kernels.next_rounds(tables.raw)
        over = tables.records["phase"] == GAME_OVER
        ranks = np.zeros((len(over), N_SEATS), dtype=np.float32)
        ranks[over] = final_placements(tables.records[over])
        self._start(np.flatnonzero(over), len(former))
        return join(steps, before, situations_of(tables.records, self._players), over, ranks)

    def _name(self, player: int) -> str:
        """Return what to call a player, by its number."""
        names = ["the learning policy", *(f"opponent {bot}" for bot in self._games.opponents)]
        return names[player] if player < len(names) else "a former self"

    def _choose(self, features: Features, weights: Weights, views: np.ndarray) -> tuple[_Step, np.ndarray]:
        """Sample an action for each of `views`, int64[n]."""
        tables = self._tables
        actions, rows = encode(features, views)
        n = len(rows.view)
        chosen, log_probabilities = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.float32)
        sample(logits_of(weights, rows), rows.first, self._random.random(n), chosen, log_probabilities)
        actions[rows.view] = rows.numbers[rows.first[:-1] + chosen]
        of, seats = tables.asked_tables[rows.view], tables.asked_seats[rows.view]
        oracle = np.empty((n, N_ORACLE), dtype=np.float32)
        write_oracle(tables.raw, self._players, of, seats, oracle)
        kept = Rows(*(each.copy() for each in rows))  # without the room for more actions
        return _Step(kept, oracle, chosen, log_probabilities, of, seats), actions


class _Step(NamedTuple):
    """The choices of one step of the tables."""

    rows: Rows
    oracle: np.ndarray
    chosen: np.ndarray
    log_probabilities: np.ndarray
    tables: np.ndarray
    seats: np.ndarray


def join(
    steps: Sequence[_Step], before: np.ndarray, after: np.ndarray, over: np.ndarray, ranks: np.ndarray
) -> Experience:
    """The experience of a round from its steps, and from the arrays that `Experience` names."""
    return Experience(
        np.concatenate([step.rows.states for step in steps]),
        np.concatenate([step.oracle for step in steps]),
        np.concatenate([step.rows.actions for step in steps]),
        np.concatenate([step.rows.prior_logits for step in steps]),
        np.concatenate([np.diff(step.rows.first) for step in steps]),
        np.concatenate([step.chosen for step in steps]),
        np.concatenate([step.log_probabilities for step in steps]),
        np.concatenate([step.tables for step in steps]).astype(np.int64),
        np.concatenate([step.seats for step in steps]).astype(np.int64),
        before,
        after,
        over,
        ranks,
    )


class Task(NamedTuple):
    """A round of the tables of an actor, for a worker of a cluster."""

    number: int
    actor: Actor
    weights: Weights
    former: Sequence[Weights]


def play_task(task: Task) -> Iterator[tuple[int, Actor, Experience]]:
    """A task of `engine.common.workers`: yields the number of the actor, its new state, and its experience."""
    experience = task.actor.play(task.weights, task.former, Event())
    yield task.number, task.actor, experience
