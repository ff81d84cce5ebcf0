"""``python -m arena ladder``: which bots meet, the standings, and the page."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ladder import cli
from arena.ladder.schedule import LadderSettings
from arena.schedule import ROTATIONS
from arena.series import Series
from engine.common.program import BAD_ARGUMENTS, INTERRUPTED, OK

BOTS = ("random", "tsumogiri", "efficiency", "rule")


def ladder(*bots: str, games: int = 30, slow: frozenset[str] = frozenset(), slow_games: int = 6) -> LadderSettings:
    return LadderSettings(bots or BOTS, games, slow, slow_games, seed=1, rules="tenhou", length="east")


@given(
    n_bots=st.integers(3, 9),
    n_slow=st.integers(0, 3),
    games=st.integers(1, 3000),
    slow_games=st.integers(1, 300),
)
@settings(deadline=None, max_examples=50)
def test_every_two_bots_meet_often_enough_on_the_same_walls(
    n_bots: int, n_slow: int, games: int, slow_games: int
) -> None:
    bots = tuple(f"bot{number}" for number in range(n_bots + n_slow))
    slow = frozenset(bots[n_bots:])
    runs = list(ladder(*bots, games=games, slow=slow, slow_games=slow_games).meetings())
    met: Counter[tuple[str, str]] = Counter()
    for run in runs:
        assert run.games % ROTATIONS == 0
        met.update(dict.fromkeys(combinations(run.bots, 2), run.games))
    assert set(met) == set(combinations(bots, 2))
    for pair, n in met.items():
        target = slow_games if slow.intersection(pair) else games
        assert n >= target
    assert len({run.seed for run in runs}) == 1
    fast = [n for pair, n in met.items() if not slow.intersection(pair)]
    most = games + ROTATIONS * (n_bots - 2) + n_slow * (slow_games + ROTATIONS)
    assert max(fast) <= most


@pytest.mark.parametrize(
    ("bots", "slow", "message"),
    [
        (("rule", "random", "rule", "efficiency"), frozenset(), "--bots: rule is there twice"),
        (("rule", "random", "efficiency"), frozenset({"bert"}), "--slow: bert is none of --bots"),
        (("rule", "random", "efficiency"), frozenset({"rule"}), "--bots: a ladder needs three bots that are not slow"),
    ],
)
def test_settings_that_cannot_be_played(bots: tuple[str, ...], slow: frozenset[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ladder(*bots, slow=slow)


def run(tmp_path: Path, *more: str) -> int:
    arguments = ["--bots", ",".join(BOTS), "--games", "12", "--length", "east", "--jobs", "1", "--seed", "3"]
    folders = ["--results", str(tmp_path / "results"), "-o", str(tmp_path / "ladder.md")]
    return cli.main([*arguments, *folders, *more])


def table(page: str, heading: str) -> dict[str, list[str]]:
    """The rows of the first table after a heading, by bot."""
    lines = page.split(heading, 1)[1].split("\n\n|", 1)[1].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {next(cell for cell in row if cell.startswith("`")).strip("`"): row for row in rows}


@pytest.mark.slow
def test_the_page_ranks_the_bots_and_a_second_run_plays_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path) == OK
    page = (tmp_path / "ladder.md").read_text()
    standings = table(page, "# The ladder")
    assert list(standings) == ["rule", "efficiency", *list(standings)[2:]]
    assert set(standings) == set(BOTS)
    ratings = [float(row[2].split(" ± ")[0]) for row in standings.values()]
    assert ratings == sorted(ratings, reverse=True)
    assert abs(sum(ratings)) <= len(BOTS)  # the mean is 0, but for rounding
    assert all(row[7] == "18" for row in standings.values())  # three runs of two walls in three rotations
    pairs = table(page, "## Every pair")
    for (number, bot), (other_number, other) in combinations(enumerate(standings), 2):
        shares = float(pairs[bot][1 + other_number]) + float(pairs[other][1 + number])
        assert shares == pytest.approx(100, abs=0.11)
    assert float(table(page, "## Play")["random"][1]) < 5.0  # win %
    assert "- `tsumogiri`: discards what it draws" in page

    assert run(tmp_path) == OK
    assert "24 games" not in capsys.readouterr().err
    again = (tmp_path / "ladder.md").read_text()
    assert table(again, "## Every pair") == pairs


@pytest.mark.slow
def test_after_ctrl_c_finished_games_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    handle = Series._handle

    def interrupted(series: Series, number: int, update: Any, progress: Any) -> None:
        handle(series, number, update, progress)
        if series.games == 12:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Series, "_handle", interrupted)
        assert run(tmp_path) == INTERRUPTED
    assert "arena ladder: interrupted; the same command resumes" in capsys.readouterr().err.replace("\n", " ")
    assert not (tmp_path / "ladder.md").exists()
    kept = {file.name: file.read_bytes() for file in (tmp_path / "results").iterdir()}
    assert run(tmp_path) == OK
    for name, content in kept.items():
        assert (tmp_path / "results" / name).read_bytes().startswith(content)


def test_the_games_of_another_ladder_are_not_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Series(list(ladder(games=6).meetings()), 1, tmp_path / "results")
    with pytest.raises(SystemExit) as stopped:
        run(tmp_path)
    assert stopped.value.code == BAD_ARGUMENTS
    said = capsys.readouterr().err.splitlines()[-1]
    assert "belongs to a run with different" in said
    assert "name another folder for --results" in said


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--bots", "rule,random,nobody"], "unknown bot 'nobody'"),
        (["--bots", "rule,random"], "a ladder needs three bots that are not slow, not 2"),
        (["--results", "/dev/null/folder"], "--results /dev/null/folder: cannot write"),
    ],
)
def test_bad_arguments_are_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(tmp_path, *more)
    assert stopped.value.code == BAD_ARGUMENTS
    assert message in capsys.readouterr().err.splitlines()[-1]
