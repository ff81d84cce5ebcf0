"""Records that leave out what another format needs: it is filled in by the rules, kept unknown, or refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from engine.cli import main
from engine.mjai.messages import Message, make
from engine.records import mjlog_writing, tenhou_json
from engine.records.files import parse_record, read_records
from engine.records.model import GameRecord, RecordError, assumed_rules, with_rules_of
from engine.records.replay import Replay
from engine.records.tenhou_json import document_of
from engine.rules import TENHOU, Rules
from tests.conftest import DATA
from tests.support.handmade_records import busy_game, game, played, start, tsumo, without

PHOENIX = DATA / "records/phoenix_2020_1.mjson"
FORMATS = ("json", "mjlog", "mjson")


def parsed(events: list[Message]) -> GameRecord:
    """The record of an mjai log with these events."""
    return parse_record("".join(json.dumps(event) + "\n" for event in events).encode(), "own.mjson")


def converted(events: list[Message], folder: Path, file_format: str) -> GameRecord:
    """The record that ``convert`` writes of an mjai log with these events."""
    source, target = folder / "source.mjson", folder / f"target.{file_format}"
    source.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    assert main(["convert", str(source), str(target)]) == 0
    return read_records(target)


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_discard_of_the_drawn_tile_is_tsumogiri_if_the_record_does_not_say(file_format: str, tmp_path: Path) -> None:
    events = read_records("examples/game.mjson").events
    record = converted(without(events, "tsumogiri"), tmp_path, file_format)
    assert Replay(record).check() == []
    drawn = ""
    for event in record.events:
        if event["type"] == "dahai":
            assert event["tsumogiri"] == (event["pai"] == drawn)
        drawn = event["pai"] if event["type"] == "tsumo" else drawn if event["type"] in ("reach", "dora") else ""


def test_whether_a_discard_is_a_hidden_draw_stays_unknown() -> None:
    events = without(read_records("examples/game.mjson").events, "tsumogiri")
    hidden = [event | {"pai": "?"} if event["type"] == "tsumo" else event for event in events]
    discards = [event for event in parsed(hidden).events if event["type"] == "dahai"]
    assert {event.get("tsumogiri") for event in discards} == {None, False}  # False after a pon


def test_results_of_libriichi3p_are_completed_for_tenhou(tmp_path: Path) -> None:
    """It has no reasons of draws; one of this game is a kyushu kyuhai."""
    assert main(["convert", str(PHOENIX), str(tmp_path / "a.mjson"), "--dialect", "libriichi3p"]) == 0
    sparse = read_records(tmp_path / "a.mjson")
    assert Replay(sparse).check() == []
    results = [log[-1] for log in document_of(sparse)["log"]]
    expected = [log[-1] for log in document_of(read_records(PHOENIX))["log"]]
    assert [result[:2] for result in results if result[0] != "和了"] == [
        result for result in expected if result[0] != "和了"
    ]
    assert ["九種九牌"] in results


def test_a_result_that_the_rules_do_not_tell_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rounds of this game are not played by the rules, so that nothing tells the reason of their draws."""
    source = tmp_path / "a.mjson"
    lines = [json.dumps(event) for event in without(busy_game().events, "reason")]
    source.write_text("\n".join(lines), encoding="utf-8")
    assert main(["convert", str(source), str(tmp_path / "a.json")]) == 1
    assert "E1 honba 1: a ryukyoku without reason, that the rules do not tell either" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "rules"),
    [
        ({"length": "east"}, TENHOU.with_length("east")),
        ({"aka_flag": False}, replace(TENHOU, red_fives=False)),
        ({"switches": {"uma": [10, 0, -10]}}, replace(TENHOU, uma=(10, 0, -10))),
        ({"aka_flag": True}, None),  # says nothing else than a record without it
        ({"length": "tonpuusen"}, None),  # another program's word
    ],
    ids=str,
)
def test_settings_without_the_name_of_rules_are_kept(given: Message, rules: Rules | None, tmp_path: Path) -> None:
    events = read_records(PHOENIX).events
    for file_format in ("json", "mjson"):
        assert converted([events[0] | given, *events[1:]], tmp_path, file_format).rules == rules


def test_red_fives_without_the_name_of_rules_decide_the_wall() -> None:
    rules = replace(TENHOU.with_length("east"), red_fives=False)
    record = played(3, rules)
    start = {key: value for key, value in record.events[0].items() if key not in ("rules", "length")}
    sparse = parsed([start, *record.events[1:-1], {"type": "end_game"}])
    assert Replay(sparse).check() == []
    assert any(Replay(sparse, TENHOU).check())


