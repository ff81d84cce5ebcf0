"""A training run in a folder: steps, evaluations, figures, checkpoints, and going on where it was left.

The folder holds

``settings.json``  what was asked for
``checkpoint/``    all that is needed to go on: weights, optimizer, learning rate, progress
``model/``         the network that did best on games held out, loadable by ``from_pretrained``
``metrics.csv``    every figure; ``tensorboard/`` has the same

Which positions a step learns from, and all its chance, follow from the seed and the step's number: a run that was
interrupted ends like one that was not.
"""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict
from itertools import count, islice
from pathlib import Path
from types import FrameType, TracebackType

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.optim.lr_scheduler import LambdaLR
from transformers import get_linear_schedule_with_warmup

from agents.bert.symmetries import N_VARIANTS
from agents.bert.training.config import Progress, Settings
from agents.bert.training.data.dataset import Batch, Dataset
from agents.bert.training.memory import keep_memory
from agents.bert.training.metrics import Means, Writer
from agents.bert.training.objectives import Loss, Task

REPORTED_EVERY = 50  # steps whose figures are put together
SAVED_EVERY = 300.0  # seconds between checkpoints
HELD_OUT = 20_000  # positions of games held out that an evaluation looks at
HELD_OUT_BATCH = 256


class Interruptions:
    """Within the block the first Ctrl-C or SIGTERM is only noted, so that no step is left half done."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> Interruptions:
        self._before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


class Run:
    """Trains what `make_task` makes of `settings`, in `folder`; `progress` tells how far it is."""

    def __init__(self, settings: Settings, make_task: Callable[[Settings], Task], folder: Path) -> None:
        """Begin, or go on from the folder's checkpoint. Raises ValueError for data or networks that are not there."""
        self.settings, self.folder = settings, folder
        folder.mkdir(parents=True, exist_ok=True)
        keep_memory()
        bf16 = torch.cuda.is_available() or torch.cpu._is_avx512_bf16_supported()
        self.accelerator = Accelerator(mixed_precision="bf16" if bf16 else "no")
        self.data, self.held_out = Dataset(Path(settings.data)), Dataset(Path(settings.data), held_out=True)
        self.n_steps = settings.steps or max(int(settings.epochs * len(self.data) / settings.batch), 1)
        self.progress = Progress()
        set_seed(settings.seed)
        self.task = make_task(settings)
        self.optimizer = torch.optim.AdamW(
            self.task.model.parameters(), lr=settings.rate, weight_decay=settings.decay, fused=True
        )
        warm_up = int(settings.warm_up * self.n_steps)
        self.schedule: LambdaLR = get_linear_schedule_with_warmup(  # type: ignore[no-untyped-call]
            self.optimizer, warm_up, self.n_steps
        )
        self.model, self.optimizer = self.accelerator.prepare(self.task.model, self.optimizer)
        self.accelerator.register_for_checkpointing(self.schedule)
        if self.is_main and self._former.exists():  # the last one was cut off while it took this one's place
            shutil.rmtree(self._former) if self._checkpoint.exists() else self._former.rename(self._checkpoint)
        self.accelerator.wait_for_everyone()
        if self._checkpoint.exists():
            self.accelerator.load_state(str(self._checkpoint))
            self.progress = Progress(**json.loads((self._checkpoint / "progress.json").read_text()))
        self.writer = Writer(folder, self.task.figures, self.progress.step) if self.is_main else None

    @property
    def over(self) -> bool:
        """Whether all steps are done, or no better network has come for long enough."""
        patience = self.settings.patience
        return self.progress.step >= self.n_steps or 0 < patience <= self.progress.waited

    @property
    def is_main(self) -> bool:
        """Whether this is the process that writes, of those that train together."""
        return bool(self.accelerator.is_main_process)

    @property
    def _checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    @property
    def _former(self) -> Path:
        return self.folder / "checkpoint.former"

    def train(self) -> Generator[dict[str, float]]:
        """Train to the end, yielding the latest figures after every step. Leaving early leaves a checkpoint, too."""
        means = Means()
        figures: dict[str, float] = {}
        saved = began = time.monotonic()
        before = self.progress.seconds
        n, rank = self.accelerator.num_processes, self.accelerator.process_index
        batches = islice(self._places(), self.progress.step * n + rank, None, n)
        try:
            while not self.over:
                means.add(self._step(next(batches)))
                self.progress.seconds = before + time.monotonic() - began
                at_end = self.progress.step == self.n_steps
                if self.progress.step % REPORTED_EVERY == 0 or at_end:
                    figures |= self._write("train", means.take())
                if self.progress.step % self.settings.every == 0 or at_end:
                    figures |= self._write("held_out", self._evaluate())
                if self.any_of_us(time.monotonic() - saved > SAVED_EVERY):
                    self.save()
                    saved = time.monotonic()
                yield figures
        finally:
            self.save()

    def any_of_us(self, asked: bool) -> bool:
        """Whether `asked` is true in any of the processes that train together; they look at times, all at the same."""
        if self.accelerator.num_processes == 1:
            return asked
        if self.progress.step % REPORTED_EVERY:
            return False
        flag = torch.tensor(float(asked), device=self.accelerator.device)
        return bool(self.accelerator.reduce(flag) > 0)

    def _places(self) -> Iterator[np.ndarray]:
        size = max(self.settings.batch // self.accelerator.num_processes, 1)
        for epoch in count():
            yield from self.data.batches(size, self.settings.seed, epoch)

    def _step(self, places: np.ndarray) -> dict[str, torch.Tensor]:
        number = (self.settings.seed, self.progress.step, self.accelerator.process_index)
        random = np.random.default_rng(number)
        variants = random.integers(N_VARIANTS, size=len(places)) if self.settings.augment else None
        loss = self._loss(self.data.batch(places, variants), random)
        self.accelerator.backward(loss.loss)
        self.accelerator.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad()
        self.progress.step += 1
        return loss.figures

    def _loss(self, batch: Batch, random: np.random.Generator) -> Loss:
        with self.accelerator.autocast():  # for what a task runs beside the model, which alone was prepared
            return self.task.loss(self.model, batch, random, self.accelerator.device)

    def _evaluate(self) -> dict[str, float]:
        """The figures on games held out; the best network so far is kept."""
        means = Means()
        self.model.eval()
        with torch.inference_mode():
            for number, batch in enumerate(self._held_out_batches()):
                random = np.random.default_rng(number)
                means.add(self._loss(batch, random).figures)
        self.model.train()
        figures = means.take()
        self.progress.waited += 1
        if figures["loss"] < self.progress.best:
            self.progress.best, self.progress.best_step, self.progress.waited = figures["loss"], self.progress.step, 0
            self._keep()
        return figures

    def _held_out_batches(self) -> Iterator[Batch]:
        places = self.held_out.batches(HELD_OUT_BATCH, seed=0, epoch=0)
        return map(self.held_out.batch, islice(places, HELD_OUT // HELD_OUT_BATCH))

    def _write(self, split: str, figures: dict[str, float]) -> dict[str, float]:
        named = {f"{split}_{name}": value for name, value in figures.items()}
        if self.writer is not None:
            self.writer.write(self.progress, float(self.schedule.get_last_lr()[0]), named)
        return named

    def _keep(self) -> None:
        """Save the network as it is now for use."""
        if self.is_main:
            self.accelerator.unwrap_model(self.model).save_pretrained(self.folder / "model")

    def save(self) -> None:
        """Save all that is needed to go on, and a network to use if there is none yet."""
        if not (self.folder / "model").exists():
            self._keep()
        new = self.folder / "checkpoint.new"
        self.accelerator.save_state(str(new))
        self.accelerator.wait_for_everyone()  # each process writes its random state there
        if self.is_main:
            (new / "progress.json").write_text(json.dumps(asdict(self.progress)))
            if self._checkpoint.exists():
                self._checkpoint.rename(self._former)
            new.rename(self._checkpoint)
            shutil.rmtree(self._former, ignore_errors=True)
        self.accelerator.wait_for_everyone()
