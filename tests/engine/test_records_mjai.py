"""mjai logs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from engine.mjai.messages import make
from engine.records import mjai
from engine.records.model import RecordError
from engine.rules import TENHOU
from tests.support.handmade_records import HANDS, busy_game, game, start, tsumo


def test_mjai_is_written_exactly() -> None:
    text = mjai.write(busy_game())
    assert text.splitlines()[0] == (
        '{"type":"start_game","names":["東子","b","c"],"rules":"tenhou","length":"hanchan"}'
    )
    assert '{"type":"pon","actor":1,"target":0,"pai":"W","consumed":["W","W"]}\n' in text
    assert text.endswith(
        '{"type":"end_kyoku"}\n{"type":"end_game","scores":[87500,7000,10500],"points":[82.5,-53.0,-29.5]}\n'
    )
    again = mjai.read(text, "own")
    assert again.events == busy_game().events
    assert again.rules == TENHOU


def test_mjai_reads_other_dialects() -> None:
    lines = [
        {"type": "start_game", "id": 1, "names": ["a", "b", "c", ""], "rules": "majsoul", "length": "east",
         "aka_flag": False},
        {"type": "hello", "protocol": "mjsonp"},
        start(1, 0, 0, [35000, 35000, 35000, 0]) | {"tehais": [*HANDS, ["?"] * 13]},
        {"pai": "N", "actor": 0, "type": "tsumo", "possible_actions": []},
        {"type": "kita", "actor": 0, "ext_bot": {"prob": 1, "values": [float("nan"), float("-inf"), 1.5, 2.5]}},
        {"type": "tsumo", "actor": 0, "pai": "0p"},
        {"type": "reach", "actor": 0, "cannot_dahai": ["1p"]},
        {"type": "dahai", "actor": 0, "pai": "5rp", "tsumogiri": True},
        {"type": "reach_accepted", "actor": 0},
        {"type": "pon", "actor": 1, "target": 0, "pai": "5z", "consumed": ["5pr", "5p"]},
        {"type": "dahai", "actor": 1, "pai": "9p", "tsumogiri": True},
        {"type": "hora", "actor": 0, "target": 1, "deltas": [49000, -48000, 0, 0], "ura_markers": ["1m"],
         "yakus": [["kokushimuso", 100], ["uradora", 0]], "fan": 100},
        {"type": "end_kyoku"},
        {"type": "ryukyoku", "reason": "suukansansen"},
        {"type": "end_game"},
    ]  # fmt: skip
    text = "\n".join(json.dumps(line) for line in lines).replace("1.5", "1e999")
    record = mjai.read(text, "liberal")
    events = {event["type"]: event for event in record.events}
    assert record.rules is not None
    assert (record.rules.name, record.rules.length, record.rules.red_fives) == ("majsoul", "east", False)
    assert events["start_game"]["names"] == ["a", "b", "c"]
    assert "id" not in events["start_game"]
    assert events["start_kyoku"]["tehais"] == HANDS
    assert events["nukidora"]["pai"] == "N"
    assert events["nukidora"]["ext_bot"] == {"prob": 1, "values": [None, None, None, 2.5]}, "JSON has no NaN"
    assert (record.events[4]["pai"], record.events[6]["pai"]) == ("5pr", "5pr")
    assert events["reach"] == {"type": "reach", "actor": 0}
    assert events["reach_accepted"]["deltas"] == [-1000, 0, 0]
    assert events["reach_accepted"]["scores"] == [34000, 35000, 35000]
    assert (events["pon"]["pai"], events["pon"]["consumed"]) == ("P", ["5p", "5pr"])
    assert events["dahai"]["tsumogiri"] is False  # nothing was drawn before a discard after pon
    assert events["hora"] == {
        "type": "hora", "actor": 0, "target": 1, "pai": "9p", "uradora_markers": ["1m"],
        "yakus": [["kokushimuso", 13]], "fan": 13, "deltas": [49000, -48000, 0], "scores": [83000, -13000, 35000],
    }  # fmt: skip
    assert events["ryukyoku"]["reason"] == "sukaikan"


def test_line_ends_of_unicode_in_a_text_end_no_line() -> None:
    """JSON may hold them as they are, and splitlines() would break a line there."""
    odd = "\u2028\u2029\u0085\x0b"
    events = [event | {"ext_bot": {odd: odd}} for event in busy_game().events]
    text = "".join(json.dumps(event, ensure_ascii=False) + "\r\n" for event in events)
    assert odd[:3] in text
    read = mjai.read(text, "own").events
    assert [event | {"ext_bot": None} for event in read] == [event | {"ext_bot": None} for event in busy_game().events]
    with pytest.raises(RecordError, match="line 3"):
        mjai.read("\n".join(text.split("\n")[:3]), "cut off")


def test_a_win_on_an_ankan_gets_its_tile() -> None:
    call = make("ankan", actor=0, consumed=["F", "F", "F", "F"])
    record = game(start(1, 0, 0, [35000] * 3), tsumo(0, "1s"), call, make("hora", actor=1, target=0), make("end_kyoku"))
    assert mjai.read(mjai.write(record), "own").events[4]["pai"] == "F"


def test_errors_of_a_server_are_written_and_ignored_when_read() -> None:
    record = busy_game()
    note = {"type": "error", "actor": 1, "message": "dahai: pai is missing"}
    noted = replace(record, events=[*record.events[:3], note, *record.events[3:]])
    text = mjai.write(noted)
    assert text.splitlines()[3] == '{"type":"error","actor":1,"message":"dahai: pai is missing"}'
    assert mjai.read(text, "noted").events == record.events
