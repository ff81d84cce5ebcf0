"""The tables of all statistics: as text, in the help, on the page of the docs; and the times of decisions."""

from __future__ import annotations

import re
import runpy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from arena.bot_games import COUNTS
from arena.cli import main
from arena.columns import COMPARISON, PLAY, RESULTS
from arena.statistic import Statistic
from arena.tallies import page, times
from arena.tallies.columns import DETAILS, GROUPS, YAKUMAN, YAKUS
from arena.tallies.counts import HISTOGRAMS, INDEX
from arena.tallies.report import print_statistics
from arena.tallies.times import N_TIMES, TIMES, DecisionTimes, Stopwatch, bin_of, decision_times
from nukidora import play
from tests.support.arena_runs import REPOSITORY
from tests.support.console_output import printed

PAGE = REPOSITORY / "docs" / "statistics.md"
EVERY: tuple[Statistic[Any], ...] = (*RESULTS, *PLAY, *COMPARISON, *DETAILS, *TIMES)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The document of a short match."""
    return play(["efficiency", "rule", "random"], games=30, seed=2).document


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_nothing_is_cut_at_any_width(document: dict[str, Any], width: int) -> None:
    text = printed(print_statistics, document, width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    words = set(text.split())
    cells = [each.cell(row) for row in document["bots"] for each in DETAILS if each not in (*YAKUS, *YAKUMAN)]
    assert not [cell for cell in cells if cell not in words]
    assert all(title in " ".join(text.split()) for title in GROUPS if title != "Yakuman")


def test_a_console_that_lacks_the_characters_gets_plain_ones(document: dict[str, Any]) -> None:
    assert " ---" in printed(print_statistics, document, 80, "ascii")


def test_yaku_that_nobody_won_with_are_left_out(document: dict[str, Any]) -> None:
    text = printed(print_statistics, document, 80)
    assert "riichi, %" in text
    assert "sanshoku, %" not in text  # it needs 2m-8m


def test_keys_are_unique_and_everything_is_said_of_each_statistic() -> None:
    keys = [each.key for each in EVERY]
    assert len(set(keys)) == len(keys)
    assert [each.key for each in EVERY if not (each.help and each.formula)] == []
    names = {"games", *COUNTS, *INDEX, *HISTOGRAMS}
    formulas = " ".join(re.findall(r"`([^`]*)`", " ".join(each.formula for each in DETAILS)))
    assert set(re.findall(r"[a-z_0-9.]+", formulas)) <= names


def test_every_statistic_is_in_the_json(document: dict[str, Any]) -> None:
    for row in document["bots"]:
        assert [each.key for each in (*RESULTS, *PLAY, *DETAILS) if each.key not in row] == []
        assert row["distributions"].keys() == HISTOGRAMS.keys()
        for name in ("wins_by_points", "wins_by_turn"):
            assert sum(n for _, n in row["distributions"][name]) == round(row["win_rate"] * row["rounds"])
        mean = sum(value * n for value, n in row["distributions"]["wins_by_points"])
        assert row["win_points"] is None or mean == pytest.approx(
            row["win_points"] * round(row["win_rate"] * row["rounds"])
        )
    times_of_bots = document["speed"]["decision_times"]
    assert [row["bot"] for row in times_of_bots] == [row["bot"] for row in document["bots"]]
    assert all(row[each.key] > 0 for row in times_of_bots for each in TIMES)


def test_the_page_of_the_site_has_every_table() -> None:
    hook = runpy.run_path(str(PAGE.parent / "hooks.py"))["on_page_markdown"]
    text = PAGE.read_text(encoding="utf-8")
    site = hook(text, page=SimpleNamespace(file=SimpleNamespace(src_uri="statistics.md")))
    assert re.findall(r"<!-- (\w+) -->", text) == list(page.TABLES)
    assert "<!--" not in site
    assert [each.key for each in EVERY if f"| `{each.key}` |" not in site] == []
    assert [name for name in COUNTS if f"| `{name}` |" not in site] == []
    assert hook(text, page=SimpleNamespace(file=SimpleNamespace(src_uri="arena.md"))) == text


def test_a_program_defines_every_statistic(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["columns"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    shown = [each for each in EVERY if each not in (*YAKUS, *YAKUMAN)]
    assert [each.key for each in shown if f"{' '.join(each.heading.split())} {each.help}" not in text] == []


def test_decision_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """98 decisions of 1 ms each, asked for two at a time, and two of 10 ms."""
    ticks = iter([0, 2_000_000] * 49 + [0, 10_000_000] * 2)
    monkeypatch.setattr(times, "perf_counter_ns", lambda: next(ticks))
    row = np.zeros(N_TIMES, dtype=np.int64)
    stopwatch = Stopwatch(lambda views: views, row)
    for n in [2] * 49 + [1] * 2:
        assert len(stopwatch(np.zeros(n))) == n
    found = DecisionTimes("a", row)
    assert found.decisions == 100
    assert found.mean == pytest.approx(1.18)
    assert found.p95 == pytest.approx(1, rel=0.05)
    row[bin_of(10_000_000)] += 4  # six of 104
    assert DecisionTimes("a", row).p95 == pytest.approx(10, rel=0.05)


def test_no_decisions_have_no_time() -> None:
    (row,) = decision_times(["a"], np.zeros((1, N_TIMES), dtype=np.int64))
    assert row == {"bot": "a", "decisions": 0, "mean_ms": None, "p95_ms": None}
