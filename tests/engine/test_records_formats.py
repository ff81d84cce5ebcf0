"""Game records: each format read and written, against real files where they are at hand and small games of our own."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from engine.records import mjai, mjlog, tenhou_json
from engine.records.files import RecordError, find_records, read_records, write_record
from engine.records.model import GameRecord, make
from engine.records.tenhou_flow import Row, interleave
from engine.records.tenhou_rounds import place_indicators
from engine.rules import MAJSOUL, TENHOU

# Rounds and the final scores as Tenhou (or Mahjong Soul) shows them.
REAL_GAMES = {
    "2014091101gm-00b9-0000-5ca6b487.xml": (11, [59200, 22800, 23000]),
    "2018110809gm-00b9-0000-00a79b89.xml": (3, [48100, -6400, 63300]),
    "2020010100gm-00b9-0000-7a6863a8.mjson": (9, [69100, -7800, 43700]),
    "2021010217gm-00b9-0000-3eb2e915.json": (12, [31900, 47200, 25900]),
    "2024010120gm-00b9-0000-e324b88a.json": (8, [75700, 6800, 22500]),
    "2024123123gm-00b9-0000-09c44fd1.json": (10, [59800, 33000, 12200]),
    "2025020203gm-00b9-0000-bea67528.json": (10, [83300, 11900, 9800]),
    "2025020501gm-00b9-0000-2c6f867d.json": (7, [38800, 41300, 24900]),
    "2025021522gm-00b9-0000-b5a02c99.json": (7, [38700, 7800, 58500]),
    "2025040519gm-00b9-0000-5f46d99c.json": (11, [-2500, 83600, 23900]),
    "2025060717gm-00b9-0000-5fafbe59.json": (12, [85600, 1400, 18000]),
    "majsoul_chankan.json": (3, [20200, 25800, 59000]),
    "majsoul_kokushi_ankan.json": (1, [83000, -13000, 35000]),
    "majsoul_kan3_nuki_rinshan.json": (9, [29600, 28900, 46500]),
    "majsoul_kan3_nuki_rinshan.libriichi3p.mjson": (9, [29600, 28900, 46500]),
}

HANDS = [
    ["9m", "9m", "9m", "1p", "5p", "5p", "7p", "8p", "P", "P", "F", "F", "C"],
    ["1p", "4p", "9p", "2s", "5s", "5s", "5sr", "5s", "W", "W", "N", "N", "S"],
    ["9m", "5pr", "6p", "1s", "1s", "2s", "3s", "4s", "6s", "7s", "C", "C", "C"],
]


def start(kyoku: int, honba: int, kyotaku: int, scores: list[int], bakaze: str = "E") -> dict[str, Any]:
    return make(
        "start_kyoku", bakaze=bakaze, kyoku=kyoku, honba=honba, kyotaku=kyotaku, oya=kyoku - 1, dora_marker="9s",
        scores=scores, tehais=HANDS,
    )  # fmt: skip


def tsumo(actor: int, pai: str) -> dict[str, Any]:
    return make("tsumo", actor=actor, pai=pai)


def dahai(actor: int, pai: str, tsumogiri: bool = True) -> dict[str, Any]:
    return make("dahai", actor=actor, pai=pai, tsumogiri=tsumogiri)


FANPAI = [make("ryukyoku", reason="fanpai", deltas=[0, 0, 0]), make("end_kyoku")]


def game(*events: dict[str, Any]) -> GameRecord:
    """A Tenhou hanchan of the given rounds."""
    first = make("start_game", names=["東子", "b", "c"], rules="tenhou", length="hanchan")
    return GameRecord([first, *events, make("end_game")], TENHOU, "own")


def busy_game() -> GameRecord:
    """Every kind of call, a double ron with liability, and every kind of draw."""
    reached, won, first = [35000, 35000, 34000], [35000, 27000, 43000], [83000, 3000, 19000]
    after_fanpai, after_nagashi = [84000, 2000, 19000], [92000, -2000, 15000]
    winds = [["jikaze", 1], ["bakaze", 1], ["dora", 2]]
    record = game(
        start(1, 0, 0, [35000] * 3),
        tsumo(0, "5pr"), make("nukidora", actor=0, pai="N"), tsumo(0, "W"), dahai(0, "W"),
        make("pon", actor=1, target=0, pai="W", consumed=["W", "W"]), dahai(1, "9p", tsumogiri=False),
        tsumo(2, "1s"), make("reach", actor=2), dahai(2, "9m", tsumogiri=False),
        make("reach_accepted", actor=2, deltas=[0, 0, -1000], scores=reached),
        make("daiminkan", actor=0, target=2, pai="9m", consumed=["9m", "9m", "9m"]), tsumo(0, "5s"),
        make("dora", dora_marker="1p"), dahai(0, "5p", tsumogiri=False),
        tsumo(1, "W"), make("kakan", actor=1, pai="W", consumed=["W", "W", "W"]), tsumo(1, "3p"),
        make("ankan", actor=1, consumed=["5s", "5s", "5s", "5sr"]), make("dora", dora_marker="2p"),
        make("dora", dora_marker="3p"), tsumo(1, "7p"), dahai(1, "7p"),
        make("hora", actor=2, target=1, pai="7p", uradora_markers=["4p", "1p"],
             yakus=[["reach", 1], ["sangenpai", 1], ["dora", 2]], fan=4, hora_points=8000, deltas=[0, -8000, 9000],
             scores=won),
        make("hora", actor=0, target=1, pai="7p", uradora_markers=[], yakus=[["daisangen", 13]], fan=13,
             hora_points=48000, pao=2, deltas=[48000, -24000, -24000], scores=first),
        make("end_kyoku"),
        start(1, 1, 0, first), tsumo(0, "1s"),
        make("ryukyoku", reason="kyushukyuhai", deltas=[0, 0, 0], scores=first), make("end_kyoku"),
        start(1, 2, 0, first), tsumo(0, "1s"), dahai(0, "1s"),
        make("ryukyoku", reason="fanpai", tenpais=[True] * 3, deltas=[0, 0, 0], scores=first), make("end_kyoku"),
        start(1, 3, 0, first), tsumo(0, "1s"), dahai(0, "1s"),
        make("ryukyoku", reason="fanpai", tenpais=[True, False, True], deltas=[1000, -2000, 1000],
             scores=[84000, 1000, 20000]), make("end_kyoku"),
        start(1, 4, 0, after_fanpai), tsumo(0, "1s"), dahai(0, "1s"),
        make("ryukyoku", reason="nagashimangan", deltas=[8000, -4000, -4000], scores=after_nagashi), make("end_kyoku"),
        start(1, 5, 0, after_nagashi, "S"), tsumo(0, "1s"), dahai(0, "1s"),
        make("ryukyoku", reason="sukaikan", deltas=[0, 0, 0], scores=after_nagashi), make("end_kyoku"),
        start(2, 6, 0, after_nagashi, "S"), tsumo(1, "1s"),
        make("hora", actor=1, target=1, pai="1s", uradora_markers=[], yakus=winds, fu=30, fan=4, hora_points=7800,
             deltas=[-4500, 9000, -4500], scores=[87500, 7000, 10500]), make("end_kyoku"),
    )  # fmt: skip
    record.events[-1] = make("end_game", scores=[87500, 7000, 10500], points=[82.5, -53.0, -29.5])
    return record


def without(events: list[dict[str, Any]], *keys: str) -> list[dict[str, Any]]:
    return [{key: value for key, value in event.items() if key not in keys} for event in events]


# --- real files ---


@pytest.mark.parametrize("name", REAL_GAMES)
def test_real_game_reads_whole(name: str, records_dir: Path) -> None:
    record = read_records(records_dir / name)
    rounds, scores = REAL_GAMES[name]
    assert len(record.rounds()) == rounds
    assert record.events[-2]["type"] == "end_kyoku"
    assert record.events[-3]["scores"] == record.events[-1].get("scores", scores) == scores
    for before, after in zip(record.rounds(), record.rounds()[1:], strict=False):
        assert before[-2]["scores"] == after[0]["scores"]


@pytest.mark.parametrize("name", REAL_GAMES)
def test_real_game_survives_mjai_and_what_tenhou_json_carries(name: str, records_dir: Path) -> None:
    record = read_records(records_dir / name)
    text = mjai.write(record)
    again = mjai.read(text, name)
    assert again.events == record.events
    assert mjai.write(again) == text
    through = tenhou_json.read(tenhou_json.write(record), name)
    lost = {"uri", "aka_flag", "kyoku_first", "rules", "length", "hora_tehais", "tehais", "tenpais", "fu"}
    hands = [event["tehais"] for event in record.events if event["type"] == "start_kyoku"]
    assert [event["tehais"] for event in through.events if event["type"] == "start_kyoku"] == hands
    assert without(through.events[:-1], *lost) == without(record.events[:-1], *lost)


@pytest.mark.parametrize("name", [name for name in REAL_GAMES if name.startswith("20") and name.endswith(".json")])
def test_tenhou_json_is_written_as_tenhou_writes_it(name: str, records_dir: Path) -> None:
    original = json.loads((records_dir / name).read_text(encoding="utf-8"))
    written = json.loads(tenhou_json.write(read_records(records_dir / name)))
    for log in [*original["log"], *written["log"]]:
        for win in log[-1][2::2]:
            win[4:] = sorted(win[4:])  # two dragons come in either order
    assert written["log"] == original["log"]
    assert (written["sc"], written["name"]) == (original["sc"], original["name"])


def test_one_game_agrees_in_tenhou_json_and_libriichi_mjai(records_dir: Path) -> None:
    ours, theirs = (
        read_records(records_dir / f"majsoul_kan3_nuki_rinshan{ending}").events
        for ending in (".json", ".libriichi3p.mjson")
    )
    told_by_one = ("rules", "length", "aka_flag", "kyoku_first", "yakus", "fu", "fan", "hora_points")
    assert without(ours, *told_by_one) == without(theirs, *told_by_one)


def test_details_of_real_games(records_dir: Path) -> None:
    old = read_records(records_dir / "2014091101gm-00b9-0000-5ca6b487.xml")
    assert old.rules == TENHOU
    assert old.events[-1]["points"] == [54.0, -37.0, -17.0]
    first_win = next(event for event in old.events if event["type"] == "hora")
    assert first_win["hora_tehais"][:4] == ["4p", "5pr", "8p", "8p"]
    assert first_win["yakus"] == [["reach", 1], ["menzenchin_tsumoho", 1], ["dora", 2], ["akadora", 2]]
    types = [event["type"] for event in old.events]
    at = types.index("daiminkan")
    assert types[at + 1 : at + 4] == ["tsumo", "dora", "dahai"]
    assert read_records(records_dir / "majsoul_chankan.json").rules == MAJSOUL.with_length("east")
    robbed, win = read_records(records_dir / "majsoul_kokushi_ankan.json").events[-4:-2]
    assert robbed["type"] == "ankan"
    assert win["pai"] in robbed["consumed"]


# --- mjai ---


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
        {"type": "kita", "actor": 0, "ext_bot": {"prob": 1}},
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
    record = mjai.read("\n".join(json.dumps(line) for line in lines), "liberal")
    events = {event["type"]: event for event in record.events}
    assert record.rules is not None
    assert (record.rules.name, record.rules.length, record.rules.red_fives) == ("majsoul", "east", False)
    assert events["start_game"]["names"] == ["a", "b", "c"]
    assert "id" not in events["start_game"]
    assert events["start_kyoku"]["tehais"] == HANDS
    assert events["nukidora"] == {"type": "nukidora", "actor": 0, "pai": "N", "ext_bot": {"prob": 1}}
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


def test_a_robbed_ankan_is_the_tile_won() -> None:
    call = make("ankan", actor=0, consumed=["F", "F", "F", "F"])
    record = game(start(1, 0, 0, [35000] * 3), tsumo(0, "1s"), call, make("hora", actor=1, target=0), make("end_kyoku"))
    assert mjai.read(mjai.write(record), "own").events[4]["pai"] == "F"


# --- mjlog ---

MJLOG_HEAD = '<GO type="185" lobby="0"/><UN n0="%E6%9D%B1" n1="b" n2="c" n3="" dan="1,1,1,0"/><TAIKYOKU oya="0"/>'
MJLOG_INIT = (
    '<INIT seed="4,1,2,0,3,52" ten="340,350,340,0" oya="0" hai0="0,32,36,52,72,88,108,112,116,120,124,128,132" '
    'hai1="1,33,37,53,73,89,109,113,117,121,125,129,133" hai2="2,34,38,54,74,90,110,114,118,122,126,130,134" hai3=""/>'
)
OWARI = 'owari="500,25.0,300,-10.0,250,-15.0,0,0"'


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
        (2, 26883, {"type": "daiminkan", "actor": 2, "target": 1, "pai": "9s", "consumed": ["9s", "9s", "9s"]}),
        (1, 21504, {"type": "ankan", "actor": 1, "consumed": ["4s", "4s", "4s", "4s"]}),
        (0, 22528, {"type": "ankan", "actor": 0, "consumed": ["5s", "5s", "5s", "5sr"]}),
    ],
)
def test_mjlog_meld_codes(who: int, code: int, expected: dict[str, Any]) -> None:
    assert mjlog.meld(who, code) == expected


def test_mjlog_double_ron_with_liability() -> None:
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
def test_mjlog_draws(attributes: str, reason: str, tenpais: list[bool]) -> None:
    # seat 2 has called once before
    sc = 'sc="340,10,350,-20,340,10,0,0"'
    events = from_mjlog(f'<T40/><D55/><N who="2" m="20586"/><F2/><RYUUKYOKU {attributes} ba="1,2" {sc} {OWARI}/>')
    draw = events[-3]
    assert (draw["reason"], draw["tenpais"], draw["scores"]) == (reason, tenpais, [35000, 33000, 35000])
    assert draw["tehais"][2] == ["?"] * 10
    assert ("5pr" in draw["tehais"][1]) == tenpais[1]


def test_mjlog_game_types() -> None:
    def rules(go_type: int) -> Any:
        head = MJLOG_HEAD.replace("185", str(go_type))
        result = f'<RYUUKYOKU sc="340,0,350,0,340,0,0,0" {OWARI}/>'
        return mjlog.read(f"<mjloggm>{head}{MJLOG_INIT}{result}</mjloggm>", "own").rules

    assert rules(0x10 | 0x08) == TENHOU
    assert rules(0x10) == TENHOU.with_length("east")
    assert rules(0x10 | 0x08 | 0x02).red_fives is False
    assert rules(0x10 | 0x08 | 0x04) is None  # no open tanyao
    with pytest.raises(RecordError, match="no three-player game"):
        rules(0x08)


# --- tenhou.net/6 ---


def test_tenhou_json_carries_every_call_and_result() -> None:
    record = busy_game()
    text = tenhou_json.write(record)
    again = tenhou_json.read(text, "own")
    assert again.events == record.events
    assert again.rules == TENHOU
    first = json.loads(text)["log"][0]
    assert first[2:4] == [[39, 21, 22, 23], [24, 21]]
    assert first[5:7] == [[52, 43, "19m191919", 35], ["f44", 60, 0, 25]]
    assert first[8:10] == [["p434343", 43, 23, 27], [29, "k43434343", "353535a53", 60]]
    assert first[11:13] == [[31], ["r19"]]
    assert first[-1] == [
        "和了",
        [0, -8000, 9000, 0], [2, 1, 2, "満貫8000点", "立直(1飜)", "役牌 中(1飜)", "ドラ(2飜)"],
        [48000, -24000, -24000, 0], [0, 1, 2, "役満48000点", "大三元(役満)"],
    ]  # fmt: skip
    results = [log[-1] for log in json.loads(text)["log"][1:]]
    assert results[:5] == [
        ["九種九牌"], ["全員聴牌"], ["流局", [1000, -2000, 1000, 0]], ["流し満貫", [8000, -4000, -4000, 0]],
        ["四槓散了"],
    ]  # fmt: skip
    assert results[5][2][3:] == ["30符4飜3900点∀", "自風 東(1飜)", "場風 南(1飜)", "ドラ(2飜)"]


@pytest.mark.parametrize(
    ("actor", "target", "points", "fan", "yaku", "text"),
    [
        (1, 0, 2000, 2, "tanyaochu", "30符2飜2000点"),
        (1, 0, 7700, 4, "tanyaochu", "30符4飜7700点"),
        (0, 1, 11600, 4, "tanyaochu", "30符4飜11600点"),
        (1, 0, 8000, 5, "tanyaochu", "満貫8000点"),
        (1, 1, 1500, 2, "tanyaochu", "30符2飜500-1000点"),
        (1, 1, 5900, 4, "tanyaochu", "30符4飜2000-3900点"),
        (1, 1, 6000, 5, "tanyaochu", "満貫2000-4000点"),
        (0, 0, 7800, 4, "tanyaochu", "30符4飜3900点∀"),
        (0, 0, 12000, 6, "tanyaochu", "跳満6000点∀"),
        (0, 2, 24000, 8, "tanyaochu", "倍満24000点"),
        (1, 1, 18000, 11, "tanyaochu", "三倍満6000-12000点"),
        (1, 0, 32000, 13, "dora", "数え役満32000点"),
        (1, 1, 24000, 13, "kokushimuso", "役満8000-16000点"),
    ],
)
def test_points_are_worded_and_read_back(actor: int, target: int, points: int, fan: int, yaku: str, text: str) -> None:
    win = make(
        "hora", actor=actor, target=target, yakus=[[yaku, fan]], fu=30, fan=fan, hora_points=points, deltas=[0, 0, 0]
    )
    written = tenhou_json.write(game(start(1, 0, 0, [35000] * 3), tsumo(0, "1s"), win, make("end_kyoku")))
    assert json.loads(written)["log"][0][-1][2][3] == text
    read = tenhou_json.read(written, "own").events[-3]
    assert (read["hora_points"], read["fan"], read.get("fu")) == (points, fan, 30 if "符" in text else None)


def test_a_pon_that_fits_two_discards_goes_where_the_rows_come_out_even() -> None:
    # seat 0 discards E twice; seat 2 lets the first pass, though its next draw is a pon of E
    draws: list[Row] = [[32, "2121p21"], [22], ["41p4141"]]
    discards: list[Row] = [[41, 41], [21], [31]]
    order = [(event["type"], event["actor"]) for event in interleave(0, draws, discards)]
    assert order == [
        ("tsumo", 0), ("dahai", 0), ("tsumo", 1), ("dahai", 1), ("pon", 0), ("dahai", 0), ("pon", 2), ("dahai", 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("played", "n_markers", "placed"),
    [
        ("ankan tsumo dahai", 1, "ankan dora tsumo dahai"),
        ("kakan tsumo dahai tsumo", 1, "kakan tsumo dora dahai tsumo"),
        ("daiminkan tsumo reach dahai", 1, "daiminkan tsumo reach dora dahai"),
        ("kakan tsumo", 0, "kakan tsumo"),  # won on the replacement
        ("kakan", 0, "kakan"),  # robbed
        ("kakan tsumo nukidora tsumo dahai", 1, "kakan tsumo nukidora dora tsumo dahai"),
        ("daiminkan tsumo kakan tsumo dahai", 2, "daiminkan tsumo kakan dora tsumo dora dahai"),
        ("daiminkan tsumo ankan tsumo dahai", 2, "daiminkan tsumo ankan dora dora tsumo dahai"),
        ("kakan tsumo", 1, "kakan tsumo dora"),  # more than the kans give: at the end
    ],
)
def test_indicators_are_turned_when_tenhou_turns_them(played: str, n_markers: int, placed: str) -> None:
    events = place_indicators([{"type": kind} for kind in played.split()], ["1p", "2p"][:n_markers])
    assert " ".join(event["type"] for event in events) == placed
    assert [event["dora_marker"] for event in events if event["type"] == "dora"] == ["1p", "2p"][:n_markers]


def test_riichi_stick_is_not_paid_when_the_discard_is_won() -> None:
    document = json.loads(tenhou_json.write(busy_game()))
    log = document["log"][2]
    log[6] = ["r60"]
    log[-1] = ["和了", [-1000, 1000, 0, 0], [1, 0, 1, "30符1飜1000点", "断幺九(1飜)"]]
    document["log"] = [log]
    events = tenhou_json.read(json.dumps(document), "own").events
    assert [event["type"] for event in events[3:6]] == ["reach", "dahai", "hora"]
    log[-1] = ["全員不聴"]
    events = tenhou_json.read(json.dumps(document), "own").events
    assert [event["type"] for event in events[3:6]] == ["reach", "dahai", "reach_accepted"]
    assert events[6]["tenpais"] == [False] * 3
    assert events[6]["scores"] == [82000, 3000, 19000]


def test_mahjong_soul_names_of_yaku() -> None:
    document = json.loads(tenhou_json.write(busy_game()))
    texts = ["ダブル役満64000点", "役牌:自風牌(1飜)", "裏ドラ(0飜)", "抜きドラ(2飜)", "大四喜(ダブル役満)"]
    document["log"] = [document["log"][2]]
    document["log"][0][-1] = ["和了", [64000, -64000, 0, 0], [0, 1, 0, *texts]]
    document["rule"] = {"disp": "三玉の間南赤", "aka51": 0, "aka52": 1, "aka53": 1}
    record = tenhou_json.read(json.dumps(document), "own")
    assert record.rules == MAJSOUL
    win = record.events[-3]
    assert win["yakus"] == [["jikaze", 1], ["nukidora", 2], ["daisushi", 26]]
    assert win["hora_points"] == 64000


@pytest.mark.parametrize(
    ("display", "index", "delta", "length"),
    [
        ("三玉の間東喰赤", 0, 0, "east"),
        ("三玉の間南喰赤", 2, 0, "hanchan"),
        ("三玉の間赤", 0, 0, "hanchan"),
        ("三玉の間赤", 2, 0, "east"),  # only East-only games end there
        ("三玉の間赤", 2, -90000, "hanchan"),  # unless somebody fell below zero
    ],
)
def test_length_of_a_mahjong_soul_game(display: str, index: int, delta: int, length: str) -> None:
    document = json.loads(tenhou_json.write(game(start(1, 0, 0, [35000] * 3), tsumo(0, "1s"), *FANPAI)))
    document["rule"] = {"disp": display}
    document["log"][0][0][0] = index
    document["log"][0][5], document["log"][0][5 + 3 * index] = [], [31]  # the dealer draws
    document["log"][0][-1] = ["流局", [-delta, delta, 0, 0]]
    rules = tenhou_json.read(json.dumps(document), "own").rules
    assert rules is not None
    assert (rules.name, rules.length) == ("majsoul", length)


def test_tsumogiri_of_another_tile_than_the_drawn_is_written_as_that_tile() -> None:
    record = game(start(1, 0, 0, [35000] * 3), tsumo(0, "1s"), dahai(0, "F", tsumogiri=True), *FANPAI)
    assert json.loads(tenhou_json.write(record))["log"][0][6] == [46]


# --- files ---


@pytest.mark.parametrize("name", ["a.mjson", "a.mjson.gz", "a.jsonl", "a.json", "a.json.gz"])
def test_written_files_read_back_and_repeat_byte_for_byte(name: str, tmp_path: Path) -> None:
    write_record(busy_game(), tmp_path / name)
    data = (tmp_path / name).read_bytes()
    write_record(busy_game(), tmp_path / name)
    assert (tmp_path / name).read_bytes() == data
    assert data.startswith(b"\x1f\x8b") == name.endswith(".gz")
    assert data[4:8] == bytes(4) or not name.endswith(".gz")  # no time of writing
    record = read_records(tmp_path / name)
    assert record.events == busy_game().events
    assert record.source == name


def test_content_decides_the_format_not_the_name(tmp_path: Path) -> None:
    body = f'<mjloggm>{MJLOG_HEAD}{MJLOG_INIT}<RYUUKYOKU sc="340,0,350,0,340,0,0,0" {OWARI}/></mjloggm>'
    (tmp_path / "log.json").write_bytes(gzip.compress(body.encode()))
    assert read_records(tmp_path / "log.json").rounds()[0][0]["bakaze"] == "S"
    with pytest.raises(ValueError, match=r"a\.txt: records are written as \.json"):
        write_record(busy_game(), tmp_path / "a.txt")


def test_find_records_walks_folders(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("b.xml", "a.mjson.gz", "note.txt", "sub/c.json", "sub/d.mjlog"):
        (tmp_path / name).touch()
    found = find_records([tmp_path, tmp_path / "b.xml", tmp_path / "note.txt"])
    assert [path.name for path in found] == ["a.mjson.gz", "b.xml", "note.txt", "c.json", "d.mjlog"]
    with pytest.raises(FileNotFoundError, match="missing"):
        find_records([tmp_path / "missing"])


MJAI_TEXT = mjai.write(busy_game())
JSON_TEXT = tenhou_json.write(busy_game())
MJLOG_TEXT = f"<mjloggm>{MJLOG_HEAD}{MJLOG_INIT}<T40/></mjloggm>"


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        (MJAI_TEXT[:-40], "line 56", "not JSON at column"),
        (MJAI_TEXT.replace('"dora_marker":"1p"', '"dora_marker":"2m"'), "line 15", "no tile '2m'"),
        (MJAI_TEXT.replace('"type":"ankan"', '"type":"chi"'), "line 20", "unknown event type 'chi'"),
        (MJAI_TEXT.replace('"kakan","actor":1', '"kakan","actor":3'), "line 18", "three seats"),
        ("\n".join(MJAI_TEXT.splitlines()[:12]), "line 12", "ends without end_game"),
        (MJAI_TEXT.split("\n", 1)[1], "line 1", "begins with start_game"),
        (MJAI_TEXT + MJAI_TEXT, "line 57", "one game"),
        (MJAI_TEXT.replace("tenhou", "house"), "line 1", "unknown rules 'house'"),
        (JSON_TEXT[: len(JSON_TEXT) // 2], "line 1 column", "not whole JSON"),
        (JSON_TEXT.replace('"p434343"', '"p434347"', 1), r"log\[0\] \(E1 honba 0\)", "different kinds"),
        (JSON_TEXT.replace('"p434343"', '"p444444"', 1), r"log\[0\] \(E1 honba 0\)", "do not fit together"),
        (JSON_TEXT.replace("[29,", "[60,", 1), r"log\[0\] \(E1 honba 0\)", "do not fit together"),  # nothing was drawn
        (JSON_TEXT.replace('"19m191919"', '"1919c1919"', 1), r"log\[0\] \(E1 honba 0\)", "no call three players"),
        (JSON_TEXT.replace("大三元", "大三風"), r"log\[0\]", "unknown yaku '大三風'"),
        (JSON_TEXT.replace("[[6,4", "[[3,4").replace("[[4,5", "[[3,5"), r"log\[5\]", "round index 3"),
        (JSON_TEXT.replace('"c",""', '"c","d"'), "head", "four players"),
        ('{"title":["",""]}', "head", 'no "log"'),
        (MJLOG_TEXT[:-30], "line 1 column", "not whole XML"),
        (MJLOG_TEXT, "tag 5", "ends before the game does"),
        (MJLOG_TEXT.replace("<T40/>", "<T40/><W41/>"), r"tag 6 <W41> in S1 honba 1", "only three-player"),
        (MJLOG_TEXT.replace("<T40/>", "<AGARI who='0'/>"), r"tag 5 <AGARI> in S1 honba 1", "garbled or incomplete"),
        (MJLOG_TEXT.replace("<T40/>", MJLOG_INIT), "tag 5 <INIT> in S1 honba 1", "has a result"),
        ("hello", "beginning", "no game record"),
        ("", "beginning", "no game record"),
    ],
)
def test_damaged_records_name_the_file_and_place(text: str, place: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecordError, match=rf"^damaged: {place}.*: .*{what}") as caught:
        read_records(path)
    assert "\n" not in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # as worker processes hand it on


def test_damaged_gzip_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "cut.mjson.gz"
    path.write_bytes(gzip.compress(MJAI_TEXT.encode())[:-20])
    with pytest.raises(RecordError, match=r"^cut\.mjson\.gz: gzip: .*damaged"):
        read_records(path)


def test_hidden_hands_cannot_be_written_as_tenhou_json() -> None:
    record = busy_game()
    record.events[1] = record.events[1] | {"tehais": [["?"] * 13] * 3}
    with pytest.raises(RecordError, match="own: E1 honba 0: hidden tiles"):
        tenhou_json.write(record)
