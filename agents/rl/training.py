"""The trainer of ``python -m agents.rl train``: act, learn, measure; `agents.training.loop` has the loop.

In each iteration every actor plays a round at all its tables by the current policy, and the learner learns from it.
Acting is compiled code that releases the GIL, so actors are threads; on a cluster they are workers. After an iteration,
everything that the next one needs can be saved: an interrupted run resumes from there.
"""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TypeAlias

import numpy as np
import torch
from torch.utils.tensorboard import SummaryWriter

from agents.rl.bot import WEIGHTS, NetworkBot, weights_file
from agents.rl.critic import FILE as CRITIC
from agents.rl.critic import save_critic
from agents.rl.evaluation import Strength, measure, read_curve, write_curve
from agents.rl.families import DEFAULT_FAMILY, features_named
from agents.rl.plot import plot_curve
from agents.rl.policy import (
    NAMES,
    Weights,
    check_weights,
    load_logit_value,
    load_weights,
    random_weights,
    save_weights,
    widen,
)
from agents.rl.ppo import Learner
from agents.rl.rollouts import Actor, Experience, Task
from agents.rl.settings import HIDDEN, WIDTH, Games, Hyperparameters, Settings
from agents.training.checkpoint import reading
from agents.training.folders import check_folder
from agents.training.loop import Step, Training
from agents.training.schedule import linear_decay
from agents.training.settings import Setting, check_unchanged, settings_in
from engine.common.files import write_atomically
from engine.common.options import usable_cores
from engine.common.pools import AnyPool
from engine.seeds import derive_seed

Played: TypeAlias = tuple[int, Actor, Experience]
STATE, CURVE, PICTURE, TENSORBOARD = "state.pt", "curve.csv", "curve.svg", "tensorboard"
WARM_UP = 20  # iterations in which only the critic learns
MOST_FORMER = 16  # former selves that are kept: the newest
LEAST_CRITIC_RATE = 0.1  # share of its learning rate that the critic keeps


