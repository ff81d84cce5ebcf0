"""Learning the weights from choices: minibatches, Adam; `agents.training.loop` has the loop.

Method: Kingma and Ba, "Adam" (2014), with a learning rate that falls linearly to 0. A step of each weight is divided by
the largest value of its feature, so that a count of 60 tiles and a binary feature learn at the same rate.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.linear import losses
from agents.linear.bot import POINTS_PER_TEMPERATURE
from agents.linear.config import CHECKPOINT, HINGE, Config
from agents.linear.data import Choices
from agents.linear.features import N_FEATURES
from agents.training.checkpoint import reading
from agents.training.loop import Step, Training
from agents.training.settings import check_unchanged, settings_in
from engine.common.files import write_atomically

HELD_OUT = 10  # one game in so many is held out
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8
MAX_MEMBER = 16 << 20  # bytes of an array in a checkpoint, unpacked; the names of all data files are in one


class Epoch(NamedTuple):
    """The outcome of an epoch; number 0 is before training."""

    number: int
    loss: float  # mean over the decisions that are not held out
    held_out_loss: float
    agreement: float  # share of held-out decisions in which the highest value has what was chosen

    def __str__(self) -> str:
        losses = f"loss {self.loss:,.4g}, held out {self.held_out_loss:,.4g}"
        return f"epoch {self.number}: {losses}, agreement {self.agreement:.2%}"


class Split(NamedTuple):
    """The decisions to learn from, and those of the games that are held out."""

    training: Choices
    held_out: Choices


def split(choices: Choices) -> Split:
    """Hold out one game in HELD_OUT, or the last of fewer. Raises ValueError if either part would be empty."""
    games = np.unique(choices.game)
    if len(games) < 2:
        raise ValueError(f"decisions of {len(games)} games: training needs two or more, as some are held out")
    held_out = np.isin(choices.game, games[HELD_OUT - 1 :: HELD_OUT] if len(games) >= HELD_OUT else games[-1:])
    return Split(choices.select(~held_out), choices.select(held_out))


class Trainer(Training):
    """A training run in a folder."""

    save_every = 20.0

    def __init__(self, config: Config, initial: np.ndarray, parts: Split, folder: Path) -> None:
        """Resume from the checkpoint in `folder`, or start at `initial` float64[N_FEATURES].

        Raises ValueError if the checkpoint is damaged or of another config, OSError.
        """
        self.config, self.parts, self.folder = config, parts, folder
        self.theta = np.array(initial, dtype=np.float64)
        self._means = np.zeros((2, N_FEATURES))  # of the gradient and of its square
        self.epochs: list[Epoch] = []  # that have ended
        self._minibatches, self._loss_sum = 0, 0.0  # of the epoch that has not
        self.best = self.theta.copy()  # the weights of the highest agreement so far
        self._scale = np.maximum(np.abs(parts.training.phi).max(axis=0), 1.0).astype(np.float64)
        if (folder / CHECKPOINT).exists():
            self._load()
        else:
            folder.mkdir(parents=True, exist_ok=True)
            self._end_epoch(self._mean_loss(parts.training))

    @property
    def best_epoch(self) -> Epoch:
        """The epoch whose weights are kept: the highest agreement, the first of equals."""
        return max(self.epochs, key=lambda epoch: epoch.agreement)

    @property
    def steps_an_epoch(self) -> int:
        """Minibatches an epoch."""
        return -(-len(self.parts.training.game) // self.config.batch_size)

    @property
    def budget(self) -> tuple[int, str]:
        """Minibatches of all epochs."""
        return self.config.epochs * self.steps_an_epoch, "steps"

    @property
    def spent(self) -> int:
        """Minibatches so far."""
        return (len(self.epochs) - 1) * self.steps_an_epoch + self._minibatches

    def steps(self) -> Generator[Step]:
        """Train the minibatches that are left, and report each epoch."""
        yield Step(line=str(self.epochs[-1]))
        while not self.finished:
            random, size = np.random.default_rng([self.config.seed, len(self.epochs)]), self.config.batch_size
            order = random.permutation(len(self.parts.training.game))
            batches = [order[first : first + size] for first in range(0, len(order), size)]
            for batch in batches[self._minibatches : -1]:
                self._take(batch)
                yield Step()
            self._take(batches[-1])
            self._end_epoch(self._loss_sum / len(order))
            yield Step(line=str(self.epochs[-1]))

    def _take(self, batch: np.ndarray) -> None:
        """Learn from a minibatch."""
        self._loss_sum += self._step(batch)
        self._minibatches += 1

    def _step(self, batch: np.ndarray) -> float:
        """A step of Adam; returns the summed loss of the batch before it."""
        gradient = np.zeros(N_FEATURES)
        loss = self._loss(self.parts.training, batch, gradient)
        gradient /= len(batch) * self._scale
        done = self.spent
        self._means[0] = BETA_1 * self._means[0] + (1 - BETA_1) * gradient
        self._means[1] = BETA_2 * self._means[1] + (1 - BETA_2) * gradient**2
        mean = self._means[0] / (1 - BETA_1 ** (done + 1))
        square = self._means[1] / (1 - BETA_2 ** (done + 1))
        alpha = self.config.alpha * (1 - done / (self.config.epochs * self.steps_an_epoch))
        self.theta -= alpha * mean / (np.sqrt(square) + EPSILON) / self._scale
        return loss

    def _loss(self, choices: Choices, batch: np.ndarray, gradient: np.ndarray) -> float:
        data = (choices.phi, choices.starts, choices.chosen, batch, self.theta)
        if self.config.loss == HINGE:
            return float(losses.hinge(*data, self.config.margin, gradient))
        return float(losses.softmax(*data, POINTS_PER_TEMPERATURE * self.config.temperature, gradient))

    def _mean_loss(self, choices: Choices) -> float:
        return self._loss(choices, np.arange(len(choices.game)), np.zeros(N_FEATURES)) / len(choices.game)

    def _end_epoch(self, loss: float) -> None:
        """Measure on the games held out."""
        held_out = self.parts.held_out
        agreed = losses.agreeing(held_out.phi, held_out.starts, held_out.chosen, self.theta)
        epoch = Epoch(len(self.epochs), loss, self._mean_loss(held_out), int(agreed) / len(held_out.game))
        if not self.epochs or epoch.agreement > self.best_epoch.agreement:
            self.best = self.theta.copy()
        self.epochs.append(epoch)
        self._minibatches, self._loss_sum = 0, 0.0

    def save(self) -> None:
        """Write a checkpoint. Raises OSError."""
        with write_atomically(self.folder / CHECKPOINT) as file:
            np.savez(
                file,
                config=json.dumps(asdict(self.config)),
                theta=self.theta,
                best=self.best,
                means=self._means,
                epochs=np.array(self.epochs),
                epoch=np.array([self._minibatches, self._loss_sum]),
            )

    def _load(self) -> None:
        path = self.folder / CHECKPOINT
        with reading(path), np.load(path) as saved:
            if any(info.file_size > MAX_MEMBER for info in saved.zip.infolist()):
                raise ValueError("too large")
            before: dict[str, Any] = dict(json.loads(str(saved["config"])))
            arrays = (saved[name].astype(np.float64) for name in ("theta", "best", "means"))
            self.theta, self.best, self._means = arrays
            self.epochs = [Epoch(int(row[0]), *row[1:].tolist()) for row in saved["epochs"]]
            if "epoch" in saved:  # earlier versions saved whole epochs only
                minibatches, self._loss_sum = saved["epoch"].astype(np.float64).tolist()
                self._minibatches = int(minibatches)
            shapes = [array.shape for array in (self.theta, self.best, self._means)]
            if shapes != [(N_FEATURES,), (N_FEATURES,), (2, N_FEATURES)] or not self.epochs or self._minibatches < 0:
                raise ValueError("of other features")
        now = asdict(self.config)
        digest = now.pop("digest")
        check_unchanged(self.folder, before, now, settings_in(Config))
        if before.get("digest") != digest:
            what = "began with other decisions: the data has changed"
            raise ValueError(f"{self.folder}: {what}; give the same data, or another folder")
