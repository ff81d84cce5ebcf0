"""Records as others write them: converters of Mahjong Soul, tournament lobbies, jansou; and rules of one's own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main
from engine.mjai.messages import make
from engine.records import mjai, mjlog, tenhou_json
from engine.records.files import read_records, write_record
from engine.records.filters import Filters
from engine.records.model import GameRecord, RecordError
from engine.records.replay import Replay
from engine.rules import MAJSOUL, TENHOU, Rules
from tests.support.handmade_records import FANPAI, MJLOG_HEAD, MJLOG_INIT, OWARI, dahai, game, played, start, tsumo

UUID = "260101-01234567-89ab-cdef-0123-456789abcdef"


def document(**keys: Any) -> dict[str, Any]:
    """A tenhou.net/6 record of one round, with other keys."""
    record = game(start(1, 0, 0, [35000] * 3), tsumo(0, "1s"), dahai(0, "1s"), *FANPAI)
    return json.loads(tenhou_json.write(record)) | keys


def read(changed: dict[str, Any]) -> GameRecord:
    return tenhou_json.read(json.dumps(changed), "own")


# Mahjong Soul's games, as converters write them


@pytest.mark.parametrize(
    ("display", "ref", "rules", "room"),
    [
        ("三友人戦南喰赤", "", MAJSOUL, None),
        ("三大会戦東喰赤", "", MAJSOUL.with_length("east"), None),
        ("三特別対局南喰赤", "", MAJSOUL, None),
        ("三南喰赤", UUID, MAJSOUL, None),
        ("Jade Room South Red Fives", UUID, MAJSOUL, "jade"),
        ("Friendly East No Red Fives", "", replace(MAJSOUL.with_length("east"), red_fives=False), None),
        ("三特南喰赤", UUID, TENHOU, "expert"),
        ("三鳳東喰", "2026010100gm-00b1-0000-01234567", replace(TENHOU, length="east", red_fives=False), "phoenix"),
        ("三玉の間南赤", UUID, MAJSOUL, "jade"),
        ("三般東", "", replace(TENHOU, length="east", red_fives=False), None),
    ],
)
def test_rules_are_those_of_the_room(display: str, ref: str, rules: Rules, room: str | None) -> None:
    record = read(document(rule={"disp": display}, ref=ref, ratingc="PF3"))
    assert record.rules == rules
    rooms = [name for name in ("expert", "phoenix", "jade") if Filters(room=name).admits(record)]
    assert rooms == ([] if room is None else [room])


@pytest.mark.parametrize("suffix", [".json", ".mjson"])
def test_rules_given_by_hand_are_kept(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, one, folder = tmp_path / "a.json", tmp_path / ("b" + suffix), tmp_path / "all"
    source.write_text(json.dumps(document(rule={"disp": "三般南喰赤"})), encoding="utf-8")
    assert read_records(source).rules == TENHOU
    assert main(["convert", str(source), str(one), "--rules", "majsoul"]) == 0
    assert main(["convert", str(source), "--out", str(folder), "--rules", "majsoul", "--format", suffix[1:]]) == 0
    again = tmp_path / "again.json"
    write_record(read_records(one), again)
    assert [read_records(path).rules for path in (one, folder / ("a" + suffix), again)] == [MAJSOUL] * 3
    assert read_records(one).events[0]["names"] == ["東子", "b", "c"]


WINS = [
    (
        ["Mangan 8000点", "Riichi(1飜)", "All Simples(1飜)", "Kita(3飜)", "Ura Dora(0飜)"],
        {"yakus": [["reach", 1], ["tanyaochu", 1], ["nukidora", 3]], "fan": 5, "hora_points": 8000},
        "",
    ),
    (
        ["30Fu2Han2000Points", "Fully Concealed Hand(1Han)", "Green Dragon(1Han)"],
        {"yakus": [["menzenchin_tsumoho", 1], ["sangenpai", 1]], "fan": 2, "fu": 30, "hora_points": 2000},
        "",
    ),
    (
        ["満貫8000点2枚", "立直(1飜)", "ドラ(3飜)", "裏ドラ(1飜1枚)"],
        {"yakus": [["reach", 1], ["dora", 3], ["uradora", 1]], "fan": 5, "hora_points": 8000},
        "",
    ),
    (
        ["役満16000点∀5枚", "国士無双(役満5枚)"],
        {"yakus": [["kokushimuso", 13]], "fan": 13, "hora_points": 32000},
        "",
    ),
    (
        ["ダブル役満64000点", "役牌:自風牌(1飜)", "裏ドラ(0飜)", "抜きドラ(2飜)", "大四喜(ダブル役満)"],
        {"yakus": [["jikaze", 1], ["nukidora", 2], ["daisushi", 26]], "fan": 29, "hora_points": 64000},
        "",
    ),
    (["8000", "立直(1飜)"], {"yakus": [["reach", 1]], "fan": 1}, "E1 honba 0: '8000' does not give points"),
    (["満貫8000点", "人和(5飜)"], {"yakus": [["renho", 5]], "fan": 5, "hora_points": 8000}, ""),
    (["満貫8000点", "立直(1飜)", "五門斉(4飜)"], {"hora_points": 8000}, "E1 honba 0: unknown yaku 五門斉(4飜)"),
]


@pytest.mark.parametrize(("texts", "told", "note"), WINS, ids=lambda value: value[0] if isinstance(value, list) else "")
def test_texts_of_wins(texts: list[str], told: dict[str, Any], note: str) -> None:
    changed = document()
    changed["log"][0][6] = []
    changed["log"][0][-1] = ["和了", [8000, -8000, 0, 0], [0, 1, 0, *texts]]
    record = read(changed)
    win = next(event for event in record.events if event["type"] == "hora")
    assert {key: win[key] for key in ("yakus", "fan", "fu", "hora_points") if key in win} == told
    assert [line[: len(note)] for line in record.notes] == [note] * bool(note)
    if "yakus" in told and "hora_points" in told:
        assert read(tenhou_json.document_of(record)).rounds() == record.rounds()


def test_titles_of_draws_in_other_languages_and_the_unknown_one() -> None:
    changed = document()
    for title, reason in (
        ("Exhaustive Draw", "fanpai"),
        ("Nine Terminal Abortion", "kyushukyuhai"),
        ("不明", "unknown"),
    ):
        changed["log"][0][-1] = [title]
        record = read(changed)
        assert record.events[-3]["reason"] == reason
        assert read(tenhou_json.document_of(record)).events == record.events


# Tournament lobbies of Tenhou


def lobby(first: str = "00000000", second: str = "00000000", **fields: str) -> dict[str, Any]:
    """The record of a lobby, with a fourth name; `fields`: numbers of csrule by f and their place."""
    rules = [first, second, *[""] * 43]
    for place, value in fields.items():
        rules[int(place[1:])] = value
    listed = ["202601010000", "202601012359", "0019", 0, 0, 0, 0]
    return document(rule=listed, csrule=rules, name=["a", "b", "c", "AI"])


def test_rules_of_a_lobby_are_played_or_named_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (read(lobby()).rules, read(lobby()).notes) == (TENHOU, [])
    assert read(lobby()).events[0]["names"] == ["a", "b", "c"]
    uma = {f"f{21 + 3 * row + place}": ["5", "-15"][place] for row in range(5) for place in range(2)}
    own = read(lobby("40000000", f6="35000", **uma))
    assert (own.rules, own.notes) == (replace(TENHOU, uma=(10, 5, -15), base_points=35000), [])
    odd = lobby("01800000", "00000010", f4="25000")
    odd["rule"][2] = "0211"
    note = (
        "it has rules that are not played here: chips, no tsumo loss, renhou, no kazoe yakuman,"
        " 25000 points at the start"
    )
    assert read(odd).notes == [note]
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(odd), encoding="utf-8")
    main(["validate", str(tmp_path)])
    assert capsys.readouterr().err.count(note) == 1
    odd["csrule"] = ",".join(odd["csrule"])
    assert read(odd).notes == [note]


def test_a_yaku_of_mjlog_that_is_not_played_or_known_costs_no_record() -> None:
    win = (
        '<T40/><D40/><AGARI ba="1,3" hai="1,2,40" machi="40" ten="30,8000,1" yaku="{}" doraHai="52" who="2" '
        f'fromWho="0" sc="330,-80,350,0,340,80,0,0" {OWARI}/>'
    )
    read = [mjlog.read(f"<m>{MJLOG_HEAD}{MJLOG_INIT}{win.format(yaku)}</m>", "own") for yaku in ("36,5", "36,5,99,1")]
    wins = [record.events[-3] for record in read]
    assert wins[0]["yakus"] == [["renho", 5]]
    assert "yakus" not in wins[1]
    assert [record.notes for record in read] == [
        [], ["S1 honba 1: unknown yaku 99; the yaku of this win are not compared"],
    ]  # fmt: skip


def test_a_round_whose_end_is_unknown_is_replayed_as_far_as_it_goes() -> None:
    record = played(3)
    rounds = record.rounds()
    cut = next(events for events in rounds if len(events) > 30)
    at = record.events.index(cut[0])
    unknown = [*cut[:20], make("ryukyoku", reason="unknown"), make("end_kyoku")]
    known = Replay(record)
    assert known.check() == []
    replay = Replay(replace(record, events=[*record.events[:at], *unknown, *record.events[at + len(cut) :]]))
    assert replay.check() == []
    assert replay.n_rounds == known.n_rounds
    assert 0 < known.n_decisions - replay.n_decisions < len(cut)


# jansou


JANSOU_RULES = {"player_count": 3, "game_length": "E", "aka_dora": False, "kokushi_ankan_chankan": True, "kuitan": True}


def test_mjai_of_jansou_is_read() -> None:
    first = {"type": "start_game", "names": ["a", "b", "c"], "preset": None}
    draws: list[dict[str, Any]] = [
        {"type": "ryukyoku", "reason": "yao9", "deltas": [], "tehais": [None, None, None]},
        {"type": "ryukyoku", "reason": "kan4", "deltas": [], "tehais": [None, None, None]},
        {"type": "ryukyoku", "reason": "nm", "deltas": [8000, -4000, -4000], "tehais": [[], None, None]},
        {"type": "ryukyoku", "reason": "exhaustive", "deltas": [-1000, 2000, -1000], "tehais": [None, [], None]},
    ]
    messages = [first | {"rules": JANSOU_RULES | {"kuitan": False, "honba_value": 0}}]
    for draw in draws:
        messages += [start(1, 0, 0, [35000] * 3), tsumo(0, "1s"), draw, make("end_kyoku")]
    messages.append({"type": "end_game", "scores": [35000] * 3})
    record = mjai.read("\n".join(map(json.dumps, messages)), "own")
    assert record.rules == replace(TENHOU, length="east", red_fives=False, kokushi_robs_ankan=True)
    assert record.notes == ["it has rules that are not played here: kuitan False, honba_value 0"]
    read = [event for event in record.events if event["type"] == "ryukyoku"]
    assert [event["reason"] for event in read] == ["kyushukyuhai", "sukaikan", "nagashimangan", "fanpai"]
    assert [event["deltas"] for event in read[:2]] == [[0, 0, 0]] * 2
    assert [event.get("tenpais") for event in read] == [None, None, None, [False, True, False]]
    assert not any("tehais" in event for event in read)
    messages[0] |= {"preset": "mahjong-soul-3p", "rules": {"game_length": "S", "kokushi_ankan_chankan": True}}
    assert mjai.read("\n".join(map(json.dumps, messages)), "own").rules == MAJSOUL


def test_a_call_that_names_another_discarder_contradicts_the_discard() -> None:
    record = played(1)
    number = next(index for index, event in enumerate(record.events) if event["type"] == "pon")
    call = record.events[number]
    record.events[number] = call | {"target": 3 - call["actor"] - call["target"]}
    replay = Replay(record)
    assert replay.check() == []
    assert f"pon target {3 - call['actor'] - call['target']}, but the tile is" in str(replay.contradictions[0])


# Replay


def test_the_first_discard_of_a_dealer_in_mahjong_soul_is_one_from_the_hand() -> None:
    found = 0
    for seed in range(20):
        record = played(seed, MAJSOUL)
        for index, event in enumerate(record.events[:-2]):
            drawn, discard = record.events[index + 1 : index + 3]
            if event["type"] != "start_kyoku" or discard.get("tsumogiri") is not True:
                continue
            if drawn["pai"] in event["tehais"][event["oya"]]:
                continue  # then it can be another tile, and is legal everywhere
            found += 1
            record.events[index + 2] = discard | {"tsumogiri": False}
            assert Replay(record).check() == []
            assert len(Replay(record, TENHOU).check()) >= 1
        if found:
            break
    assert found


def test_the_rules_do_not_name_a_tile_that_the_record_does_not_have() -> None:
    record = played(1)
    record.events = [event for event in record.events if event["type"] != "dora"]
    mismatches = Replay(record).check()
    assert mismatches
    assert {mismatch.rules for mismatch in mismatches} == {"dora, of a tile that the record does not have"}


# Rules of one's own


@pytest.mark.parametrize(
    "rules",
    [
        replace(TENHOU, uma=(10, 0, -10)),
        replace(MAJSOUL, double_yakuman=False, length="east", red_fives=False),
        Rules("house", uma=(5, 0, -5), kokushi_robs_ankan=True),
        Rules("house"),
    ],
    ids=lambda rules: rules.name,
)
def test_rules_of_ones_own_survive_a_record(rules: Rules, tmp_path: Path) -> None:
    record = played(2, rules)
    for name in ("a.mjson", "a.json"):
        write_record(record, tmp_path / name)
        again = read_records(tmp_path / name)
        assert again.rules == rules
        assert again.events[0] == record.events[0]
        assert [str(each) for each in Replay(again).check()] == []
    if rules.uma != TENHOU.uma:
        again.rules = None
        assert Replay(again, TENHOU if rules.base_points == TENHOU.base_points else MAJSOUL).check() != []


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ('"rules":"house"', "unknown rules 'house'"),
        ('"rules":["tenhou"]', r"rules \['tenhou'\]: expected one of tenhou, majsoul"),
        ('"rules":"tenhou","switches":{"umas":[1,0,-1]}', "there is no switch 'umas': choose from kokushi_robs_ankan"),
        ('"rules":"tenhou","switches":{"uma":[1,0]}', r"switch uma \[1, 0\]: expected a value like \(20, 0, -20\)"),
        ('"rules":"tenhou","switches":{"double_yakuman":1}', "switch double_yakuman 1: expected a value like False"),
        ('"rules":"tenhou","switches":3', "switches must be an object"),
    ],
)
def test_rules_that_cannot_be_read_are_refused_in_one_line(keys: str, what: str) -> None:
    text = mjai.write(played(2)).replace('"rules":"tenhou"', keys, 1)
    with pytest.raises(RecordError, match=f"line 1: {what}"):
        mjai.read(text, "own")
