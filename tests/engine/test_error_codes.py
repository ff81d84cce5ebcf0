"""Faults in records and positions have codes, so that pages say them in other languages; their texts are one line."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from engine.common.error_text import ErrorText, coded, line_of
from engine.mjai.bot_checks import BadMessage, check_join
from engine.mjai.bot_messages import parse_reply
from engine.positions.notation import PositionError
from engine.positions.position import Position
from engine.positions.views import place
from engine.records.files import parse_record
from engine.records.model import MAX_TEXT, FourPlayersError, RecordError, round_name

HAND = "123p456s111z99m223p"
START = b'{"type":"start_game","names":["a","b","c"]}\n'
# Bytes of a record -> the codes of the location and of what is wrong, and the values of the latter.
RECORDS: dict[str, tuple[bytes, str, str, dict[str, Any]]] = {
    "garbage": (b"garbage", "at_beginning", "no_record", {}),
    "no text": (b"\xff\xfe{", "at_byte", "not_utf8", {}),
    "half a gzip file": (gzip.compress(START * 500)[:60], "", "damaged", {"name": "gzip"}),
    "half a log": (START, "at_line", "log_cut", {}),
    "half a line": (START + b'{"type":', "at_line", "line_no_json", {"n": 9}),
    "another event": (START + b'{"type":"chi"}\n', "at_line", "event_unknown", {"kind": "'chi'"}),
    "a manzu tile": (START + b'{"type":"tsumo","pai":"5m"}\n', "at_line", "no_such_tile", {"tile": "'5m'"}),
    "half XML": (b"<mjloggm><GO", "at_column", "xml_cut", {}),
    "a tag": (b"<mjloggm><CHAT/></mjloggm>", "at_tag", "unknown_tag", {}),
    "half JSON": (b'{"log":[', "at_column", "json_cut", {}),
    "other JSON": (b"{}", "", "no_log", {}),
    "a type": (b'{"log":[5]}', "", "garbled", {}),
    "no number": (b'<mjloggm><GO type="x"/></mjloggm>', "at_tag", "unread", {}),
}


@pytest.mark.parametrize("name", RECORDS)
def test_faults_of_records_have_codes(name: str) -> None:
    data, location, what, values = RECORDS[name]
    with pytest.raises(RecordError) as caught:
        parse_record(data, "record")
    line = line_of(caught.value)
    assert line == str(caught.value) == f"record: {caught.value.location}: {caught.value.what}"
    found = coded(line)
    assert found["code"] == "record"
    assert found["codes"].get("location", {}).get("code", "") == location
    assert found["codes"]["what"]["code"] == what
    assert values.items() <= found["codes"]["what"]["values"].items()


def test_why_a_record_is_of_four_players_is_a_line_in_the_line() -> None:
    with pytest.raises(FourPlayersError) as caught:
        parse_record(b'{"type":"start_game","names":["a","b","c","d"]}\n', "record")
    assert caught.value.what == "four players are named; only three-player games can be read"
    found = coded(caught.value.what)
    assert (found["code"], found["codes"]["why"]["code"]) == ("four_players", "four_named")


def test_values_of_a_record_are_short_and_printable() -> None:
    kind = "\x1b" + "x" * 10 * MAX_TEXT
    with pytest.raises(RecordError) as caught:
        parse_record(START + json.dumps({"type": "tsumo", "pai": kind}).encode(), "record")
    what = caught.value.what
    assert isinstance(what, ErrorText)
    for text in (what, what.values["tile"]):
        assert isinstance(text, str)
        assert text.isprintable()
        assert len(text) == MAX_TEXT + 1


@pytest.mark.parametrize(
    ("reply", "code", "values"),
    [
        (b"?", "message_not_json", {"error": "expected value at line 1 column 1"}),
        (b'{"type":"none","n":NaN}', "message_not_json", {"error": "NaN is no number there"}),
        ("\ud800", "message_not_utf8", {}),
        (b"[]", "message_no_object", {"given": "[]"}),
        (b"{}", "type_wrong", {"given": "missing"}),
        (b'{"type":"chi"}', "type_wrong", {"given": "'chi'"}),
        (b'{"type":"pon"}', "key_missing", {"message": "pon", "key": "consumed"}),
        (b'{"type":"dahai","pai":"5m"}', "key_wrong", {"message": "dahai", "key": "pai", "given": "'5m'"}),
    ],
)
def test_replies_that_cannot_be_read_have_codes(reply: bytes | str, code: str, values: dict[str, Any]) -> None:
    with pytest.raises(BadMessage) as caught:
        parse_reply(reply)
    found = coded(line_of(caught.value))
    assert found["code"] == code
    assert values.items() <= found["values"].items()


def test_names_of_rounds_have_codes() -> None:
    named = coded(round_name({"bakaze": "S", "kyoku": 2, "honba": 1}))
    assert named["code"] == "round_name"
    assert named["values"] == {"wind": "S", "number": "2", "honba": "1"}
    assert named["codes"] == {"wind": {"code": "wind_S", "values": {}}}
    assert (round_name({}), coded(round_name({}))["values"]["wind"]) == ("?? honba ?", "?")


@pytest.mark.parametrize(
    ("keys", "code", "field", "values"),
    [
        ({"hand": "11111z456s99m2256p"}, "five_tiles", "field_hand", {"n": 5, "tile": "1z"}),
        ({"hand": "123"}, "tiles_suit", "field_hand", {"ranks": "123"}),
        ({"hand": "5m"}, "tile_of_four", "field_hand", {"name": "5m"}),
        ({"hand": "1p"}, "hand_size", "field_hand", {"n": 1, "wanted": 14, "melds": 0}),
        ({"hand": HAND, "rivers": ["1z", "", ""]}, "turn_of_other", "field_river_of_S", {"turn": "S", "seat": "E"}),
        ({"hand": HAND, "rivers": ["x", "", ""]}, "river_unread", "field_river_of_E", {"step": "x", "n": 1}),
        ({"hand": HAND, "scores": [1, 2]}, "three_scores", "field_scores", {}),
        ({"hand": HAND, "scores": [35000, 35000, 36000]}, "scores_sum", "field_scores", {"n": 106000}),
        ({"hand": HAND, "dora": ""}, "indicators", "field_dora", {"n": 0, "most": 5}),
        ({"hand": HAND, "left": 99}, "number_range", "field_left", {"least": 0, "given": "99"}),
        ({"hand": HAND, "seat": "N"}, "not_of_choices", "field_seat", {"choices": "E, S, W", "given": "'N'"}),
        ({}, "hand_missing", "field_hand", {}),
    ],
)  # fmt: skip
def test_faults_of_positions_have_codes(keys: Any, code: str, field: str, values: dict[str, Any]) -> None:
    with pytest.raises(PositionError) as caught:
        place(Position.from_json(keys))
    found = coded(line_of(caught.value))
    assert found["code"] == "position"
    assert found["codes"]["field"] == {"code": field, "values": {}}
    assert found["codes"]["problem"]["code"] == code
    assert values.items() <= found["codes"]["problem"]["values"].items()


@pytest.mark.parametrize(
    ("keys", "code", "allowed"),
    [
        ({"name": "\u3164"}, "key_wrong", "name_form"),
        ({"name": "a", "room": "!"}, "key_wrong", "room_form"),
        ({"name": "a", "token": ""}, "key_wrong", "token_form"),
        ({}, "name_missing", "name_form"),
    ],
)
def test_names_rooms_and_tokens_that_cannot_be_have_codes(keys: Any, code: str, allowed: str) -> None:
    with pytest.raises(BadMessage) as caught:
        check_join({"type": "join"} | keys)
    found = coded(line_of(caught.value))
    assert (found["code"], found["codes"]["allowed"]["code"]) == (code, allowed)
