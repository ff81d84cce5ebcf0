"""Records that leave out what another format needs: it is filled in by the rules, kept unknown, or refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.cli import main
from engine.mjai.messages import Message
from engine.records.files import parse_record, read_records
from engine.records.model import GameRecord
from engine.records.replay import Replay
from engine.records.tenhou_json import document_of
from engine.rules import TENHOU, Rules
from tests.conftest import DATA
from tests.support.handmade_records import busy_game, played, without

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
