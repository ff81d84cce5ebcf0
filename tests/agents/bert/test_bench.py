"""The benchmark runs and compares all methods."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path

import pytest

from benchmarks.bert import cli as bench
from benchmarks.timing import rate


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "WALLS", range(1))
    monkeypatch.setattr(bench, "ARENA_WALLS", range(1))
    monkeypatch.setattr(bench, "ROUNDS", 1)
    monkeypatch.setattr(bench, "rate", partial(rate, at_least=0.001))
    monkeypatch.setattr(bench, "Console", partial(bench.Console, width=150))


@pytest.mark.slow
def test_all_methods_are_timed_and_choose_alike(network: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    assert bench.main(["--model", str(network)]) == 0
    printed = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if line.startswith("│")]
    assert len(rows) == 8
    same = {name: share for name, _, _, _, share in rows}
    exact = [name for name in same if not name.startswith("bot") and "bfloat16" not in name and "8 bits" not in name]
    assert len(exact) == 4
    assert {same[name] for name in exact} == {"100.00%"}
    assert all(float(share.rstrip("%")) > 80 for share in same.values())
    assert float(rows[0][2]) == float(rows[1][3]) == 1
    assert all(int(speed.replace(",", "")) > 0 for _, speed, *_ in rows)
    assert "2 layers, 32 wide; cpu, one thread" in printed
    assert re.search(r"in games against itself: [\d,]+ decisions/s, by ONNX Runtime [\d,]+: \d+\.\d\d times", printed)


def test_without_torch_the_other_methods_are_timed(
    network: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "agents.bert.model", raising=False)
    monkeypatch.setattr(bench, "BUNDLED", network)
    assert bench.main([]) == 0
    assert sum(line.startswith("│") for line in capsys.readouterr().out.splitlines()) == 4
