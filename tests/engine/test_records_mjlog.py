"""Tenhou mjlog."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from engine.records import mjlog, mjlog_writing, tenhou_json
from engine.records.files import RecordError
from engine.records.replay import Replay
from engine.records.tenhou_rules import rules_of_type, type_of
from engine.rules import TENHOU
from tests.support.handmade_records import MJLOG_HEAD, MJLOG_INIT, OWARI, played


def from_mjlog(body: str) -> list[dict[str, Any]]:
    text = f'<mjloggm ver="2.3">{MJLOG_HEAD}{MJLOG_INIT}{body}</mjloggm>'
    return mjlog.read(text, "own.xml").events


@pytest.mark.parametrize(
    ("who", "code", "expected"),
    [
        (0, 31264, {"type": "nukidora", "actor": 0, "pai": "N"}),
        (1, 20586 + 1, {"type": "pon", "actor": 1, "target": 0, "pai": "5p", "consumed": ["5p", "5pr"]}),
        (2, 20584 + 2, {"type": "pon", "actor": 2, "target": 0, "pai": "5p", "consumed": ["5p", "5pr"]}),
        (1, 20592 + 3, {"type": "kakan", "actor": 1, "pai": "5p", "consumed": ["5p", "5p", "5pr"]}),
        (1, 20480 + 16 + 3, {"type": "kakan", "actor": 1, "pai": "5pr", "consumed": ["5p", "5p", "5p"]}),
        (2, 26883, {"type": "daiminkan", "actor": 2, "target": 1, "pai": "9s", "consumed": ["9s", "9s", "9s"]}),
        (1, 21504, {"type": "ankan", "actor": 1, "consumed": ["4s", "4s", "4s", "4s"]}),
        (0, 22528, {"type": "ankan", "actor": 0, "consumed": ["5s", "5s", "5s", "5sr"]}),
    ],
)
def test_mjlog_meld_codes(who: int, code: int, expected: dict[str, Any]) -> None:
    assert mjlog.meld(who, code) == expected
    plain = {"pai": str(expected.get("pai"))[:2], "consumed": [name[:2] for name in expected.get("consumed", [])]}
    without_reds = {key: value for key, value in plain.items() if key in expected}
    assert mjlog.meld(who, code, red_fives=False) == expected | without_reds


def test_mjlog_double_ron_with_pao() -> None:
    events = from_mjlog(
        '<T40/><REACH who="0" step="1"/><D40/><REACH who="0" ten="330,350,340,0" step="2"/><UN n1="b"/><U41/><E41/>'
        '<AGARI ba="1,3" hai="1,2,41" machi="41" ten="30,1000,0" yaku="13,1,53,0" doraHai="52" who="2" fromWho="1" '
        'sc="330,0,350,-42,340,42,0,0"/>'
        '<AGARI ba="0,0" hai="3,41" machi="41" ten="0,48000,5" yakuman="39,42" doraHai="52" doraHaiUra="88" who="0" '
        f'fromWho="1" paoWho="2" sc="330,480,308,-240,382,-240,0,0" {OWARI}/>'
    )
    assert [event["type"] for event in events[2:6]] == ["tsumo", "reach", "dahai", "reach_accepted"]
    assert events[0]["names"] == ["東", "b", "c"]
    first, second = (event for event in events if event["type"] == "hora")
    assert first["yakus"] == [["jikaze", 1]]
    assert first["scores"] == [33000, 30800, 38200]
    assert (first["hora_tehais"], first["pai"], first["uradora_markers"]) == (["1m", "1m"], "2p", [])
    assert second["yakus"] == [["daisangen", 13], ["tsuiso", 13]]
    assert (second["pao"], second["fan"], second["uradora_markers"]) == (2, 26, ["5sr"])
    assert "pao" not in first
    assert [event["type"] for event in events[-3:]] == ["hora", "end_kyoku", "end_game"]
    assert events[-1] == {"type": "end_game", "scores": [50000, 30000, 25000], "points": [25.0, -10.0, -15.0]}


@pytest.mark.parametrize(
    ("attributes", "reason", "tenpais"),
    [
        ('type="yao9" hai0="0,32,36"', "kyushukyuhai", [True, False, False]),
        ('type="nm"', "nagashimangan", [False, False, False]),
        ('type="kan4"', "sukaikan", [False, False, False]),
        ('hai1="52,53"', "fanpai", [False, True, False]),
    ],
)
def test_mjlog_ryukyoku(attributes: str, reason: str, tenpais: list[bool]) -> None:
    # seat 2 has called once before
    sc = 'sc="340,10,350,-20,340,10,0,0"'
    events = from_mjlog(f'<T40/><D55/><N who="2" m="20586"/><F2/><RYUUKYOKU {attributes} ba="1,2" {sc} {OWARI}/>')
    draw = events[-3]
    assert (draw["reason"], draw["tenpais"], draw["scores"]) == (reason, tenpais, [35000, 33000, 35000])
    assert draw["tehais"][2] == ["?"] * 10
    assert ("5pr" in draw["tehais"][1]) == tenpais[1]


@pytest.mark.parametrize(
    ("go_type", "text", "custom"),
    [
        (185, "三鳳南喰赤", ""),
        (0x11 | 0x40, "三般東喰赤速", ""),
        (0x11 | 0x04, "三般東赤", "no open tanyao"),
        (0x11 | 0x06, "三般東", "no open tanyao"),
        (185 | 0x200, "三鳳南喰赤祝2", "chips"),
        (185 | 0x600, "三鳳南喰赤祝5", "chips"),
        (185 | 0x44 | 0x400, "三鳳南赤速祝0", "no open tanyao, chips"),
    ],
)
def test_what_is_not_played_is_a_note_in_every_format(go_type: int, text: str, custom: str) -> None:
    game = mjlog_writing.write(played(1, rules_of_type(go_type)))
    first = mjlog.read(re.sub(r'type="\d+"', f'type="{go_type}"', game, count=1), "own")
    assert first.events[0]["tenhou"]["rule"]["disp"] == text
    notes = [f"it has rules that are not played here: {custom}"] * bool(custom)
    written = mjlog_writing.write(first)
    assert f'<GO type="{go_type}"' in written
    assert Replay(first).check() == []
    for record in (first, mjlog.read(written, "own"), tenhou_json.read(tenhou_json.write(first), "own")):
        assert (record.notes, record.rules, record.events[0]) == (notes, first.rules, first.events[0])


@pytest.mark.parametrize(("text", "chips"), [("祝", 0x200), ("祝５", 0x600), ("", 0)])
def test_chips_as_tenhou_writes_them_elsewhere(text: str, chips: int) -> None:
    assert type_of(TENHOU, {"disp": "三般南喰赤" + text}) == 0x19 | chips


def test_mjlog_game_types() -> None:
    def rules(go_type: int) -> Any:
        head = MJLOG_HEAD.replace("185", str(go_type))
        result = f'<RYUUKYOKU sc="340,0,350,0,340,0,0,0" {OWARI}/>'
        return mjlog.read(f"<mjloggm>{head}{MJLOG_INIT}{result}</mjloggm>", "own").rules

    assert rules(0x10 | 0x08) == TENHOU
    assert rules(0x10) == TENHOU.with_length("east")
    assert rules(0x10 | 0x08 | 0x02).red_fives is False
    assert rules(0x10 | 0x04 | 0x02) == replace(TENHOU, length="east", red_fives=False)
    with pytest.raises(RecordError, match="no three-player game"):
        rules(0x08)
