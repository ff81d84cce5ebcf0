"""The tables as text: at any width and in any encoding."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from arena.bot_games import N_COUNTS, ROUNDS, SCORE, WINS
from arena.columns import COMPARISON, PLAY, RESULTS
from arena.report import print_report
from arena.results import Results, Speed
from arena.schedule import RunSettings
from arena.stopping import Sprt
from tests.support.console_output import printed

BOTS = ["rule", "efficiency", "a-bot-with-a-long-name#2"]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """Random results of a thousand walls."""
    settings = RunSettings(tuple(BOTS), 3000, 7, "tenhou", "east")
    results = Results(settings, BOTS)
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 5, (1000, 3, 3, N_COUNTS), dtype=np.int32)
    counts[..., ROUNDS] = 10
    counts[..., WINS] = 0
    counts[0, 0, 0, WINS] = 1
    counts[..., SCORE] = rng.integers(-20_000, 90_000, (1000, 3, 3))
    results._counts[:] = counts
    results._finished[:] = True
    identity = {"sources": [], "bot_files": ""}
    return results.document(identity, Speed(3000, 10.0, 300.0, 40_000.0, 2))


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_nothing_is_cut_at_any_width(document: dict[str, Any], width: int) -> None:
    text = printed(print_report, document, width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    words = text.split()
    cells = [statistic.cell(row) for row in document["bots"] for statistic in (*RESULTS, *PLAY)]
    cells += [statistic.cell(row) for row in document["comparisons"] for statistic in COMPARISON]
    assert not [cell for cell in cells if not set(cell.split()) <= set(words)]


def test_one_wall_is_one_wall(document: dict[str, Any]) -> None:
    bots = [bot | {"games": 3} for bot in document["bots"]]
    assert "Results: 1 wall in 3 rotations, tenhou" in printed(print_report, document | {"bots": bots}, 80)
    assert "Results: 1,000 walls in 3 rotations, tenhou" in printed(print_report, document, 80)


def test_at_80_columns_the_results_of_usual_bots_are_one_table(document: dict[str, Any]) -> None:
    usual = document | {"bots": [bot | {"bot": f"efficiency#{n}"} for n, bot in enumerate(document["bots"])]}
    assert printed(print_report, usual, 80).count("efficiency#0") == 2  # results and play


def test_output_whose_encoding_lacks_the_characters_is_plain(document: dict[str, Any]) -> None:
    text = printed(print_report, document, 100, "ascii")
    assert "?" not in text
    assert text.count(" +/- ") == 10  # placement, final points, difference, and what it means
    assert " ---" in text
    latin = printed(print_report, document, 100, "latin-1")  # has ± but no box characters
    assert latin == text
    assert "─" in printed(print_report, document, 100)


def test_what_is_rare_is_not_shown_as_impossible(document: dict[str, Any]) -> None:
    assert "<0.1" in printed(print_report, document, 100)


def test_texts_of_a_strangers_file_do_not_steer_the_terminal(document: dict[str, Any]) -> None:
    evil = "\x1b[2J\x1b]0;x\x07\x9b1m"
    bots = [row | {"bot": row["bot"] + evil} for row in document["bots"]]
    fault = {"bot": bots[0]["bot"], "wall": 0, "rotation": 0, "seat": 0, "what": f"no reply{evil}"}
    text = printed(print_report, document | {"bots": bots, "faults": [fault]}, 120)
    assert "no reply?[2J?]0;x??1m" in text
    assert text.replace("\n", "").isprintable()


def test_intervals_after_a_sequential_test_are_not_called_those_of_the_run(document: dict[str, Any]) -> None:
    assert "of a fixed number" not in printed(print_report, document, 120)
    settings = document["settings"] | {"stop": asdict(Sprt(0.0, -0.1))}
    stop = {"outcome": "accepted H1", "games": 3000, "status": "llr 3.0"}
    text = printed(print_report, document | {"settings": settings, "stop": stop}, 120)
    assert "± is the 95 % interval of a fixed number of games" in text
