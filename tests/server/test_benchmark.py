"""The benchmark of the server runs, over both transports."""

from __future__ import annotations

import pytest

from benchmarks.server import cli as benchmark


@pytest.mark.long
def test_a_line_is_printed_for_each_load(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(benchmark, "REPEATS", 1)
    assert benchmark.main(["--games", "1,3", "--seconds", "1"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    rows = {tuple(line[:2]): line[2:] for line in lines if line and line[0] in ("tcp", "ws")}
    assert rows.keys() == {("tcp", "1"), ("tcp", "3"), ("ws", "1"), ("ws", "3")}
    for decisions, _games, messages, echo, *_ in rows.values():
        assert all(int(number.replace(",", "")) > 100 for number in (decisions, messages, echo))
