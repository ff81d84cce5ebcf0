"""What a review is written as: mjai-reviewer's JSON, a page, text on a terminal; and the command that does it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from agents.registry import make
from agents.review import page as page_module
from agents.review.cli import main
from agents.review.decisions import seat_decisions
from agents.review.mjai_reviewer import document
from agents.review.page import page
from agents.review.report import print_review
from agents.review.review import Review, make_review
from engine.common.options import notes_stream
from engine.common.program import BAD_ARGUMENTS, OK
from engine.records.files import read_records
from tests.support.server_program import REPOSITORY


def review_of(path: Path, seat: int, *bots: str) -> Review:
    return make_review(seat_decisions(read_records(path), seat), {bot: make(bot) for bot in bots}, lambda n: None)


@pytest.fixture(scope="module")
def record(records_dir: Path) -> Path:
    return records_dir / "phoenix_2014_1.xml"


@pytest.fixture(scope="module")
def review(record: Path) -> Review:
    return review_of(record, 2, "bert", "rule")


# mjai-reviewer --------------------------------------------------------------------------------------------------------

ENTRY_KEYS = [
    "junme", "tiles_left", "last_actor", "tile", "state", "at_self_chi_pon", "at_self_riichi", "at_opponent_kakan",
    "expected", "actual", "is_equal", "details", "shanten", "at_furiten", "actual_index",
]  # fmt: skip
MELD_KEYS = {
    "pon": {"type", "target", "pai", "consumed"},
    "daiminkan": {"type", "target", "pai", "consumed"},
    "kakan": {"type", "pai", "previous_pon_target", "previous_pon_pai", "consumed"},
    "ankan": {"type", "consumed"},
}
CONSUMED = {"pon": 2, "daiminkan": 3, "kakan": 2, "ankan": 4}


@pytest.fixture(scope="module", params=["bert", "rule"])
def documents(request: pytest.FixtureRequest, records_dir: Path) -> list[dict[str, Any]]:
    """Of all real records, as they are read back."""
    paths = sorted(records_dir.iterdir())
    reviews = [review_of(path, number % 3, request.param) for number, path in enumerate(paths)]
    return [json.loads(json.dumps(document(review), allow_nan=False)) for review in reviews]


def entries(documents: list[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """All entries with the reviewed seat."""
    for each in documents:
        for kyoku in each["review"]["kyokus"]:
            for entry in kyoku["entries"]:
                yield each["player_id"], entry


@pytest.mark.slow
def test_four_seats(documents: list[dict[str, Any]]) -> None:
    for each in documents:
        log, review, seat = each["mjai_log"], each["review"], each["player_id"]
        assert (len(log[0]["names"]), log[-1]["type"]) == (4, "end_game")
        starts = [message for message in log if message["type"] == "start_kyoku"]
        assert len(starts) == len(review["kyokus"]) == len(review["relative_phi_matrix"])
        for start, kyoku, phi in zip(starts, review["kyokus"], review["relative_phi_matrix"], strict=True):
            assert len(start["tehais"]) == len(start["scores"]) == 4
            assert kyoku["relative_scores"] == [start["scores"][(seat + i) % 4] for i in range(4)]
            assert kyoku["kyoku"] == 4 * "ESW".index(start["bakaze"]) + start["kyoku"] - 1
            assert kyoku["honba"] == start["honba"]
            assert {message["type"] for message in kyoku["end_status"]} in ({"hora"}, {"ryukyoku"})
            assert all(len(message["deltas"]) == 4 for message in kyoku["end_status"])
            assert [sum(row) for row in phi] == pytest.approx([1] * 4)
        for logs in each["split_logs"]:
            assert (len(logs["name"]), len(logs["log"])) == (4, 1)


def test_entries_are_consistent(documents: list[dict[str, Any]]) -> None:
    for seat, entry in entries(documents):
        assert list(entry) == ENTRY_KEYS
        details, index = entry["details"], entry["actual_index"]
        values = [detail["q_value"] for detail in details]
        assert values == sorted(values, reverse=True)
        assert sum(detail["prob"] for detail in details) == pytest.approx(1)
        assert (entry["expected"], entry["actual"]) == (details[0]["action"], details[index]["action"])
        assert entry["is_equal"] == (index == 0)
        assert all(detail["action"].get("actor", seat) == seat for detail in details)
        assert entry["actual"]["type"] in {"dahai", "reach", "pon", "daiminkan", "ankan", "kakan", "nukidora", "hora",
                                           "ryukyoku", "none"}  # fmt: skip


def test_values_are_told_apart_in_hundredths_of_a_placement(documents: list[dict[str, Any]]) -> None:
    """The probabilities are those of the values; viewers show two decimals."""
    n_best = n_alike = 0
    for each in documents:
        for _, entry in entries([each]):
            values = np.array([detail["q_value"] for detail in entry["details"] if detail["prob"] > 0])
            shares = np.exp((values - values[0]) / each["review"]["temperature"])
            if each["review"]["model_tag"] == "rule":
                found = [detail["prob"] for detail in entry["details"] if detail["prob"] > 0]
                assert found == pytest.approx(shares / shares.sum())
            n_best += len(values) > 1
            n_alike += len(values) > 1 and f"{values[0]:.2f}" == f"{values[1]:.2f}"
    assert n_alike < n_best / 5


def test_hands_and_melds(documents: list[dict[str, Any]]) -> None:
    seen = set()
    for _, entry in entries(documents):
        hand, melds = entry["state"]["tehai"], entry["state"]["fuuros"]
        assert len(hand) + 3 * len(melds) in (13, 14)
        for meld in melds:
            seen.add(meld["type"])
            assert meld.keys() == MELD_KEYS[meld["type"]]
            assert len(meld["consumed"]) == CONSUMED[meld["type"]]
        if entry["actual"]["type"] == "dahai":
            assert entry["actual"]["pai"] in hand
            assert not entry["actual"]["tsumogiri"] or hand[-1] == entry["actual"]["pai"]
    assert seen >= {"pon", "ankan"}


def test_totals(documents: list[dict[str, Any]]) -> None:
    for each in documents:
        review = each["review"]
        found = [entry for kyoku in review["kyokus"] for entry in kyoku["entries"]]
        assert review["total_reviewed"] == len(found)
        assert review["total_matches"] == sum(entry["is_equal"] for entry in found)
        assert 0 <= review["rating"] <= 1
        assert each["game_length"] in ("Hanchan", "Tonpuu")


# The terminal ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_report_fits(review: Review, width: int) -> None:
    console = Console(width=width, record=True, file=open(os.devnull, "w"))  # noqa: PTH123, SIM115
    print_review(review, console)
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    assert "C (seat 2) against A, B" in text
    for bot, spec in enumerate(("bert", "rule")):
        summary = review.summary(bot)
        assert f"Reviewed by {spec}" in text
        assert f"all {summary['decisions']} {summary['agreed']} " in text
    losses = sorted((opinion.loss or 0.0 for opinion in review.opinions[0]), reverse=True)
    assert all(f" {loss:.4f} " in text for loss in losses[:10])
    assert "daiminkan 9s" in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_names_and_places_are_not_broken(record: Path, width: int) -> None:
    names = ["Tester of something", "Another player of 天鳳", "Somebody with a name"]
    played = read_records(record)
    played.events[0] = played.events[0] | {"names": names}
    review = make_review(seat_decisions(played, 0), {"bert:runs/a long name": make("bert")}, lambda n: None)
    console = Console(width=width, record=True, file=open(os.devnull, "w"))  # noqa: PTH123, SIM115
    print_review(review, console)
    lines = console.export_text().splitlines()
    assert max(map(cell_len, lines)) <= width
    for name in names:
        assert any(name in line for line in lines[:3])
    mistakes = lines[lines.index("Largest losses, in placements") :]
    assert sum(bool(re.search(r"\d\.\d{4}  [ES]\d (honba \d )?turn \d+  +\w", line)) for line in mistakes) == 10


def test_the_name_of_a_bot_is_no_markup(review: Review) -> None:
    spec = "bert:runs/[a]net"
    opinions = [replace(review.opinions[0][0], loss=None), *review.opinions[0][1:]]
    console = Console(width=200, record=True, file=open(os.devnull, "w"))  # noqa: PTH123, SIM115
    print_review(replace(review, bots={spec: review.bots["bert"]}, opinions=[opinions]), console)
    text = console.export_text()
    assert f"Reviewed by {spec}" in text
    assert f"as {spec} did not evaluate" in text


# The page -------------------------------------------------------------------------------------------------------------


def test_the_page_holds_everything_it_needs(review: Review) -> None:
    text = page(review)
    (found,) = re.findall(r'<script type="application/json" id="data">\n(.*)\n</script>', text)
    data = json.loads(found)
    assert data["review"] == json.loads(json.dumps(review.as_json()))
    assert data["messages"] == review.of.record.events
    (imports,) = re.findall(r'<script type="importmap">\n(.*)\n</script>', text)
    modules = json.loads(imports)["imports"]
    assert {address.partition(",")[0] for address in modules.values()} == {"data:text/javascript;base64"}
    assert "nukidora/review_view.js" in modules
    assert not re.search(r"(?:src|href)=\"(?!#)", text.partition("<main>")[2])


def test_names_cannot_leave_their_script(review: Review) -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    start, *others = review.of.record.events
    events = [start | {"names": [hostile] * 3}, *others]
    record = type(review.of.record)(events, review.of.record.rules, "hostile")
    text = page(Review(type(review.of)(record, (hostile,) * 3, 2, review.of.decisions, review.of.views, []), {}, []))
    assert hostile not in text
    assert "<img" not in text


def test_missing_files_of_the_pages_are_told(review: Review, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "ENTRY", "no_such_module.js")
    with pytest.raises(ValueError, match="--html needs the files of server/web") as told:
        page(review)
    assert str(told.value).isprintable()


# The command ----------------------------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, output and errors of the command."""
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as left:
        code = int(left.code or 0)
    return (code, *capsys.readouterr())


