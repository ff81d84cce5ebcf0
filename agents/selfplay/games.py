"""One generation of self-play: thousands of games in lock step, all seats played by the same weights.

A game is kept as its seed, its starting scores and the actions chosen, with the logarithm of the probability that each
had: about a kilobyte. The rest is found again by playing it (`agents.selfplay.replay`). Where only one action is legal,
nothing is chosen and nothing kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, TypeAlias

import numpy as np

from agents.selfplay.network import Weights, late, logits_of, sample
from engine import kernels
from engine.compiling import array_of, kernel
from engine.rules import START_POINTS, TENHOU
from engine.table import EVERYTHING, N_SEATS, TABLE, raw_bytes
from engine.tables import Tables

MAX_CHOICES = 1024  # of a game that is kept; hanchan have about 300, those of random players 480
SURPRISE_UNIT = 1 / 4096
GAME = np.dtype(
    [
        ("seed", "u8"),
        ("scores", "i4", N_SEATS),  # at the start
        ("final", "i4", N_SEATS),  # at the end: replay must come to the same
        ("n", "u2"),  # choices
        ("action", "u1", MAX_CHOICES),
        ("surprise", "u2", MAX_CHOICES),  # of each: minus the logarithm of its probability, in SURPRISE_UNIT
    ]
)
Scores: TypeAlias = tuple[int, int, int]
EVEN: Scores = (START_POINTS, START_POINTS, START_POINTS)


@dataclass(frozen=True, slots=True)
class Exploration:
    """How self-play explores. The policy is softmax(logits / temperature), mixed with noise."""

    first_turns: int = 6  # discards of a seat in a round at temperature 1
    late_temperature: float = 0.7  # after these
    noise: float = 0.03  # share of the probability that is Dirichlet noise
    alpha: float = 0.3  # of the Dirichlet distribution

    def temperatures(self, is_late: np.ndarray) -> np.ndarray:
        """The temperature of each decision, by whether the viewer has made its first discards: float64[n]."""
        return np.where(is_late, self.late_temperature, 1.0)


class StoppedError(Exception):
    """The generation was told to stop before its games had ended."""


@kernel("uint8[::1], int64, int64, boolean[::1], int64[::1]")
def read_choices(raw: np.ndarray, n: int, first_turns: int, is_late: np.ndarray, n_legal: np.ndarray) -> None:
    """Write for each of the first `n` views whether the first discards are made, and how many actions are legal."""
    views = raw.view(TABLE)
    for k in range(n):
        t = views[k]
        is_late[k] = late(t, first_turns)
        n_legal[k] = kernels.bit_count(t.legal[t.viewer, 0]) + kernels.bit_count(t.legal[t.viewer, 1])


@kernel((array_of(GAME), *(array_of(np.dtype(kind)) for kind in ("i4", "i8", "i8", "f8"))))
def keep_choices(
    games: np.ndarray, tables: np.ndarray, n_legal: np.ndarray, actions: np.ndarray, log_probabilities: np.ndarray
) -> None:
    """Append the choices made at `tables` to their games; one with too many only counts them, up to MAX_CHOICES + 1."""
    for k in range(len(actions)):
        if n_legal[k] < 2:
            continue
        game = games[tables[k]]
        if game.n < MAX_CHOICES:
            game.action[game.n] = actions[k]
            game.surprise[game.n] = min(-log_probabilities[k] / SURPRISE_UNIT + 0.5, 65535.0)
        if game.n <= MAX_CHOICES:
            game.n += 1


def start_tables(seeds: np.ndarray, scores: np.ndarray) -> Tables:
    """New hanchan with `seeds` uint64[n] and starting `scores` int32[n, 3], by Tenhou's rules."""
    records: Any = np.zeros(len(seeds), dtype=TABLE)
    records["rules"], records["seed"], records["viewer"] = TENHOU.packed(), seeds, EVERYTHING
    records["seat"]["score"] = scores
    tables = Tables.from_records(records, TENHOU)
    for i in range(len(seeds)):
        kernels.start_round(tables.raw, i)
    return tables


def play_games(
    weights: Weights, seeds: np.ndarray, scores: np.ndarray, exploration: Exploration, seed: int, stop: Event
) -> np.ndarray:
    """Play a game for each of `seeds` uint64[n], with starting `scores` int32[n, 3], to its end: GAME[at most n].

    `seed`: of the choices. Games with more than MAX_CHOICES are left out. Raises StoppedError soon after `stop` is set.
    """
    generator = np.random.default_rng(seed)
    games: Any = np.zeros(len(seeds), dtype=GAME)
    games["seed"], games["scores"] = seeds, scores
    tables = start_tables(seeds, scores)

    def act(views: np.ndarray) -> np.ndarray:
        if stop.is_set():
            raise StoppedError
        n = len(views)
        is_late, n_legal = np.empty(n, dtype=np.bool_), np.empty(n, dtype=np.int64)
        read_choices(raw_bytes(views), n, exploration.first_turns, is_late, n_legal)
        noise = generator.standard_gamma(exploration.alpha, int(n_legal.sum()))
        actions, log_probabilities = np.empty(n, dtype=np.int64), np.empty(n)
        sample(
            logits_of(weights, views),
            exploration.temperatures(is_late),
            generator.random(n),
            noise,
            exploration.noise,
            actions,
            log_probabilities,
        )
        keep_choices(games, tables.asked_tables[:n], n_legal, actions, log_probabilities)
        return actions

    try:
        for _ in tables.play([act], np.zeros((len(seeds), N_SEATS), dtype=np.int8)):
            pass
    except ValueError:
        if stop.is_set():
            raise StoppedError from None
        raise
    games["final"] = tables.records["seat"]["score"]
    return games[games["n"] <= MAX_CHOICES]


@dataclass(frozen=True)
class Chunk:
    """Some games of a generation, for a worker of a cluster: the arguments of `play_games`."""

    number: int
    weights: Weights
    seeds: np.ndarray
    scores: np.ndarray
    exploration: Exploration
    seed: int

    def play(self, stop: Event) -> np.ndarray:
        """See `play_games`."""
        return play_games(self.weights, self.seeds, self.scores, self.exploration, self.seed, stop)


def play_chunk(chunk: Chunk) -> Iterator[tuple[int, np.ndarray]]:
    """A task of `engine.common.workers`: gives the number of the chunk, and its games."""
    yield chunk.number, chunk.play(Event())


def draw_scores(handicaps: Sequence[Scores], n: int, generator: np.random.Generator) -> np.ndarray:
    """Starting scores of `n` games, int32[n, 3]: each one of `handicaps`, its seats at random."""
    drawn = np.array(handicaps, dtype=np.int32)[generator.integers(len(handicaps), size=n)]
    return generator.permuted(drawn, axis=1)
