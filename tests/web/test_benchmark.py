"""The benchmark of the web pages runs."""

from __future__ import annotations

import pytest

from benchmarks.web import browser
from benchmarks.web import cli as benchmark


@pytest.mark.long
def test_all_lines_are_printed_and_the_sizes_keep_their_budget(capsys: pytest.CaptureFixture[str]) -> None:
    if browser.chromium() is None:
        pytest.skip("Chromium is missing: apt-get install chromium-headless-shell")
    assert benchmark.main(["--games", "2", "--spectators", "20", "--seconds", "1", "--repeats", "1"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    sizes = [float(line[-4]) for line in lines if line[:1] == ["page"]]
    assert len(sizes) == len(benchmark.PAGES)
    assert all(0 < size < 250 for size in sizes)
    (sent,) = [float(line[-2]) for line in lines if line[:2] == ["sent", "to"]]
    assert sent > 0