@pytest.mark.parametrize("length", ["east", "hanchan"])
def test_mjlog_of_a_record_that_names_no_rules_has_its_length(
    length: Literal["east", "hanchan"], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = without(played(3, TENHOU.with_length(length)).events, "rules", "length", "points")
    record = converted(events, tmp_path, "mjlog")
    assert record.rules == TENHOU.with_length(length)
    assert Replay(record).check() == []
    what = {"east": "an East-only game", "hanchan": "a hanchan"}[length]
    assert f"it names no rules: written as {what} of Tenhou's" in capsys.readouterr().err
    assert main(["convert", str(tmp_path / "source.mjson"), "--format", "mjlog", "--out", str(tmp_path / "all")]) == 0
    assert f"it names no rules: written as {what} of Tenhou's" in capsys.readouterr().err
    converted(events, tmp_path, "json")
    assert "it names no rules" not in capsys.readouterr().err


def test_a_game_that_ends_in_east_with_somebody_below_zero_is_a_hanchan() -> None:
    low = make("ryukyoku", reason="fanpai", deltas=[36000, -36000, 0])
    record = game(start(3, 0, 0, [35000] * 3), tsumo(2, "1s"), low, make("end_kyoku"))
    events = without(record.events, "rules", "length")
    assert assumed_rules(parsed(events)) == TENHOU
    events[-3]["deltas"] = [35000, -35000, 0]
    assert assumed_rules(parsed(events)) == TENHOU.with_length("east")


@pytest.mark.parametrize(
    ("length", "seed", "last"),
    [
        ("east", 0, "E3"),
        ("east", 21, "S1"),
        ("east", 24, "S2"),
        ("east", 582, "S3"),  # nobody has 40,000
        ("east", 462, "S3"),  # somebody has 40,000: over by either length
        ("east", 62, "E2"),  # somebody is below zero
        ("hanchan", 25, "E3"),  # somebody is below zero
        ("hanchan", 0, "S3"),
        ("hanchan", 74, "W2"),
    ],
)
def test_a_game_without_a_named_length_is_over_at_its_end(
    length: Literal["east", "hanchan"], seed: int, last: str
) -> None:
    events = without(played(seed, TENHOU.with_length(length)).events, "rules", "length")
    starts = [event for event in events if event["type"] == "start_kyoku"]
    assert f"{starts[-1]['bakaze']}{starts[-1]['kyoku']}" == last
    assert Replay(parsed(events)).check() == []


def test_riichi_sticks_that_are_left_at_the_end_do_not_count_for_the_length() -> None:
    draw = make("ryukyoku", reason="fanpai", deltas=[0, 0, 0])
    record = game(start(3, 0, 2, [39000, 33000, 31000], "S"), tsumo(2, "1s"), draw, make("end_kyoku"))
    events = [*without(record.events, "rules", "length")[:-1], make("end_game", scores=[41000, 33000, 31000])]
    assert assumed_rules(parsed(events)) == TENHOU.with_length("east")


def test_a_record_that_was_cut_off_in_the_east_may_be_of_a_hanchan() -> None:
    events = without(played(0, TENHOU.with_length("east")).events, "rules", "length")
    log = "".join(json.dumps(event) + "\n" for event in events[:-1]).encode()
    assert assumed_rules(parse_record(log, "cut.mjson", allow_cut=True)) == TENHOU


@pytest.mark.parametrize("name", ["tenhou", "majsoul"])
def test_rules_that_an_option_gives_keep_the_length_that_the_end_shows(name: str) -> None:
    events = without(played(3, TENHOU.with_length("east")).events, "rules", "length")
    rules = with_rules_of(parsed(events), name).rules
    assert rules is not None
    assert rules.length == "east"


def test_whole_numbers_with_a_decimal_point_are_integers(tmp_path: Path) -> None:
    record = read_records("examples/game.mjson")
    numbers = ("scores", "deltas", "fu", "fan", "hora_points")
    events = [
        event | {key: json.loads(json.dumps(event[key]), parse_int=float) for key in numbers if key in event}
        for event in record.events
    ]
    assert isinstance(events[1]["scores"][0], float)
    assert converted(events, tmp_path, "mjson").events == record.events
    assert converted(events, tmp_path, "mjlog").events[1]["scores"] == [35000] * 3
    for file_format in ("mjson", "json"):
        converted(events, tmp_path, file_format)
        assert "000.0" not in (tmp_path / f"target.{file_format}").read_text(encoding="utf-8")


def test_points_that_are_no_hundreds_are_refused_for_mjlog() -> None:
    record = read_records("examples/game.mjson")
    for index in (1, -1):
        events = json.loads(json.dumps(record.events))
        events[index]["scores"][0] += 50
        with pytest.raises(RecordError, match=r"50 points: mjlog has hundreds only"):
            mjlog_writing.write(replace(record, events=events))


@pytest.mark.parametrize("write", [tenhou_json.write, mjlog_writing.write])
def test_another_first_dealer_is_refused_for_tenhou(write: Callable[[GameRecord], str]) -> None:
    record = read_records("examples/game.mjson")
    events = [event | {"oya": (event["oya"] + 1) % 3} if "oya" in event else event for event in record.events]
    with pytest.raises(RecordError, match=r"E1 honba 0: seat 1 deals: in Tenhou's formats, seat 0 deals first"):
        write(replace(record, events=events))


@pytest.mark.parametrize(
    ("rates", "written"),
    [
        ([2258.469, 1800, 1500.0, 0.0], 'rate="2258.47,1800.00,1500.00,1500.00"'),
        (["2258.47", "1800", "1500.00", "0"], 'rate="2258.47,1800.00,1500.00,1500.00"'),
        ([None, None, None], None),
        (["?", "?", "?"], None),
        (1500, None),
        ({"A": 1500}, None),
    ],
    ids=str,
)
def test_ratings_that_are_no_numbers_are_left_out_of_mjlog(rates: object, written: str | None) -> None:
    record = read_records("examples/game.mjson")
    start = record.events[0] | {"tenhou": {"rate": rates, "sx": ["M", "F", "M", "C"]}}
    text = mjlog_writing.write(replace(record, events=[start, *record.events[1:]]))
    assert 'sx="M,F,M,C"' in text
    assert (written or "<TAIKYOKU") in text
    assert ("rate=" in text) == (written is not None)


def test_scores_without_final_points_are_kept(tmp_path: Path) -> None:
    events = read_records(PHOENIX).events
    end = make("end_game", scores=[69100, -7800, 43700])
    assert events[-1] == end
    back = converted(events, tmp_path, "json").events
    assert (back[0], back[-1]) == (events[0], end)
    ruled = [events[0] | {"rules": "majsoul", "length": "hanchan"}, *events[1:]]  # the rules tell the points
    assert converted(ruled, tmp_path, "json").events[-1] == end | {"points": [49.1, -57.8, 8.7]}