def test_the_command_writes_what_is_asked_for(
    record: Path, review: Review, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, theirs, html = (tmp_path / name for name in ("a.json", "b.json", "c.html"))
    code, out, _ = run(capsys, record, "--seat", 2, "--bot", "bert", "--bot", "rule", "--json", plain, "--html", html)
    assert (code, out) == (OK, f"wrote {plain}\nwrote {html}\n")
    assert json.loads(plain.read_text()) == json.loads(json.dumps(review.as_json()))
    assert html.read_text() == page(review)
    code, out, _ = run(capsys, record, "--seat", 2, "--json", theirs, "--format", "mjai-reviewer")
    assert (code, out) == (OK, f"wrote {theirs}\n")
    assert json.loads(theirs.read_text()) == json.loads(json.dumps(document(review)))


def test_notes_do_not_mix_with_json_that_is_printed(record: Path, tmp_path: Path) -> None:
    file, pipe = tmp_path / "file.json", tmp_path / "pipe"
    file.touch()
    os.mkfifo(pipe)
    assert notes_stream(None, file, tmp_path / "missing") is sys.stdout
    assert notes_stream(file, pipe) is sys.stderr
    command = [sys.executable, "-m", "agents.review", record, "--seat", "2", "--bot", "rule", "--json", "/dev/stdout"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["bots"]
    assert done.stderr.endswith("wrote /dev/stdout\n")


def test_the_command_prints_a_report(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, record, "--seat", 0)
    assert code == OK
    assert "Reviewed by bert" in out


def test_a_log_that_was_cut_off_is_reviewed_as_far_as_it_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, plain, theirs, html = (tmp_path / name for name in ("cut.mjson", "a.json", "b.json", "c.html"))
    lines = (REPOSITORY / "examples/game.mjson").read_text().splitlines()
    start = next(n for n, line in enumerate(lines) if '"kyoku":2' in line)
    path.write_text("\n".join(lines[: start + 41]) + '\n{"type":"da')
    told = "the record ends in E2 honba 0, after 41 events of that round"
    code, out, _ = run(capsys, path, "--seat", 0, "--bot", "rule")
    assert code == OK
    assert f"{told}; reviewed as far as it goes" in " ".join(out.split())
    code, _, _ = run(capsys, path, "--seat", 0, "--bot", "rule", "--json", plain, "--html", html)
    assert code == OK
    review = json.loads(plain.read_text())
    assert {decision["round"] for decision in review["decisions"]} == {0, 1}
    assert (review["cut_off"], review["cut_off_code"]["code"]) == (told, "cut_in_round")
    assert told in html.read_text()
    code, _, _ = run(capsys, path, "--seat", 0, "--bot", "rule", "--json", theirs, "--format", "mjai-reviewer")
    assert code == OK
    assert [bool(each["end_status"]) for each in json.loads(theirs.read_text())["review"]["kyokus"]] == [True, False]


def test_a_round_that_departs_from_the_rules_costs_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It has a kakan without a pon."""
    path, theirs = tmp_path / "odd.mjson", tmp_path / "b.json"
    lines = (REPOSITORY / "examples/game.mjson").read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if '"dahai"' in line and '"actor":0' in line)
    lines[at] = '{"type":"kakan","actor":0,"pai":"W","consumed":["W","W","W"]}'
    path.write_text("\n".join(lines) + "\n")
    code, _, _ = run(capsys, path, "--seat", 0, "--bot", "rule", "--json", theirs, "--format", "mjai-reviewer")
    assert code == OK
    first, *others = json.loads(theirs.read_text())["review"]["kyokus"]
    assert len(first["entries"]) < 5
    assert all(each["entries"] for each in others)


def test_a_name_that_is_no_text_leaves_the_file_that_was_there(
    records_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, theirs = tmp_path / "odd.json", tmp_path / "b.json"
    game = json.loads((records_dir / "phoenix_2024_1.json").read_text())
    path.write_text(json.dumps(game | {"title": ["\ud800", ""]}))
    theirs.write_text("kept")
    code, _, err = run(capsys, path, "--seat", 0, "--bot", "rule", "--json", theirs, "--format", "mjai-reviewer")
    assert (code, len(err.splitlines())) == (BAD_ARGUMENTS, 1)
    assert theirs.read_text() == "kept"
    assert not theirs.with_name("b.json.tmp").exists()


def test_a_whole_record_says_nothing_of_a_cut(review: Review) -> None:
    document = review.as_json()
    assert (document["cut_off"], document["cut_off_code"]) == ("", {})
