"""The metrics of a run, as CSV and for TensorBoard."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from torch import Tensor
from torch.utils.tensorboard import SummaryWriter

from agents.bert.training.config import TrainingProgress
from agents.training.checkpoint import reading

METRICS_FILE = "metrics.csv"
TRAIN, VALIDATION = "train", "validation"  # prefixes of the columns


class MeanMetrics:
    """The means of metrics over steps."""

    def __init__(self) -> None:
        self._sums: dict[str, Tensor] = {}
        self._n = 0

    def update(self, metrics: dict[str, Tensor]) -> None:
        """Add the metrics of a step."""
        self._sums = {name: value + self._sums.get(name, 0) for name, value in metrics.items()}
        self._n += 1

    def compute(self) -> dict[str, float]:
        """The means of all steps since the last call."""
        means = {name: float(value) / self._n for name, value in self._sums.items()}
        self._sums, self._n = {}, 0
        return means


class MetricsWriter:
    """Writes metrics to ``metrics.csv`` and ``tensorboard/`` of a run folder."""

    def __init__(self, folder: Path, names: Sequence[str], step: int) -> None:
        """Continue after `step`: rows of later steps are removed. Raises ValueError if they cannot be read."""
        columns = [f"{split}_{name}" for split in (TRAIN, VALIDATION) for name in names]
        self._columns = ["step", "seconds", "learning_rate", *columns]
        self._path = folder / METRICS_FILE
        rows = self._rows_until(step) if self._path.exists() else []
        with self._path.open("w", newline="") as file:
            writer = csv.DictWriter(file, self._columns)
            writer.writeheader()
            writer.writerows(rows)
        self._board = SummaryWriter(folder / "tensorboard", purge_step=step + 1)

    def _rows_until(self, step: int) -> list[dict[str, str]]:
        with reading(self._path), self._path.open(newline="") as file:
            reader = csv.DictReader(file)
            names = reader.fieldnames or self._columns  # an empty file has none
            if "step" not in names or not set(names) <= set(self._columns):
                raise ValueError("it has other columns")
            rows = list(reader)
            if any(None in row.values() for row in rows):
                raise ValueError("a row is cut off")
            return [row for row in rows if int(row["step"]) <= step]

    def write(self, progress: TrainingProgress, learning_rate: float, metrics: dict[str, float]) -> None:
        """Write metrics of the current step, by column name."""
        row = {
            "step": progress.step, "seconds": round(progress.seconds, 1), "learning_rate": f"{learning_rate:.3g}"
        }  # fmt: skip
        with self._path.open("a", newline="") as file:
            csv.DictWriter(file, self._columns).writerow(row | {name: f"{metrics[name]:.5f}" for name in metrics})
        for name, value in metrics.items():
            self._board.add_scalar(name.replace("_", "/", 1), value, progress.step)
        self._board.flush()
