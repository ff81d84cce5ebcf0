"""The loop of ``python -m agents.selfplay train``: self-play in one thread, learning in another.

In each generation the published weights play new games while the learner takes its steps on the buffer as it was at
the start of the generation; then the games go into the buffer and the new weights are published. So a run is the same
however fast the machine is, and one that was interrupted goes on as if it had not been: all randomness is derived from
the seed and the number of the generation.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, TypeAlias

import numpy as np
import torch

from agents.selfplay.bot import WEIGHTS
from agents.selfplay.buffer import Buffer
from agents.selfplay.games import EVEN, Chunk, Exploration, Scores, draw_scores
from agents.selfplay.learning import Batch, Learner, Losses
from agents.selfplay.measuring import OPPONENTS, Strength, append, measure
from agents.selfplay.network import random_weights, save_weights
from agents.selfplay.replay import replay
from engine.common.files import write_atomically
from engine.common.workers import AnyPool
from engine.seeds import derived_seed

Played: TypeAlias = tuple[int, np.ndarray]  # the number of a chunk, and its games
STATE, BUFFER, CURVE, TENSORBOARD = "state.pt", "games.buffer", "curve.csv", "tensorboard"
DRAW = 64  # games that are replayed at once; their choices make some minibatches


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a run."""

    seed: int = 0
    games: int = 128  # of a generation
    chunks: int = 1  # of these games, each with a seed of its own; a cluster plays them at the same time
    steps: int = 20  # of learning in a generation: weights are published after so many
    batch_size: int = 2048
    buffer: int = 500_000  # games
    learning_rate: float = 2e-3
    l2: float = 1e-6
    handicaps: tuple[Scores, ...] = (EVEN,)
    exploration: Exploration = field(default_factory=Exploration)
    walls: int = 100  # of a measurement, each played three times


class Run:
    """A training run in a folder."""

    def __init__(self, folder: Path, settings: Settings, pool: AnyPool[Chunk, Played] | None = None) -> None:
        """Begin a run, or continue the one in the folder. Raises ValueError, in one line, if that cannot be done.

        ``pool``: its workers play the chunks of a generation; without one, a thread of this process does.
        """
        self._pool = pool
        self.folder, self.settings = folder, settings
        self.generation = self.steps = self.games = 0  # done so far
        self.seconds = 0.0  # of training
        self.learner = Learner(random_weights(settings.seed), settings.learning_rate, settings.l2)
        added = self._load() if (folder / STATE).is_file() else 0
        self.buffer = Buffer(folder / BUFFER, settings.buffer, added)
        self.published = self.learner.weights

    def _load(self) -> int:
        """Continue from the state on disk; returns how many games were added to the buffer."""
        path = self.folder / STATE
        try:
            state = torch.load(path, weights_only=True)
            for name, tensor in self.learner.parameters.items():
                tensor.data.copy_(state["weights"][name])
            self.learner.optimizer.load_state_dict(state["optimizer"])
            self.generation, self.steps, self.games, added, self.seconds = state["counts"]
            before: dict[str, Any] = {"chunks": 1} | state["settings"]  # runs had no chunks at first
        except Exception as error:  # torch raises a dozen kinds for damaged files
            what = next(iter(str(error).splitlines()), type(error).__name__)
            raise ValueError(f"{path}: cannot be continued ({what}); take another folder") from None
        for name, value in asdict(self.settings).items():
            if name != "buffer" and before.get(name) != value:  # of the buffer, `Buffer` tells more
                what = f"began with {name} = {before.get(name)}, not {value}"
                raise ValueError(f"{path}: {what}; give the same options, or another folder")
        return int(added)

    def save(self) -> None:
        """Write all that the next generation needs. Raises OSError."""
        self.buffer.flush()
        state = {
            "weights": {name: tensor.detach() for name, tensor in self.learner.parameters.items()},
            "optimizer": self.learner.optimizer.state_dict(),
            "counts": (self.generation, self.steps, self.games, self.buffer.added, self.seconds),
            "settings": asdict(self.settings),
        }
        with write_atomically(self.folder / STATE) as file:
            torch.save(state, file)
        save_weights(self.folder / WEIGHTS, self.published)

    def next_generation(self) -> list[Losses]:
        """Play and learn one generation; returns the loss of each step. An exception leaves the run as it was saved."""
        began = monotonic()
        stop = Event()
        with ThreadPoolExecutor(1) as thread:
            try:
                if self._pool is None:
                    playing = thread.submit(self._play, stop)
                    losses = self._learn()
                    games = playing.result()
                else:  # pools are for the main thread
                    learning = thread.submit(self._learn)
                    games = self._play_in_pool(self._pool)
                    losses = learning.result()
            finally:
                stop.set()
        self.buffer.add(games)
        self.games += len(games)
        self.published = self.learner.weights
        self.generation += 1
        self.steps += len(losses)
        self.seconds += monotonic() - began
        return losses

    def _generator(self, use: str) -> np.random.Generator:
        return np.random.default_rng(derived_seed(self.settings.seed, use, self.generation))

    def _chunks(self) -> list[Chunk]:
        """The games of this generation."""
        settings, generator = self.settings, self._generator("games")
        seeds = generator.integers(1 << 63, size=settings.games, dtype=np.uint64)
        scores = draw_scores(settings.handicaps, settings.games, generator)
        seed = int(generator.integers(1 << 63))
        parts = zip(np.array_split(seeds, settings.chunks), np.array_split(scores, settings.chunks))
        return [
            Chunk(
                *(number, self.published, *part, settings.exploration),
                derived_seed(seed, "chunk", number) if number else seed,
            )
            for number, part in enumerate(parts)
        ]

    def _play(self, stop: Event) -> np.ndarray:
        return np.concatenate([chunk.play(stop) for chunk in self._chunks()])

    def _play_in_pool(self, pool: AnyPool[Chunk, Played]) -> np.ndarray:
        return np.concatenate([games for _, games in sorted(pool.run(self._chunks()), key=lambda played: played[0])])

    def _batches(self) -> Iterator[Batch]:
        """Minibatches of the choices of games drawn from the buffer, without end."""
        generator, exploration = self._generator("learning"), self.settings.exploration
        while True:
            choices = replay(self.buffer.draw(DRAW, generator), exploration.first_turns)
            yield from self.learner.batches(choices, self.settings.batch_size, exploration, generator)

    def _learn(self) -> list[Losses]:
        """The loss of each step; none while there is nothing to learn from."""
        if not len(self.buffer):
            return []
        losses = [self.learner.step(batch) for _, batch in zip(range(self.settings.steps), self._batches())]
        return [Losses(*(part.detach() for part in each)) for each in losses]

    def measure(self) -> list[Strength]:
        """Measure the published weights against all OPPONENTS and add the result to the curve."""
        counts = (self.seconds / 60, self.generation, self.games, self.steps)
        rows = []
        for opponent in OPPONENTS:
            found = measure(self.published, opponent, self.settings.walls)
            rows.append(Strength(*counts, opponent, 3 * self.settings.walls, *found))
        append(self.folder / CURVE, rows)
        return rows


def summary(losses: list[Losses]) -> dict[str, float]:
    """The mean of each part of the loss over some steps."""
    columns: dict[str, Any] = {name: [getattr(each, name) for each in losses] for name in Losses._fields}
    return {name: float(torch.stack(column).mean()) for name, column in columns.items()}
