"""The metrics of a run: kept when it goes on, and read only if they are its own."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training needs nukidora[train]")

from agents.bert.training.config import TrainingProgress
from agents.bert.training.metrics import MetricsWriter

HEADER = "step,seconds,learning_rate,train_loss,validation_loss\n"
ROWS = "50,1.0,0.001,0.5,\n100,2.0,0.0005,0.25,0.3\n"


def test_rows_after_the_step_are_removed_and_new_ones_follow(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text(HEADER + ROWS)
    writer = MetricsWriter(tmp_path, ("loss",), 50)
    writer.write(TrainingProgress(step=100, seconds=3.0), 0.0005, {"train_loss": 0.125})
    assert path.read_text().replace("\r", "") == HEADER + "50,1.0,0.001,0.5,\n100,3.0,0.0005,0.12500,\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("number,loss,held_out_loss,agreement\n0,1,1,0.5\n", "it has other columns"),
        (HEADER.replace("train_loss", "train_error") + ROWS, "it has other columns"),
        (HEADER + ROWS + "150,3.0,0.0", "a row is cut off"),
        (HEADER + "x" + ROWS, "invalid literal"),
    ],
)
def test_a_file_that_the_run_did_not_write_is_refused_and_kept(text: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"metrics\.csv: damaged, or of another version \({what}"):
        MetricsWriter(tmp_path, ("loss",), 100)
    assert path.read_text() == text


def test_columns_that_came_later_are_added(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    for text, kept in (("", ""), ("step,train_loss\n50,0.5\n", "50,,,0.5,\n")):
        path.write_text(text)
        MetricsWriter(tmp_path, ("loss",), 100)
        assert path.read_text().replace("\r", "") == HEADER + kept
