"""The figures of a run, as CSV and for TensorBoard."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from torch import Tensor
from torch.utils.tensorboard import SummaryWriter

from agents.bert.training.config import Progress


class Means:
    """Means of figures over steps."""

    def __init__(self) -> None:
        self._sums: dict[str, Tensor] = {}
        self._n = 0

    def add(self, figures: dict[str, Tensor]) -> None:
        """The figures of a step."""
        self._sums = {name: value + self._sums.get(name, 0) for name, value in figures.items()}
        self._n += 1

    def take(self) -> dict[str, float]:
        """The means of all added since the last time."""
        means = {name: float(value) / self._n for name, value in self._sums.items()}
        self._sums, self._n = {}, 0
        return means


class Writer:
    """Writes figures to ``metrics.csv`` and ``tensorboard/`` of a folder."""

    def __init__(self, folder: Path, names: Sequence[str], step: int) -> None:
        """Go on from `step`: what was written of later ones is taken back."""
        split = [f"{split}_{name}" for split in ("train", "held_out") for name in names]
        self._columns = ["step", "seconds", "rate", *split]
        self._path = folder / "metrics.csv"
        rows = []
        if self._path.exists():
            with self._path.open(newline="") as file:
                rows = [row for row in csv.DictReader(file) if int(row["step"]) <= step]
        with self._path.open("w", newline="") as file:
            writer = csv.DictWriter(file, self._columns)
            writer.writeheader()
            writer.writerows(rows)
        self._board = SummaryWriter(folder / "tensorboard", purge_step=step + 1)

    def write(self, progress: Progress, rate: float, figures: dict[str, float]) -> None:
        """Figures of this step."""
        row = {"step": progress.step, "seconds": round(progress.seconds, 1), "rate": f"{rate:.3g}"}
        with self._path.open("a", newline="") as file:
            csv.DictWriter(file, self._columns).writerow(row | {name: f"{figures[name]:.5f}" for name in figures})
        for name, value in figures.items():
            self._board.add_scalar(
                name.replace("_", "/", 1) if name.startswith("train") else name, value, progress.step
            )
        self._board.flush()
