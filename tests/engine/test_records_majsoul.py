"""Mahjong Soul's own records as JSON. They are made here from games that the engine plays by its rules."""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from ms import protocol_pb2 as protocol

from engine.cli import main
from engine.mjai.messages import Message
from engine.records.files import RecordError, parse_record, read_records, write_record
from engine.records.model import FourPlayersError, GameRecord
from engine.records.replay import Replay
from engine.rules import MAJSOUL
from engine.scoring.yaku import HAKU, YAKU, YAKUMAN_HAN
from tests.support.handmade_records import played

NUMBERS = {yaku.mjai: yaku.number for yaku in reversed(YAKU)}
LETTERS = dict(zip("ESWNPFC", ("1z", "2z", "3z", "4z", "5z", "6z", "7z"), strict=True)) | {"5pr": "0p", "5sr": "0s"}


def theirs(tile: str) -> str:
    return LETTERS.get(tile, tile)


def hule(win: Message, oya: int) -> dict[str, Any]:
    """A win; the zeros that the protobuf leaves out are left out."""
    yiman = win["fan"] >= YAKUMAN_HAN and all(han % YAKUMAN_HAN == 0 for _, han in win["yakus"])
    fans = [
        {"id": NUMBERS[name] if name != "sangenpai" else HAKU, "val": han // YAKUMAN_HAN if yiman else han}
        for name, han in win["yakus"]
    ]
    info = {"hand": list(map(theirs, win["hora_tehais"])), "hu_tile": theirs(win["pai"]), "seat": win["actor"],
            "fans": [*fans, {"id": 33}], "yiman": yiman, "liqi": bool(win["uradora_markers"]),
            "li_doras": list(map(theirs, win["uradora_markers"])), "qinjia": win["actor"] == oya}  # fmt: skip
    if win["actor"] != win["target"]:
        return info | {"point_rong": win["hora_points"]}
    if win["actor"] == oya:
        return info | {"zimo": True, "point_zimo_xian": win["hora_points"] // 2}
    other = -(-win["hora_points"] // 300) * 100
    return info | {"zimo": True, "point_zimo_xian": other, "point_zimo_qin": win["hora_points"] - other}


def records_of(events: list[Message]) -> list[dict[str, Any]]:
    """The records of a round."""
    start, first = events[0], events[1]
    tiles = {f"tiles{seat}": list(map(theirs, hand)) for seat, hand in enumerate(start["tehais"])}
    tiles[f"tiles{start['oya']}"].append(theirs(first["pai"]))
    doras = [theirs(start["dora_marker"])]
    place = {"chang": "ESW".index(start["bakaze"]), "ju": start["oya"], "ben": start["honba"]}
    table = {"liqibang": start["kyotaku"], "scores": start["scores"], "doras": [*doras]}
    found: list[tuple[str, dict[str, Any]]] = [("RecordNewRound", place | table | tiles)]
    reached = False
    for event in events[2:]:
        kind, seat = event["type"], event.get("actor", 0)
        pai = theirs(event.get("pai", "?"))
        if kind == "dora":
            doras.append(theirs(event["dora_marker"]))
        elif kind == "tsumo":
            found.append(("RecordDealTile", {"seat": seat, "tile": pai, "doras": [*doras]}))
        elif kind == "dahai":
            data = {"seat": seat, "tile": pai, "moqie": event["tsumogiri"], "is_liqi": reached, "doras": [*doras]}
            found.append(("RecordDiscardTile", data))
        elif kind in ("pon", "daiminkan"):
            tiles_called = [*map(theirs, event["consumed"]), pai]
            froms = [seat] * len(event["consumed"]) + [event["target"]]
            data = {"seat": seat, "type": 1 + (kind == "daiminkan"), "tiles": tiles_called, "froms": froms}
            found.append(("RecordChiPengGang", data))
        elif kind in ("ankan", "kakan"):
            tile = theirs(event["consumed"][0]) if kind == "ankan" else pai
            found.append(("RecordAnGangAddGang", {"seat": seat, "type": 2 + (kind == "ankan"), "tiles": tile}))
        elif kind == "nukidora":
            found.append(("RecordBaBei", {"seat": seat}))
        elif kind == "ryukyoku" and event["reason"] in ("fanpai", "nagashimangan"):
            players = [{"tingpai": tenpai} for tenpai in event["tenpais"]]
            data = {"players": players, "scores": [{"delta_scores": event["deltas"]}]}
            found.append(("RecordNoTile", data | {"liujumanguan": event["reason"] == "nagashimangan"}))
        elif kind == "ryukyoku":
            found.append(("RecordLiuJu", {"type": 1} if event["reason"] == "kyushukyuhai" else {"type": 3}))
        reached = kind == "reach"
    if wins := [event for event in events if event["type"] == "hora"]:
        deltas = [sum(parts) for parts in zip(*(win["deltas"] for win in wins), strict=True)]
        old = [score - delta for score, delta in zip(wins[-1]["scores"], deltas, strict=True)]
        found.append(("RecordHule", {"hules": [hule(win, start["oya"]) for win in wins],
                                     "old_scores": old, "delta_scores": deltas}))  # fmt: skip
    return [{"name": f".lq.{name}", "data": {key: each for key, each in data.items() if each}} for name, data in found]


def document(record: GameRecord) -> dict[str, Any]:
    actions: list[dict[str, Any]] = [{"type": 2}]
    for events in record.rounds():
        actions += [{"type": 1, "result": each} for each in records_of(events)]
    end = record.events[-1]
    players = [{"seat": seat, "part_point_1": end["scores"][seat], "total_point": round(1000 * end["points"][seat])}
               for seat in (2, 0, 1)]  # fmt: skip
    accounts = [{"seat": 1, "nickname": "b"}, {"nickname": "a"}]
    head = {"uuid": "260101-x", "config": {"mode": {"mode": 12}}, "accounts": accounts, "result": {"players": players}}
    return {"head": head, "data": {"name": ".lq.GameDetailRecords", "data": {"version": 1, "actions": actions}}}


def camel(value: Any) -> Any:
    """With the keys that protobuf's own JSON has."""
    if isinstance(value, dict):
        return {re.sub(r"_([a-z])", lambda match: match[1].upper(), key): camel(each) for key, each in value.items()}
    return [camel(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("seed", range(4))
def test_their_records_give_the_game(seed: int, tmp_path: Path) -> None:
    record = played(seed, MAJSOUL)
    for number, written in enumerate((document(record), camel(document(record)))):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(written, indent=number), encoding="utf-8")
        read = read_records(path)
        assert (read.rules, read.events[0]["names"], read.notes) == (MAJSOUL, ["a", "b", "AI"], [])
        assert [str(mismatch) for mismatch in Replay(read).check()] == []
        plain = [(event["type"], event.get("actor"), event.get("pai"), event.get("scores")) for event in read.events]
        assert plain[-1] == ("end_game", None, None, record.events[-1]["scores"])
        assert [each[:3] for each in plain] == [
            (event["type"], event.get("actor"), event.get("pai")) for event in record.events
        ]
        write_record(read, tmp_path / "again.mjson")
        assert read_records(tmp_path / "again.mjson").rules == MAJSOUL


def test_rules_of_a_friends_room_are_played_or_named() -> None:
    written = document(played(0, MAJSOUL))
    detail = {"disable_double_yakuman": True, "have_zimosun": False, "enable_renhe": True, "shiduan": True}
    written["head"]["config"]["mode"]["detail_rule"] = detail
    read = parse_record(json.dumps(written).encode(), "own")
    assert read.rules is not None
    assert not read.rules.double_yakuman
    assert read.notes == ["it has rules that are not played here: no tsumo loss, renhou"]
    written["head"]["config"]["meta"] = {"mode_id": 24}  # a ranked game, whatever else it has
    assert parse_record(json.dumps(written).encode(), "own").rules == MAJSOUL


def wrapped(name: str, data: bytes) -> bytes:
    message: bytes = protocol.Wrapper(name=name, data=data).SerializeToString()
    return message


def binary(record: GameRecord, *, as_actions: bool = True) -> tuple[bytes, bytes]:
    """The response to ``fetchGameRecord`` with a game, and its ``data`` alone. Older games are no actions."""
    written = document(record)
    actions = written["data"]["data"]["actions"]
    packed = [
        wrapped(each["name"], ParseDict(each["data"], getattr(protocol, each["name"][4:])()).SerializeToString())
        for each in (action.get("result") for action in actions)
        if each
    ]
    found = [protocol.GameAction(type=1, result=each) for each in packed]
    details = protocol.GameDetailRecords(actions=[protocol.GameAction(type=2), *found])
    if not as_actions:
        details = protocol.GameDetailRecords(records=packed)
    data = wrapped(".lq.GameDetailRecords", details.SerializeToString())
    response = protocol.ResGameRecord(head=ParseDict(written["head"], protocol.RecordGame()), data=data)
    return response.SerializeToString(), data


@pytest.mark.parametrize("seed", range(3))
def test_their_binary_form_gives_the_game_of_the_json(seed: int, tmp_path: Path) -> None:
    record = played(seed, MAJSOUL)
    response, data = binary(record, as_actions=seed != 1)
    expected = parse_record(json.dumps(document(record)).encode(), "own")
    for content in (response, b"\x03\x07\x00" + wrapped("", response), gzip.compress(response)):
        read = parse_record(content, "own")
        assert (read.events, read.rules, read.notes) == (expected.events, expected.rules, expected.notes)
    nameless = parse_record(data, "own")  # without the response there is no head
    assert nameless.events[1:-1] == expected.events[1:-1]
    path = tmp_path / "record.bin"
    path.write_bytes(response)
    assert main(["validate", str(path), "--rules", "majsoul"]) == 0


def test_a_damaged_binary_record_is_one_error() -> None:
    response, data = binary(played(0, MAJSOUL))
    garbled = (b"\n\x15.lq.GameDetailRecords\x12\xa0\xff", b"\x00.lq.GameDetailRecords")
    for content in (data[:-1000], data[:200], response[:500], *garbled):
        with pytest.raises(RecordError, match=r"binary record of Mahjong Soul|has no|ends before"):
            parse_record(content, "own")


def test_without_the_package_a_binary_record_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "engine.records.majsoul_binary", None)
    monkeypatch.setitem(sys.modules, "ms", None)
    monkeypatch.delitem(sys.modules, "engine.records.majsoul_binary")
    with pytest.raises(RecordError, match=r"ms is not installed .*'\.\[archive\]'.*tensoul"):
        parse_record(binary(played(0, MAJSOUL))[1], "own")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"tiles2"', '"tiles3"', "record 1 RecordNewRound: a fourth player has tiles"),
        ("RecordDealTile", "RecordFangChong", "record 3 RecordFangChong in E1 honba 0: a record of another game"),
        ('"tile": "', '"tile": "2m', "there is no tile '2m"),
        (
            'DealTile", "data": {',
            'AnGangAddGang", "data": {"type": 2, "tiles": "1z", ',
            "a kan of E is added to no",
        ),
        (".lq.RecordHule", ".lq.Hule", "has a result|ends before the round does"),
    ],
)
def test_their_records_that_cannot_be_read_say_where(old: str, new: str, what: str) -> None:
    text = json.dumps(document(played(1, MAJSOUL)))
    assert old in text
    with pytest.raises(RecordError, match=what):
        parse_record(text.replace(old, new).encode(), "own")


def test_four_accounts_are_a_game_of_four() -> None:
    accounts = [{"seat": seat, "nickname": "ABCD"[seat]} for seat in range(4)]
    record = {"head": {"accounts": accounts}, "records": [{"name": "RecordNewRound", "data": {"scores": [25000] * 4}}]}
    with pytest.raises(FourPlayersError, match="head: four players are named"):
        parse_record(json.dumps(record).encode(), "own")


def test_a_round_without_end_is_refused_soon() -> None:
    """The time for a kan grows with the events before it: a small file could take hours."""
    tiles = ["1m", "9m", "1p", "9p", "1s", "9s", "1z", "2z", "3z", "4z", "5z", "6z", "7z"]
    hands = {"tiles0": [*tiles, "2p"], "tiles1": tiles, "tiles2": tiles}
    start = {"name": "RecordNewRound", "data": {"scores": [35000] * 3, "doras": ["1p"], **hands}}
    kan = {"name": "RecordAnGangAddGang", "data": {"type": 3, "tiles": "5z"}}
    with pytest.raises(RecordError, match=r"record 1002 .* more than 1,000 events: no round has as many"):
        parse_record(json.dumps({"records": [start, *[kan] * 5000]}).encode(), "x")


def test_a_binary_record_of_nothing_takes_no_memory() -> None:
    """An empty record takes two bytes in a file, and hundreds in memory."""
    details = protocol.GameDetailRecords(records=[b""] * 200_000).SerializeToString()
    data = protocol.Wrapper(name=".lq.GameDetailRecords", data=details).SerializeToString()
    with pytest.raises(RecordError, match=r"with 200,000 records: no game has as many"):
        parse_record(data, "x")
