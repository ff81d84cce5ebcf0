"""The trainer of a run: steps, validation, metrics, checkpoints; `agents.training.loop` has the loop.

The folder of a run holds

``training_config.json``  the `TrainingConfig`
``checkpoint/``           what resuming needs: weights, optimizer, learning-rate schedule, random states, progress
``model/``                the network with the lowest validation loss (that which the objective `selects` by), which
                          can be loaded by ``from_pretrained``
``metrics.csv``           all metrics; ``tensorboard/`` has the same

The batch of a step and all of its randomness follow from the seed and the number of the step: an interrupted and
resumed run ends with the same weights as one that was not interrupted, unless it has minutes in place of steps.
"""

from __future__ import annotations

import json
import shutil
import time
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict
from itertools import chain, count, islice
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import parse_flag_from_env, set_seed
from torch.optim.lr_scheduler import LambdaLR

from agents.bert.families import WEIGHTS
from agents.bert.symmetries import N_VARIANTS
from agents.bert.training.config import TrainingConfig, TrainingProgress
from agents.bert.training.data.dataset import Batch, Dataset
from agents.bert.training.metrics import TRAIN, VALIDATION, MeanMetrics, MetricsWriter
from agents.bert.training.objectives import Loss, MakeObjective
from agents.bert.training.saving import save_network
from agents.training.checkpoint import reading
from agents.training.devices import has_bf16
from agents.training.loop import Step, Training
from agents.training.memory import keep_freed_memory
from agents.training.schedule import linear_decay

SHOWN = ("train_loss", "train_accuracy", "validation_loss", "validation_policy_loss", "validation_accuracy")
LOGGING_STEPS = 50  # steps whose metrics are averaged for one row
VALIDATION_SAMPLES = 20_000  # samples of a validation at most
VALIDATION_BATCH_SIZE = 256
PREFETCHED = 2  # batches that are prepared while the network learns from another

T = TypeVar("T")