class Run(Training):
    """A training run in a folder."""

    save_every = 20.0
    pool: AnyPool[Task, Played] | None = None  # whose workers act; without one, threads of this process do

    def __init__(self, folder: Path, settings: Settings, start: Path | None, anchor: Path | None = None) -> None:
        """Begin a run, or continue the one in the folder. Raises ValueError, in one line, if that cannot be done.

        `start`: the weights that a new run begins with, a file or the folder of a run, widened to the widths of the
        settings; without it, random ones that add nothing to any logit. `anchor`: see `Learner`, likewise.
        """
        check_folder(folder, "agents.rl")
        self.folder, self.settings = folder, settings
        self.iteration = self.choices = 0  # done so far
        self.saved_iteration = 0
        self.seconds = self.warm_up_seconds = 0.0  # of training; until the policy began to learn
        self.logit_value: float | None = None  # of the weights: placements that a logit of 1 stands for, if known
        self.former: list[Weights] = []  # former selves among the opponents
        self._actors: list[Actor] = []
        self.features = features_named(settings.games.bot)
        if (folder / STATE).is_file():
            self.learner = self._load()
        else:
            jobs = settings.jobs or usable_cores()
            self.settings = replace(settings, jobs=jobs)
            self._actors = [self._new_actor(number) for number in range(jobs)]
            weights = self._first_weights(start)
            kept_near = None if anchor is None else load_weights(weights_file(anchor), self.features)
            self.learner = self._new_learner(weights, kept_near)

    @property
    def jobs(self) -> int:
        """How many actors play at the same time."""
        return len(self._actors)

    def _new_actor(self, number: int) -> Actor:
        return Actor(self.settings.games, self.settings.tables, derive_seed(self.settings.seed, "actor", number))

    def _first_weights(self, start: Path | None) -> Weights:
        """The weights of a new run."""
        width, hidden, seed = self.settings.width, self.settings.hidden, self.settings.seed
        if start is None:
            return random_weights(self.features, width or WIDTH, hidden or HIDDEN, seed)
        path = weights_file(start)
        weights, self.logit_value = load_weights(path, self.features), load_logit_value(path)
        had = weights["hidden"].shape
        for option, wanted, least in zip(("width", "hidden"), (width, hidden), had, strict=True):
            if wanted is not None and wanted < least:
                raise ValueError(f"{option} {wanted}: {start} has {least}; a network can only be widened")
        return widen(weights, self.features, width or had[0], hidden or had[1], seed)

    def _new_learner(self, weights: Weights, anchor: Weights | None) -> Learner:
        return Learner(weights, self.settings.hyperparameters, self.settings.seed, self.settings.device, anchor)

    def _load(self) -> Learner:
        """Continue from the state on disk; returns the learner."""
        path = self.folder / STATE
        with reading(path):
            state = torch.load(path, weights_only=True, map_location="cpu")
            self.iteration, self.choices, self.seconds = state["counts"]
            self.warm_up_seconds = float(state.get("warm_up_seconds", 0.0))  # earlier versions had none, nor a value
            self.logit_value = None if (value := state.get("logit_value")) is None else float(value)
            policy = state["learner"]["policy"]
            # earlier versions named the settings as options: --gae-lambda
            before = {name.removeprefix("--").replace("-", "_"): text for name, text in state["settings"].items()}
            weights = {name: policy[f"weights.{name}"].numpy() for name in NAMES}
            widths = weights["hidden"].shape
            former = [{name: each[name].numpy() for name in NAMES} for each in state["former"]]
            start = state["learner"].get("start", policy)  # widths of an anchor may be its own
            anchor = {name: start[f"weights.{name}"].numpy() for name in NAMES}
            self.settings = replace(self.settings, jobs=self.settings.jobs or len(state["actors"]))
        self.saved_iteration = self.iteration
        bot = {"bot": Setting(DEFAULT_FAMILY, str, "", option="--bot")}
        check_unchanged(path, before, self.settings.fixed(), settings_in(Games, Hyperparameters, Settings) | bot)
        weights, anchor, *self.former = (
            check_weights(path, each, self.features) for each in (weights, anchor, *former)
        )
        asked = self.settings.width, self.settings.hidden
        for option, wanted, width in zip(("width", "hidden"), asked, widths, strict=True):
            if wanted not in (None, width):
                what = f"its network has {option} {width}, not {wanted}"
                raise ValueError(f"{path}: {what}; widen it in another folder by --start {self.folder / WEIGHTS}")
        learner = self._new_learner(weights, anchor)
        with reading(path):
            learner.load_state(state["learner"])
            for number, each in enumerate(state["actors"]):
                self._actors.append(self._new_actor(number))
                self._actors[number].load_state(each)
        return learner

    def save(self) -> None:
        """Write all that the next iteration needs. Raises OSError."""
        state = {
            "learner": self.learner.state(),
            "actors": [actor.state() for actor in self._actors],
            "former": [{name: torch.from_numpy(each[name]) for name in NAMES} for each in self.former],
            "counts": (self.iteration, self.choices, self.seconds),
            "warm_up_seconds": self.warm_up_seconds,
            "logit_value": self.logit_value,
            "settings": self.settings.fixed(),
        }
        with write_atomically(self.folder / STATE) as file:
            torch.save(state, file)
        save_weights(self.folder / WEIGHTS, self.learner.policy.numpy(), self.logit_value)
        save_critic(self.folder / CRITIC, self.learner.critic_weights())
        self.saved_iteration = self.iteration

    @property
    def budget(self) -> tuple[int, str]:
        """How long the run is, and the unit: iterations, or seconds of training."""
        return self.settings.budget

    @property
    def spent(self) -> float:
        """What is done of the budget of the settings, in its unit."""
        return self.iteration if self.settings.iterations else self.seconds

    @property
    def finished(self) -> bool:
        """Whether the budget is spent and the outcome is measured."""
        return super().finished and not self._is_measurement_due()

    def _is_measurement_due(self) -> bool:
        """Return whether a measurement is missing, including one that was interrupted."""
        curve, every = read_curve(self.folder / CURVE), self.settings.measure_every
        if not curve:
            return True
        ended = super().finished and curve[-1].iteration < self.iteration
        return ended or self.seconds / 60 // every > curve[-1].minutes // every

    @property
    def has_learned(self) -> bool:
        """Whether the policy has begun to learn."""
        return self.iteration > WARM_UP

    @property
    def phase(self) -> str:
        """How many iterations are done, of the warm-up or in all."""
        return f"iteration {self.iteration}" if self.has_learned else f"warm-up {self.iteration}/{WARM_UP}"

    def _rate(self) -> float:
        """The factor of the learning rates: it falls from 1, when the policy begins to learn, to 0 at the end."""
        total, _ = self.budget
        warm_up = min(self.iteration, WARM_UP) if self.settings.iterations else self.warm_up_seconds
        return linear_decay(self.spent, warm_up, total)

    def steps(self) -> Generator[Step]:
        """Do the iterations and measurements that are left."""
        self.folder.mkdir(parents=True, exist_ok=True)  # only now, so that a run that cannot begin leaves none
        begins = not (self.folder / STATE).exists()
        if begins:
            (self.folder / CURVE).unlink(missing_ok=True)  # of a run whose state was deleted, to begin again
        kept = 0 if begins else self.iteration + 1  # TensorBoard hides what an earlier process wrote from there on
        if self.iteration and not self.finished:
            yield Step(line=f"resuming after iteration {self.iteration}")
        with SummaryWriter(self.folder / TENSORBOARD, purge_step=kept) as writer:
            while not self.finished:
                if self._is_measurement_due():
                    yield from self._measure(writer)
                else:
                    yield self._iterate(writer)

    def _measure(self, writer: SummaryWriter) -> Generator[Step]:
        """Save the run and measure it."""
        self.save()
        against = " and ".join(self.settings.measure_against)
        what = f"measuring {3 * self.settings.walls:,} hanchan against two {against}"
        is_first = not read_curve(self.folder / CURVE)
        yield Step(what, f"{what} before the training" if is_first else "", at_once=True)
        rows = self.measure()
        for row in rows:
            writer.add_scalar(f"placement/{row.opponent}", row.placement, row.iteration)
        texts = [f"{row.opponent} {row.text()}" for row in rows]
        done = f"after {rows[0].minutes:.0f} min, {rows[0].choices:,} choices"
        yield Step(line=f"{done}, placement against two: {', '.join(texts)}")

    def _iterate(self, writer: SummaryWriter) -> Step:
        """Run an iteration."""
        seconds, choices = self.seconds, self.choices
        metrics = self.next_iteration()
        rate = (self.choices - choices) / max(self.seconds - seconds, 1e-9)
        for name, value in (metrics | {"choices_per_second": rate}).items():
            writer.add_scalar(f"learning/{name}", value, self.iteration)
        return Step(f"{self.phase}, {rate:,.0f} choices/s, entropy {metrics.get('entropy', 0.0):.2f}")

    def next_iteration(self) -> dict[str, float]:
        """Act and learn; return the metrics of `Learner.learn`. After an exception only the saved state is usable."""
        began = monotonic()
        experience = self.act()
        rate, warming_up = self._rate(), self.iteration < WARM_UP
        if self.iteration == WARM_UP:  # by now the tables are in all rounds of a game
            self.learner.whiten(experience)
        self.learner.set_rates(0.0 if warming_up else rate, max(rate, LEAST_CRITIC_RATE))
        generator = np.random.default_rng(derive_seed(self.settings.seed, "learning", self.iteration))
        metrics = self.learner.learn(experience, generator)
        if not self.learner.is_finite():
            what = f"{self.folder}: weights became infinite or NaN in iteration {self.iteration}, which is not saved"
            raise ValueError(f"{what}; begin in another folder with a lower learning_rate or critic_rate")
        self.iteration += 1
        self.choices += sum(len(part.seat) for part in experience)
        before, self.seconds = self.seconds, self.seconds + monotonic() - began
        if warming_up:
            self.warm_up_seconds = self.seconds
        elif metrics and (weight := self.settings.hyperparameters.regularization):
            self.logit_value = weight * metrics["advantage_std"]
        every = 60 * self.settings.former_every
        if self.seconds // every > before // every:
            self.former = [*self.former, self.learner.policy.numpy()][-MOST_FORMER:]
        return metrics

    def act(self) -> list[Experience]:
        """A round at all tables."""
        weights = self.learner.policy.numpy()
        if self.pool is not None:
            tasks = [Task(number, actor, weights, self.former) for number, actor in enumerate(self._actors)]
            played = sorted(self.pool.run(tasks), key=lambda each: each[0])
            self._actors = [actor for _, actor, _ in played]
            return [experience for _, _, experience in played]
        stop = Event()
        with ThreadPoolExecutor(len(self._actors)) as threads:
            try:
                return list(threads.map(lambda actor: actor.play(weights, self.former, stop), self._actors))
            finally:
                stop.set()

    def measure(self) -> list[Strength]:
        """Measure the present weights against the opponents and add the result to the curve."""
        bot = NetworkBot(self.settings.games.bot, self.features, self.learner.policy.numpy())
        rows = []
        for opponent in self.settings.measure_against:
            found = measure(bot, opponent, self.settings.walls, min(self.jobs, usable_cores()))
            counts = (self.seconds / 60, self.iteration, self.choices)
            rows.append(Strength(*counts, opponent, 3 * self.settings.walls, *found))
        curve = [*read_curve(self.folder / CURVE), *rows]
        write_curve(self.folder / CURVE, curve)
        plot_curve(curve, self.folder / PICTURE)
        return rows
