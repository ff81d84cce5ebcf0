"""Reviews of all games of a player: what they add up to, wherever the records lie, and after an interruption."""

from __future__ import annotations

import json
import re
import shutil
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

from agents.registry import make
from agents.review import games, many
from agents.review.cli import main
from agents.review.decisions import seat_decisions
from agents.review.opinions import Opinion
from agents.review.page import totals_page
from agents.review.review import Review, make_review
from agents.review.totals import BLUNDER, MISTAKE, N_MISTAKES, Sums, Totals
from engine.common.program import FAILED, INTERRUPTED, OK
from engine.common.student import half_width
from engine.records.files import read_records

NAMES = ["phoenix_2014_1.xml", "phoenix_2018_1.xml", "phoenix_2020_1.mjson", "phoenix_2021_1.json"]
BOT = "rule"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command: exit code, output and errors."""

    def command(*arguments: object) -> tuple[int, str, str]:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as left:
            code = int(left.code or 0)
        return (code, *capsys.readouterr())

    return command


@pytest.fixture
def folder(records_dir: Path, tmp_path: Path) -> Path:
    """Real games of A, B and C, who sit at seats 0, 1 and 2."""
    found = tmp_path / "games"
    found.mkdir()
    for name in NAMES:
        shutil.copy(records_dir / name, found)
    return found


def reviews_of(folder: Path) -> Iterator[tuple[Path, Review]]:
    for path in sorted(folder.iterdir()):
        yield path, make_review(seat_decisions(read_records(path), 2), {BOT: make(BOT)}, lambda n: None)


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_the_tables_are_the_sums_of_the_single_reviews(folder: Path, tmp_path: Path, run: Run) -> None:
    code, out, _ = run(folder, "--player", "C", "--bot", BOT, "--json", tmp_path / "c.json")
    found = document(tmp_path / "c.json")
    assert code == OK
    assert "C: 4 games" in out
    assert (found["player"], found["bots"], found["games"], found["records"]) == ("C", [BOT], 4, 4)
    decisions = [
        (number, decision, opinion)
        for number, (_, review) in enumerate(reviews_of(folder))
        for decision, opinion in zip(review.of.decisions, review.opinions[0], strict=True)
    ]
    (summary,) = found["summary"]
    kinds = {decision.kind for _, decision, _ in decisions}
    assert summary["by_kind"].keys() == kinds
    for name, row in [*summary["by_kind"].items(), ("all", summary)]:
        of_row = [each for each in decisions if name in (each[1].kind, "all")]
        losses = np.array([sum(o.loss or 0.0 for n, _, o in of_row if n == number) for number in range(4)])
        assert row["decisions"] == len(of_row)
        assert row["agreed"] == sum(opinion.agrees for _, _, opinion in of_row)
        assert row["loss_per_game"]["mean"] == pytest.approx(losses.mean(), rel=1e-3)
        assert row["loss_per_game"]["interval"] == pytest.approx(half_width(losses, BLUNDER), rel=1e-3)
    for group in ("by_shanten", "by_turn"):
        assert sum(row["decisions"] for row in summary[group].values()) == len(decisions)
        assert sum(row["agreed"] for row in summary[group].values()) == summary["agreed"]
    assert [*summary["by_shanten"]] == ["-1", "0", "1", "2", "3+"]
    assert [*summary["by_turn"]] == ["1-6", "7-12", "13-18"]
    assert summary["by_turn"]["7-12"]["decisions"] == sum(7 <= decision.turn <= 12 for _, decision, _ in decisions)


def test_what_loses_less_than_a_hundredth_is_no_mistake(folder: Path, tmp_path: Path, run: Run) -> None:
    record = folder / "phoenix_2020_1.mjson"
    _, out, _ = run(record, "--player", "A", "--bot", BOT, "--json", tmp_path / "a.json")
    (mistakes,) = document(tmp_path / "a.json")["mistakes"]
    review = make_review(seat_decisions(read_records(record), 0), {BOT: make(BOT)}, lambda n: None)
    losses = [opinion.loss or 0.0 for opinion in review.opinions[0]]
    assert 0 < len(mistakes) == sum(loss >= MISTAKE for loss in losses) < sum(loss > 0 for loss in losses)
    assert "The costliest mistakes" in out


@pytest.mark.parametrize("whose", [("--player", "A"), ("--seat", 0)])
@pytest.mark.parametrize("option", ["--json", "--html"])
def test_the_record_is_not_overwritten(option: str, whose: tuple[str, object], folder: Path, run: Run) -> None:
    record = folder / "phoenix_2020_1.mjson"
    before = record.read_bytes()
    code, _, told = run(record, *whose, "--bot", BOT, option, record)
    assert code == 2
    assert "this is one of the files to read; name another file to write" in told
    assert record.read_bytes() == before


def test_the_costliest_mistakes_are_found_where_they_say(folder: Path, tmp_path: Path, run: Run) -> None:
    run(folder, "--player", "C", "--bot", BOT, "--json", tmp_path / "c.json")
    (mistakes,) = document(tmp_path / "c.json")["mistakes"]
    losses = sorted((o.loss or 0.0 for _, review in reviews_of(folder) for o in review.opinions[0]), reverse=True)
    assert [each["loss"] for each in mistakes] == pytest.approx(losses[:N_MISTAKES], rel=1e-3)
    reviews = {str(path): review.as_json() for path, review in reviews_of(folder)}
    for each in mistakes:
        (decision,) = [d for d in reviews[each["file"]]["decisions"] if d["message"] == each["message"]]
        (opinion,) = decision["reviews"]
        assert (each["round"], each["turn"], each["kind"]) == (decision["round"], decision["turn"], decision["kind"])
        assert each["actual"] == decision["actual"]
        assert each["preferred"] == opinion["actions"][0]["action"]
        assert each["loss"] == opinion["loss"]
        start = [event for event in read_records(each["file"]).events if event["type"] == "start_kyoku"][each["round"]]
        assert [each[key] for key in ("bakaze", "kyoku", "honba")] == [start["bakaze"], start["kyoku"], start["honba"]]
        assert each["names"] == ["A", "B", "C"]
    worst = mistakes[0]
    assert (worst["round_name"], worst["turn"], worst["played"], worst["best"]) == ("E3", 3, "discard 8s", "riichi")


def test_records_are_found_in_archives_too(
    folder: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "some.zip"
    with ZipFile(archive, "w") as zipped:
        for name in NAMES[:2]:
            zipped.write(folder / name, name)
            (folder / name).unlink()
    monkeypatch.setenv("NUKIDORA_JOBS", "2")
    run(folder, archive, "--player", "C", "--bot", BOT, "--json", tmp_path / "mixed.json")
    found = document(tmp_path / "mixed.json")
    assert found["games"] == 4
    worst = found["mistakes"][0][0]
    assert worst["file"] == f"{archive}:{NAMES[0]}"
    assert read_records(worst["file"]).events[worst["message"]]["actor"] == 2


def test_an_interrupted_job_goes_on_to_the_same_result(
    folder: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = (folder, "--player", "C", "--bot", BOT, "--json")
    run(*command, tmp_path / "whole.json")
    real, looked_at = many.in_order, list[str]()

    def interrupted(*arguments: Any) -> Iterator[Any]:
        for number, each in enumerate(real(*arguments)):
            if number == 2:
                raise KeyboardInterrupt
            yield each

    def counted(*arguments: Any) -> Iterator[Any]:
        for each in real(*arguments):
            looked_at.append(each[0].name)
            yield each

    with monkeypatch.context() as patched:
        patched.setattr(many, "in_order", interrupted)
        code, out, err = run(*command, tmp_path / "parts.json")
    assert (code, "C: 2 games" in out) == (INTERRUPTED, True)
    assert "interrupted: 2 records are done; the same command continues" in err
    with pytest.raises(FileNotFoundError):
        document(tmp_path / "parts.json")
    monkeypatch.setattr(many, "in_order", counted)
    code, _, err = run(*command, tmp_path / "parts.json")
    assert (code, "continuing after 2 records" in err, len(looked_at)) == (OK, True, 2)
    assert document(tmp_path / "parts.json") == document(tmp_path / "whole.json")
    assert not list(tmp_path.glob("*.partial"))


def test_a_journal_of_another_player_is_refused(folder: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "c.json.partial").write_text('{"player": "A"}\n')
    code, _, err = run(folder, "--player", "C", "--bot", BOT, "--json", tmp_path / "c.json")
    assert (code, "c.json.partial is of another job" in err) == (2, True)


@pytest.mark.parametrize("changed", ["digest_of_sources", "digest_of_weights", "bot.py"])
def test_a_job_does_not_go_on_with_another_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str) -> None:
    (tmp_path / "bot.py").write_text("1")
    options = Namespace(json=tmp_path / "c.json", html=None, player="C", bot=[f"{tmp_path}/bot.py:Eager"])
    many.checkpoint_of(options, [])
    many.checkpoint_of(options, [])
    if changed == "bot.py":
        (tmp_path / "bot.py").write_text("2")
    else:
        monkeypatch.setattr(many, changed, lambda *packages: "others")
    with pytest.raises(ValueError, match="is of another job"):
        many.checkpoint_of(options, [])


def test_no_record_leaves_the_file_that_was_there(tmp_path: Path, run: Run) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "c.json").write_text("of last week")
    code, _, err = run(tmp_path / "empty", "--player", "C", "--bot", BOT, "--json", tmp_path / "c.json")
    assert (code, len(err.splitlines())) == (FAILED, 1)
    assert (tmp_path / "c.json").read_text() == "of last week"


def test_the_names_nearest_to_one_that_nobody_has_are_told(
    folder: Path, records_dir: Path, tmp_path: Path, run: Run
) -> None:
    text = (records_dir / NAMES[2]).read_text(encoding="utf-8")
    (folder / "more.mjson").write_text(text.replace('["A","B","C"]', '["Ahmed","Beatrice","Chun"]'))
    code, _, err = run(folder, "--player", "Beatriz", "--bot", BOT, "--json", tmp_path / "x.json")
    assert code == 2
    assert re.search(r"--player Beatriz: no game has a player of this name; there are Beatrice, .*, …\n", err)
    assert not list(tmp_path.glob("x.json*"))


def test_what_cannot_be_read_is_told_and_the_rest_reviewed(folder: Path, tmp_path: Path, run: Run) -> None:
    (folder / "broken.json").write_text('{"title": ')
    code, _, err = run(folder, "--player", "C", "--bot", BOT, "--json", tmp_path / "c.json")
    found = document(tmp_path / "c.json")
    assert (code, found["games"], found["records"], found["n_faults"]) == (FAILED, 4, 5, 1)
    assert "broken.json" in found["faults"][0]
    assert found["faults"][0] in err


def test_only_the_costliest_mistakes_are_held(folder: Path) -> None:
    """However many games there are: in memory, and in the journal."""
    totals, games_of = Totals.of_none(1), [Totals.of_game([review], str(path)) for path, review in reviews_of(folder)]
    for _ in range(3):
        for each in games_of:
            totals.add(each)
    assert (totals.games, len(totals.mistakes[0])) == (12, N_MISTAKES)
    kept = games_of[1].kept(totals)
    assert 0 < len(kept["mistakes"][0]) < len(games_of[1].mistakes[0])
    again = Totals.of_kept(json.loads(json.dumps(kept)))
    assert again.tables == games_of[1].tables


def test_names_that_are_remembered_are_few(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "MAX_NAMES", 3)
    found = games.Found(Totals.of_none(1), None)
    for number in range(9):
        found.add(games.Reviewed(Totals.of_none(1), (f"{number}a", f"{number}b", f"{number}c")))
    assert (found.done, len(found.names)) == (9, 3)


def test_the_page_holds_the_costliest_mistakes_alone(folder: Path) -> None:
    totals = Totals.of_none(1)
    for path, review in reviews_of(folder):
        totals.add(Totals.of_game([review], str(path)))
    text = totals_page(totals, "</script>C", [BOT])
    assert "</script>C" not in text
    (found,) = re.findall(r'<script type="application/json" id="data">\n(.*)\n</script>', text)
    data = json.loads(found)
    assert data["totals"] == json.loads(json.dumps(totals.as_json("</script>C", [BOT])))
    assert len(data["shown"][0]) == N_MISTAKES
    for mistake, shown in zip(data["totals"]["mistakes"][0], data["shown"][0], strict=True):
        messages = read_records(mistake["file"]).events
        assert shown["messages"][-1] == messages[mistake["message"]]
        assert len(shown["messages"]) == shown["decision"]["message"] + 1
        assert [each["type"] for each in shown["messages"][:2]] == ["start_game", "start_kyoku"]
        assert [each["type"] for each in shown["messages"]].count("start_kyoku") == 1
    assert not re.search(r"(?:src|href)=\"(?!#)", text.partition("<main>")[2])


def test_a_player_at_two_seats_has_one_game(folder: Path) -> None:
    """The loss of a game is that of both seats."""
    (_, first), (_, second), *_ = reviews_of(folder)
    both, apart = Totals.of_game([first, second], "a"), Totals.of_game([first], "a")
    apart.add(Totals.of_game([second], "a"))
    assert (both.games, apart.games) == (1, 2)
    whole, halves = both.summary(0), apart.summary(0)
    assert whole["decisions"] == halves["decisions"]
    assert whole["loss_per_game"]["mean"] == pytest.approx(2 * halves["loss_per_game"]["mean"], rel=1e-3)
    assert both.mistakes == apart.mistakes


def test_a_loss_that_nobody_knows_is_none() -> None:
    assert Sums(decisions=2, unknown=2).row(3)["loss_per_game"] == {"mean": None, "interval": None}
    assert Sums(decisions=3, unknown=2, loss=0.3).row(3)["loss_per_game"]["mean"] == 0.1
    sums = Sums()
    for loss in (0.25, None, 0.25):
        sums.count(Opinion([], 1, loss))
    row = sums.row(1)
    assert (row["decisions"], row["unknown"], row["mean_loss"], row["loss_per_game"]["mean"]) == (3, 1, 0.25, 0.5)


def test_games_of_four_alone_are_no_games(records_dir: Path, tmp_path: Path, run: Run) -> None:
    three = (records_dir / NAMES[0]).read_bytes()
    (tmp_path / "four.xml").write_bytes(three.replace(b'type="185"', b'type="169"'))
    code, _, err = run(tmp_path, "--player", "C", "--bot", BOT)
    assert (code, "no record of a game of three players" in err) == (2, True)
