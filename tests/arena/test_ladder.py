"""``python -m arena ladder``: the page of a league. Who meets, and how a league stops and goes on: see test_league."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from agents.built_in import BUILT_IN
from arena.bot_games import N_COUNTS
from arena.ladder import cli, running
from arena.ladder.page import page
from arena.leagues.games import LeagueSettings, Meeting
from arena.leagues.league import League, as_text
from arena.leagues.standings import league_of
from engine.common.program import OK

REPOSITORY = Path(__file__).resolve().parents[2]
BOTS = ("random", "tsumogiri", "efficiency", "rule")


def run(tmp_path: Path, *more: str) -> int:
    arguments = ["--bots", ",".join(BOTS), "--games", "48"]
    files = ["--json", str(tmp_path / "ladder.json"), "-o", str(tmp_path / "ladder.md")]
    return cli.main([*arguments, *files, *more])


def table(page: str, heading: str) -> dict[str, list[str]]:
    """The rows of the first table after a heading, by bot."""
    lines = page.split(heading, 1)[1].split("\n\n|", 1)[1].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {next(cell for cell in row if cell.startswith("`")).strip("`"): row for row in rows}


def test_ratings_and_origins_of_built_in_bots_are_those_of_the_ladder() -> None:
    """The lobby shows the ratings, so that no text says which bot is the strongest."""
    page = (REPOSITORY / "docs" / "ladder.md").read_text(encoding="utf-8")
    standings = table(page, "# The ladder")
    on_page = {bot: int(row[2].split(" ± ")[0]) for bot, row in standings.items()}
    assert {name: bot.rating for name, bot in BUILT_IN.items() if bot.rating is not None} == on_page
    for bot in on_page:
        assert f"\n- `{bot}`: {BUILT_IN[bot].origin}\n" in page


@pytest.mark.slow
def test_the_page_ranks_the_bots_and_a_second_run_plays_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUKIDORA_JOBS", "1")
    tmp_path = tmp_path / "[a]"
    tmp_path.mkdir()
    assert run(tmp_path) == OK
    assert f"wrote {tmp_path / 'ladder.md'}\n" in capsys.readouterr().err  # no markup
    page = (tmp_path / "ladder.md").read_text()
    standings = table(page, "# The ladder")
    assert list(standings) == ["rule", "efficiency", *list(standings)[2:]]
    assert set(standings) == set(BOTS)
    ratings = [float(row[2].split(" ± ")[0]) for row in standings.values()]
    assert ratings == sorted(ratings, reverse=True)
    assert abs(sum(ratings)) <= len(BOTS)  # the mean is 0, but for rounding
    assert all(row[7] == "36" for row in standings.values())
    assert all(float(row[8].replace(",", "")) > 100 for row in standings.values())  # decisions/s
    pairs = table(page, "## Every pair")
    for (number, bot), (other_number, other) in combinations(enumerate(standings), 2):
        shares = float(pairs[bot][1 + other_number]) + float(pairs[other][1 + number])
        assert shares == pytest.approx(100, abs=0.11)
    assert float(table(page, "## Play")["random"][1]) < 5.0  # win %
    assert "- `tsumogiri`: discards what it draws" in page

    assert run(tmp_path) == OK
    assert "48 games" in capsys.readouterr().err
    again = (tmp_path / "ladder.md").read_text()
    assert table(again, "## Every pair") == pairs


def played(bots: tuple[str, str, str], faults: Sequence[int] = (0, 0, 0)) -> League:
    """A league of three bots who met in nine games, and failed in so many of them."""
    orders = {wall: np.array([[0, 1, 2], [0, 2, 1], [1, 0, 2]], np.int8) for wall in range(3)}
    meeting = Meeting(bots, orders, np.ones((3, N_COUNTS), np.int64), np.array(faults))
    return league_of(LeagueSettings(1, "tenhou", "east"), bots, [meeting])


def test_bots_that_play_no_more_have_no_speed_on_the_page() -> None:
    text = page(played(("rule", "efficiency", "random")), {}, {"rule": 1234.4, "random": 5.0}, "command", "machine")
    assert {bot: row[8] for bot, row in table(text, "# The ladder").items()} == {
        "rule": "1,234", "efficiency": "–", "random": "5",
    }  # fmt: skip


def test_the_page_has_placements_against_human() -> None:
    against = {"rule": "2.100 ± 0.050", "random": "2.900 ± 0.010"}
    text = page(played(("rule", "human", "random")), against, {"human": 9.0}, "command", "machine")
    assert "| against two `human` | decisions/s |" in text
    assert {bot: row[8:] for bot, row in table(text, "# The ladder").items()} == {
        "rule": ["2.100 ± 0.050", "–"], "human": ["–", "9"], "random": ["2.900 ± 0.010", "–"],
    }  # fmt: skip


@pytest.mark.slow
def test_bots_are_measured_against_human_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it plays; and the results are kept beside the league."""
    monkeypatch.setenv("NUKIDORA_JOBS", "1")
    monkeypatch.setattr(running, "YARDSTICK_GAMES", 6)
    monkeypatch.setattr(running, "SPEED_GAMES", 3)
    arguments = ("--bots", "random,human,tsumogiri", "--games", "3")
    assert run(tmp_path, *arguments) == OK
    placed = {bot: row[8] for bot, row in table((tmp_path / "ladder.md").read_text(), "# The ladder").items()}
    assert placed["human"] == "–"
    assert float(placed["random"].split(" ± ")[0]) > 2.5
    kept = {path.name: path.read_bytes() for path in tmp_path.glob("ladder.*.json")}
    assert set(kept) == {"ladder.random.json", "ladder.tsumogiri.json"}
    assert run(tmp_path, *arguments) == OK
    assert {path.name: path.read_bytes() for path in tmp_path.glob("ladder.*.json")} == kept


def test_a_league_in_which_a_bot_fails_in_every_game_has_a_page() -> None:
    text = page(played(("rule", "exec:bad", "random"), faults=(0, 9, 0)), {}, {}, "command", "")
    assert "every two bots met in at least 0 games" in text


def test_only_a_bot_of_this_project_has_an_argument_that_the_page_explains() -> None:
    text = page(played(("softmax:?temperature=2", "exec:python my_bot.py", "my_bot.py:Eager")), {}, {}, "command", "")
    origins = [line for line in text.splitlines() if line.startswith("- `")]
    assert sorted(origins) == [
        "- `exec:python my_bot.py`: not a bot of this project",
        "- `my_bot.py:Eager`: not a bot of this project",
        f"- `softmax:?temperature=2`: {BUILT_IN['softmax'].origin}; here with `?temperature=2`",
    ]


def test_names_of_a_strangers_league_stay_names() -> None:
    bots = ("rule", "exec:`</code><script>|\x1b[2J", "exec:\x1b[3J")
    text = page(played(bots), {}, {}, "command", "machine")
    assert "| `exec:'</code><script>/?[2J` |" in text
    assert "<script>" not in "".join(text.split("`")[::2]), "outside of code"
    assert "\x1b" not in text + as_text(played(bots)) + as_text(played(bots, faults=(0, 9, 0)))
