"""The benchmark runs: both sides of each comparison do the work that they are timed at."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from benchmarks.engine import cli as benchmark
from benchmarks.engine import workloads
from benchmarks.timing import rate


def test_both_sides_of_a_comparison_do_the_same_work() -> None:
    engine, riichienv = workloads.shanten_sides(100)
    assert engine() == riichienv() > 0
    hands = workloads.winning_hands(20)
    for scoring in (workloads.engine_scoring, workloads.mahjong_scoring, workloads.riichienv_scoring):
        assert scoring(hands)() == 20
    assert workloads.play_batch(2) > 200
    assert workloads.play_game() > 100
    assert workloads.riichienv_play_game() > 100


@pytest.mark.long
def test_the_report_has_every_comparison_and_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benchmark, "ROUNDS", 1)
    monkeypatch.setattr(benchmark, "rate", partial(rate, at_least=0.001))
    monkeypatch.setattr(benchmark, "compare_cores", lambda: benchmark.Comparison("cores", "games", 3, "one", 2, 2))
    monkeypatch.setattr(benchmark, "seconds_to_first_step", lambda cache: 0.5)
    assert benchmark.main(["--json", str(tmp_path / "speed.json")]) == 0
    written = json.loads((tmp_path / "speed.json").read_text())
    assert [row["ratio"] > 0 for row in written["comparisons"]] == [True] * 6
    printed = capsys.readouterr().out
    assert [row["name"] for row in written["measurements"] if row["name"][:20] not in printed] == []