class Trainer(Training):
    """Trains the objective that `make_objective` makes of `config`, in `folder`."""

    save_every = 300.0

    def __init__(self, config: TrainingConfig, make_objective: MakeObjective, folder: Path) -> None:
        """Start, or resume from the folder's checkpoint. Raises ValueError if data or network cannot be loaded."""
        self.config, self.folder = config, folder
        keep_freed_memory()
        # Accelerator needs the precision before it chooses the device; this is how it chooses.
        device = PartialState(cpu=parse_flag_from_env("ACCELERATE_USE_CPU")).device
        self.accelerator = Accelerator(mixed_precision="bf16" if has_bf16(device) else "no")
        self.data, self.validation = Dataset(Path(config.data)), Dataset(Path(config.data), validation=True)
        n = self.accelerator.num_processes
        if config.batch_size % n:
            raise ValueError(f"--batch-size {config.batch_size} is no multiple of the number of processes, {n}")
        if len(self.data) < n:
            raise ValueError(f"{config.data}: {len(self.data)} training samples are too few for {n} processes")
        if config.minutes and (config.steps or n > 1):
            raise ValueError("--minutes: takes no --steps, and trains in one process, as clocks differ")
        self.progress, self.saved_step = TrainingProgress(), 0
        self.metrics: dict[str, float] = {}  # the latest
        set_seed(config.seed)
        self.objective = make_objective(config)
        self.optimizer = torch.optim.AdamW(
            self.objective.model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
        )
        self.scheduler = LambdaLR(self.optimizer, self._rate)
        self.model, self.optimizer = self.accelerator.prepare(self.objective.model, self.optimizer)
        folder.mkdir(parents=True, exist_ok=True)  # only now: where data or network are missing, nothing is left behind
        self._load_checkpoint()
        self.writer = MetricsWriter(folder, self.objective.metric_names, self.progress.step) if self.is_main else None

    @property
    def budget(self) -> tuple[int, str]:
        """How long the run is, and the unit: steps, or seconds of training."""
        config = self.config
        if config.minutes:
            return max(round(60 * config.minutes), 1), "seconds"
        return config.steps or max(int(config.epochs * len(self.data) / config.batch_size), 1), "steps"

    @property
    def spent(self) -> float:
        """What is done of the budget, in its unit."""
        return self.progress.seconds if self.config.minutes else self.progress.step

    def _rate(self, step: int) -> float:
        """The factor of the learning rate after `step` steps, or at this time: linear warm-up and linear decay."""
        total, _ = self.budget
        done = self.progress.seconds if self.config.minutes else step
        warmup = int(self.config.warmup_ratio * total)
        return done / warmup if done < warmup else linear_decay(done, warmup, total)

    @property
    def finished(self) -> bool:
        """Whether the budget is spent, or `patience` validations in a row had no lower loss (`Objective.selects`)."""
        patience = self.config.patience
        return super().finished or 0 < patience <= self.progress.evaluations_since_best

    @property
    def is_main(self) -> bool:
        """Whether this process, of those that train together, writes the files."""
        return bool(self.accelerator.is_main_process)

    def steps(self) -> Generator[Step]:
        """Train the steps that are left."""
        self.model.train()  # a network from a folder is loaded to be evaluated
        means = MeanMetrics()
        start, before = time.monotonic(), self.progress.seconds
        with closing(prefetch(self._remaining_batches())) as batches:
            while not self.finished:
                means.update(self._step(*next(batches)))
                self.progress.seconds = before + time.monotonic() - start
                last = self.spent >= self.budget[0]
                if self.progress.step % LOGGING_STEPS == 0 or last:
                    self.metrics |= self._write(TRAIN, means.compute())
                if self.progress.step % self.config.eval_steps == 0 or last:
                    self.metrics |= self._write(VALIDATION, self._validate())
                yield Step(self._status())

    def _status(self) -> str:
        """Where it trains, and the latest metrics."""
        n, device = self.accelerator.num_processes, self.accelerator.device.type
        shown = [f"{name.replace('_', ' ')} {self.metrics[name]:.4f}" for name in SHOWN if name in self.metrics]
        return ", ".join([f"{n} x {device}" if n > 1 else device, *shown])

    def any_process(self, flag: bool) -> bool:
        """Whether `flag` is true in any of the processes that train together.

        They agree on it every LOGGING_STEPS steps only; in between it is false in all of them.
        """
        if self.accelerator.num_processes == 1:
            return flag
        if self.progress.step % LOGGING_STEPS:
            return False
        flags = torch.tensor(float(flag), device=self.accelerator.device)
        return bool(self.accelerator.reduce(flags) > 0)

    def _remaining_batches(self) -> Iterator[tuple[Batch, np.random.Generator]]:
        """This process's samples of each batch from the present step on, and the random numbers of its step.

        All processes have a part of the same batch, so sequences of similar length: none waits long for another.
        """
        config, n, rank = self.config, self.accelerator.num_processes, self.accelerator.process_index
        epochs = (self.data.batches(config.batch_size, config.seed, epoch) for epoch in count())
        batches = enumerate(chain.from_iterable(epochs))
        for step, batch in islice(batches, self.progress.step, None):
            random = np.random.default_rng((config.seed, step, rank))
            indices = batch[rank::n]
            variants = random.integers(N_VARIANTS, size=len(indices)) if config.augment else None
            yield self.data.batch(indices, variants), random

    def _step(self, batch: Batch, random: np.random.Generator) -> dict[str, torch.Tensor]:
        """Train on a batch; returns its metrics."""
        loss = self._loss(batch, random)
        self.accelerator.backward(loss.loss)
        self.accelerator.clip_grad_norm_(self.model.parameters(), self.config.max_grad_norm)
        self.optimizer.step()
        self.scheduler.step()
        self.optimizer.zero_grad()
        self.progress.step += 1
        return loss.metrics

    def _loss(self, batch: Batch, random: np.random.Generator) -> Loss:
        with self.accelerator.autocast():  # for networks other than the prepared one, such as Improvement's reference
            return self.objective.loss(self.model, batch, random, self.accelerator.device)

    def _validate(self) -> dict[str, float]:
        """The validation metrics; saves the network if the loss that selects is the lowest so far."""
        means = MeanMetrics()
        self.model.eval()
        with torch.inference_mode():
            for number, batch in enumerate(self._validation_batches()):
                means.update(self._loss(batch, np.random.default_rng(number)).metrics)
        self.model.train()
        metrics = means.compute()
        self.progress.evaluations_since_best += 1
        if (loss := metrics[self.objective.selects]) < self.progress.best_loss:
            self.progress.best_loss, self.progress.best_step = loss, self.progress.step
            self.progress.evaluations_since_best = 0
            self._save_network()
        return metrics

    def _validation_batches(self) -> Iterator[Batch]:
        batches = self.validation.batches(VALIDATION_BATCH_SIZE, seed=0, epoch=0)
        return map(self.validation.batch, islice(batches, VALIDATION_SAMPLES // VALIDATION_BATCH_SIZE))

    def _write(self, split: str, metrics: dict[str, float]) -> dict[str, float]:
        """Write metrics; returns them under the names of their columns."""
        columns = {f"{split}_{name}": value for name, value in metrics.items()}
        if self.writer is not None:
            self.writer.write(self.progress, float(self.scheduler.get_last_lr()[0]), columns)
        return columns

    def _save_network(self) -> None:
        if self.is_main:
            save_network(self.accelerator.unwrap_model(self.model), self.folder / "model")

    @property
    def _checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    @property
    def _old_checkpoint(self) -> Path:
        return self.folder / "checkpoint.old"

    def _load_checkpoint(self) -> None:
        """Resume from the checkpoint, if there is one. Raises ValueError if it cannot be read.

        The learning rates are those of the optimizer's state, and the scheduler goes on from the step: accelerate would
        load its state without `weights_only`, so that a checkpoint of somebody else could run code.
        """
        if self.is_main and self._old_checkpoint.exists():  # saving was interrupted
            if self._checkpoint.exists():
                shutil.rmtree(self._old_checkpoint)
            else:
                self._old_checkpoint.rename(self._checkpoint)
        self.accelerator.wait_for_everyone()
        if self._checkpoint.exists():
            with reading(self._checkpoint):
                self.accelerator.load_state(str(self._checkpoint))
                self.progress = TrainingProgress(**json.loads((self._checkpoint / "progress.json").read_text()))
            self.scheduler.last_epoch = self.saved_step = self.progress.step

    def save(self) -> None:
        """Write a checkpoint, and a network to play with if there is none yet."""
        if not (self.folder / "model").exists():
            self._save_network()
        new = self.folder / "checkpoint.new"
        self.accelerator.save_state(str(new))
        self.accelerator.wait_for_everyone()  # each process writes its random state there
        if self.is_main:
            (new / "progress.json").write_text(json.dumps(asdict(self.progress)))
            (new / WEIGHTS).chmod((new / "progress.json").stat().st_mode)  # see `save_network`
            if self._checkpoint.exists():
                self._checkpoint.rename(self._old_checkpoint)
            new.rename(self._checkpoint)
            shutil.rmtree(self._old_checkpoint, ignore_errors=True)
        self.saved_step = self.progress.step
        self.accelerator.wait_for_everyone()


def prefetch(items: Iterator[T]) -> Generator[T]:
    """The items of an infinite iterator; a thread runs it some items ahead."""
    with ThreadPoolExecutor(1) as thread:
        ahead = deque(thread.submit(next, items) for _ in range(PREFETCHED))
        while True:
            ahead.append(thread.submit(next, items))
            yield ahead.popleft().result()
