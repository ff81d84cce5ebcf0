"""The loop of ``python -m agents.rl train``: act, learn, measure.

In each iteration every actor plays a round at all its tables by the present policy, and the learner learns from it.
Acting is compiled code that releases the GIL, so actors are threads; on a cluster they are workers. After an iteration
all that the next one needs can be saved: a run that was interrupted goes on from there.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, TypeAlias

import numpy as np
import torch

from agents.rl.acting import Actor, Experience, Games, Task
from agents.rl.bot import WEIGHTS, NetworkBot
from agents.rl.families import features_named
from agents.rl.learning import Hyperparameters, Learner
from agents.rl.measuring import Strength, append, measure
from agents.rl.plot import plot_curve
from agents.rl.policy import load_weights, random_weights, save_weights
from engine.common.files import write_atomically
from engine.common.workers import AnyPool
from engine.seeds import derived_seed

Played: TypeAlias = tuple[int, Actor, Experience]
STATE, CURVE, PICTURE, TENSORBOARD = "state.pt", "curve.csv", "curve.svg", "tensorboard"
# Settings that may differ when a run goes on; the first two are told by what they consist of.
CHANGEABLE = ("games", "hyperparameters", "minutes", "measured_against", "walls", "device")


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a run."""

    games: Games
    hyperparameters: Hyperparameters = field(default_factory=Hyperparameters)
    seed: int = 0
    actors: int = 2
    tables: int = 1024  # of an actor
    joint: int = 160  # widths of the layers of the policy
    hidden: int = 64
    warm_up: int = 20  # iterations in which only the critic learns
    minutes: float = 480.0  # the learning rate falls linearly to 0 until then
    measured_against: tuple[str, ...] = ("rule",)
    walls: int = 1000  # of a measurement, each played three times
    device: str = "cpu"


class Run:
    """A training run in a folder."""

    def __init__(
        self, folder: Path, settings: Settings, start: Path | None, pool: AnyPool[Task, Played] | None = None
    ) -> None:
        """Begin a run, or continue the one in the folder. Raises ValueError, in one line, if that cannot be done.

        `start`: the weights to begin with; without a file, random ones that add nothing to any logit. `pool`: its
        workers act; without one, threads of this process do.
        """
        self.folder, self.settings, self._pool = folder, settings, pool
        self.iteration = self.choices = 0  # done so far
        self.seconds = 0.0  # of training
        self.features = features_named(settings.games.family)
        weights = random_weights(self.features, settings.joint, settings.hidden, settings.seed)
        if start is not None:
            weights = load_weights(start, self.features)
        self.learner = Learner(weights, settings.hyperparameters, settings.seed, settings.device)
        seeds = (derived_seed(settings.seed, "actor", i) for i in range(settings.actors))
        self._actors = [Actor(settings.games, settings.tables, seed) for seed in seeds]
        if (folder / STATE).is_file():
            self._load()

    def _load(self) -> None:
        """Continue from the state on disk."""
        path = self.folder / STATE
        try:
            state = torch.load(path, weights_only=True, map_location=self.settings.device)
            self.iteration, self.choices, self.seconds = state["counts"]
            before: dict[str, Any] = state["settings"]
            if before == self._options():
                self.learner.load_state(state["learner"])
                for actor, each in zip(self._actors, state["actors"], strict=True):
                    actor.load_state(each)
        except Exception as error:  # torch raises a dozen kinds for damaged files
            what = next(iter(str(error).splitlines()), type(error).__name__)
            raise ValueError(f"{path}: cannot be continued ({what}); take another folder") from None
        for name, value in self._options().items():
            if before.get(name) != value:
                what = f"began with {name} = {before.get(name)}, not {value}"
                raise ValueError(f"{path}: {what}; give the same options, or another folder")

    def _options(self) -> dict[str, str]:
        """The options that a run cannot change, as texts by name."""
        settings = self.settings
        options = asdict(settings) | asdict(settings.games) | settings.hyperparameters._asdict()
        return {name: str(value) for name, value in options.items() if name not in CHANGEABLE}

    def save(self) -> None:
        """Write all that the next iteration needs. Raises OSError."""
        state = {
            "learner": self.learner.state(),
            "actors": [actor.state() for actor in self._actors],
            "counts": (self.iteration, self.choices, self.seconds),
            "settings": self._options(),
        }
        with write_atomically(self.folder / STATE) as file:
            torch.save(state, file)
        save_weights(self.folder / WEIGHTS, self.learner.policy.numpy())

    def next_iteration(self) -> dict[str, float]:
        """Act and learn; returns what `Learner.learn` tells. After an exception only what was saved can go on."""
        began = monotonic()
        experience = self._act()
        rate = max(1 - self.seconds / (60 * self.settings.minutes), 0.0)
        generator = np.random.default_rng(derived_seed(self.settings.seed, "learning", self.iteration))
        told = self.learner.learn(experience, rate if self.iteration >= self.settings.warm_up else 0.0, generator)
        self.iteration += 1
        self.choices += sum(len(part.seat) for part in experience)
        self.seconds += monotonic() - began
        return told

    def _act(self) -> list[Experience]:
        """A round at all tables."""
        weights = self.learner.policy.numpy()
        if self._pool is not None:
            tasks = [Task(number, actor, weights) for number, actor in enumerate(self._actors)]
            played = sorted(self._pool.run(tasks), key=lambda each: each[0])
            self._actors = [actor for _, actor, _ in played]
            return [experience for _, _, experience in played]
        stop = Event()
        with ThreadPoolExecutor(len(self._actors)) as threads:
            try:
                return list(threads.map(lambda actor: actor.play(weights, stop), self._actors))
            finally:
                stop.set()

    def measure(self) -> list[Strength]:
        """Measure the present weights against the opponents and add the result to the curve."""
        bot = NetworkBot(self.settings.games.family, self.features, self.learner.policy.numpy(), 1.0)
        rows = []
        for opponent in self.settings.measured_against:
            found = measure(bot, opponent, self.settings.walls, self.settings.actors)
            counts = (self.seconds / 60, self.iteration, self.choices)
            rows.append(Strength(*counts, opponent, 3 * self.settings.walls, *found))
        append(self.folder / CURVE, rows)
        plot_curve(self.folder / CURVE, self.folder / PICTURE)
        return rows
