"""Choices: the features of what was chosen in a decision and of every other candidate, from records or self-play."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from agents.base import Agent
from agents.linear.features import N_FEATURES
from agents.linear.kernels import count_candidates, write_features
from agents.registry import make, make_bots
from engine.contests.seating import SEATINGS
from engine.records.archives import find_records, members
from engine.records.filters import THREE_PLAYERS
from engine.records.model import GameRecord, RecordError
from engine.records.replay import Replay
from engine.records.stream import item_of, select_record
from engine.seeds import derive_seed
from engine.table import TABLE, raw_bytes
from engine.tables import Policy, PolicyFault, Tables

CHUNK = 32  # games of self-play that are played at once

Warn = Callable[[str], None]


class Choices(NamedTuple):
    """n decisions with their candidates, `rows` in all."""

    game: np.ndarray  # int64[n]: which game each decision is of
    starts: np.ndarray  # int64[n + 1]: the candidates of decision i are the rows starts[i] … starts[i + 1] - 1
    chosen: np.ndarray  # int64[n]: the row of what was chosen
    action: np.ndarray  # int64[rows]: numbers of `engine.actions`
    phi: np.ndarray  # float32[rows, N_FEATURES]

    def select(self, decisions: np.ndarray) -> Choices:
        """Some of the decisions, bool[n]."""
        sizes = np.diff(self.starts)
        starts = np.concatenate([[0], np.cumsum(sizes[decisions])])
        rows = np.repeat(decisions, sizes)
        offsets = (self.chosen - self.starts[:-1])[decisions]
        return Choices(self.game[decisions], starts, starts[:-1] + offsets, self.action[rows], self.phi[rows])


def concatenate(parts: Sequence[Choices]) -> Choices:
    """All decisions of `parts`, in order; of none if there are none."""
    if not parts:
        none = np.empty(0, dtype=np.int64)
        return Choices(none, np.zeros(1, dtype=np.int64), none, none, np.empty((0, N_FEATURES), dtype=np.float32))
    firsts = np.concatenate([[0], np.cumsum([len(part.action) for part in parts])])
    return Choices(
        np.concatenate([part.game for part in parts]),
        np.concatenate([[0], *(part.starts[1:] + first for part, first in zip(parts, firsts))]),
        np.concatenate([part.chosen + first for part, first in zip(parts, firsts)]),
        np.concatenate([part.action for part in parts]),
        np.concatenate([part.phi for part in parts]),
    )


def choices_of(views: np.ndarray, actions: np.ndarray, games: np.ndarray) -> Choices:
    """The choices in `views` TABLE[n], where `actions` int64[n] were played, of `games` int64[n].

    Decisions that show no preference are left out: those with one candidate, and wins.
    """
    played = np.array(actions, dtype=np.int64)
    counts = np.empty(len(views), dtype=np.int64)
    raw = raw_bytes(views)
    count_candidates(raw, len(views), played, counts)
    kept = counts > 0
    starts = np.concatenate([[0], np.cumsum(counts[kept])])
    candidate = np.empty(starts[-1], dtype=np.int64)
    phi = np.empty((starts[-1], N_FEATURES), dtype=np.float32)
    write_features(raw, len(views), counts, candidate, phi)
    is_chosen = candidate == np.repeat(played[kept], counts[kept])
    return Choices(np.asarray(games)[kept], starts, np.flatnonzero(is_chosen), candidate, phi)


class Source(Protocol):
    """Games whose decisions are choices."""

    @property
    def n_games(self) -> int:
        """How many."""
        ...

    def views(self, warn: Warn) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, int]]:
        """Views TABLE[n], the actions int64[n] and the games int64[n] of some games, and how many games those are.

        `warn` is called with a line for what is left out. Raises ValueError.
        """
        ...


@dataclass(frozen=True)
class SelfPlay:
    """A `Source` of hanchan between three bots; the seating changes from game to game."""

    bots: tuple[str, ...]
    n_games: int
    seed: int = 0

    def views(self, warn: Warn) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, int]]:
        """Play the games, CHUNK at a time."""
        bots = make_bots(self.bots, self.seed)
        for first in range(0, self.n_games, CHUNK):
            n = min(CHUNK, self.n_games - first)
            yield *self._play(bots, first, n), n

    def _play(self, bots: Sequence[Agent], first: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        tables = Tables([derive_seed(self.seed, "wall", game) for game in range(first, first + n)])
        seen: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

        def watched(bot: Agent) -> Policy:
            def act(views: np.ndarray) -> np.ndarray:
                actions = bot.act(views)
                seen.append((views.copy(), np.array(actions), first + tables.asked_tables[: len(views)]))
                return actions

            return act

        try:
            for _ in tables.play([watched(bot) for bot in bots], SEATINGS[(first + np.arange(n)) % len(SEATINGS)]):
                pass
        except PolicyFault as fault:
            raise ValueError(f"the bot {self.bots[fault.policy]}, game {first + fault.table}: {fault.what}") from fault
        views, actions, games = map(np.concatenate, zip(*seen, strict=True))
        return views.view(TABLE), actions, games


class Records:
    """A `Source` of recorded games: files, archives, and folders of them."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Find the records. Raises FileNotFoundError for a path that does not exist, ValueError if there are none."""
        self.files = find_records(paths)
        self.n_games = sum(1 for _ in members(self.files))
        if not self.n_games:
            raise ValueError(f"no game records in {' '.join(map(str, paths))}")

    def views(self, warn: Warn) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, int]]:
        """Replay the records one by one; what follows an error in a record, or in a round, is left out."""
        for game, member in enumerate(members(self.files)):
            views = np.zeros(0, dtype=TABLE)
            actions = np.zeros(0, dtype=np.int64)
            try:
                record = select_record(item_of(member, THREE_PLAYERS), THREE_PLAYERS)
                if record is not None:
                    views, actions = read_game(record, warn)
            except RecordError as error:
                warn(f"{error}; left out")
            yield views, actions, np.full(len(views), game), 1


def read_game(record: GameRecord, warn: Warn) -> tuple[np.ndarray, np.ndarray]:
    """The views and actions of a recorded game. Raises RecordError."""
    replay = Replay(record)
    views, actions = replay.views_and_actions()
    for mismatch in replay.mismatches:
        warn(f"{mismatch}; the rest of the round is left out")
    return views, actions


def collect(source: Source, teacher: str | None, warn: Warn) -> Iterator[tuple[Choices, int]]:
    """The choices of a source, some games at a time, and how many those are.

    `teacher`: a bot whose actions in the same decisions take the place of what was played. Raises ValueError.
    """
    bot = None if teacher is None else make(teacher)
    for views, actions, games, n in source.views(warn):
        yield choices_of(views, actions if bot is None or not len(views) else bot.act(views), games), n
