"""tenhou.net/6 JSON."""

from __future__ import annotations

import json

import pytest

from engine.mjai.messages import make
from engine.records import tenhou_json
from engine.records.tenhou_results import read_result
from engine.records.tenhou_rounds import place_indicators
from engine.records.tenhou_rows import Row, interleave
from engine.rules import TENHOU
from tests.support.handmade_records import FANPAI, busy_game, dahai, game, start, tsumo


def test_tenhou_json_represents_every_call_and_result() -> None:
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
def test_points_are_written_and_read_back(actor: int, target: int, points: int, fan: int, yaku: str, text: str) -> None:
    win = make(
        "hora", actor=actor, target=target, yakus=[[yaku, fan]], fu=30, fan=fan, hora_points=points, deltas=[0, 0, 0]
    )
    written = tenhou_json.write(game(start(1, 0, 0, [35000] * 3), tsumo(0, "1s"), win, make("end_kyoku")))
    assert json.loads(written)["log"][0][-1][2][3] == text
    read = tenhou_json.read(written, "own").events[-3]
    assert (read["hora_points"], read["fan"], read.get("fu")) == (points, fan, 30 if "符" in text else None)


def test_a_pon_that_fits_two_discards_is_placed_so_that_all_rows_are_used() -> None:
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
def test_indicators_are_placed_where_tenhou_turns_them_over(played: str, n_markers: int, placed: str) -> None:
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


@pytest.mark.parametrize(
    ("display", "index", "delta", "length"),
    [
        ("三玉の間東喰赤", 0, 0, "east"),
        ("三玉の間南喰赤", 2, 0, "hanchan"),
        ("三玉の間赤", 0, 0, "hanchan"),
        ("三玉の間赤", 2, 0, "east"),  # only East-only games end there
        ("三玉の間赤", 4, 0, "east"),  # in S1, because nobody had 40,000 points after E3
        ("三玉の間赤", 5, 0, "east"),
        ("三玉の間赤", 6, 0, "east"),  # in S3 with nobody at 40,000: West rounds would follow in a hanchan
        ("三玉の間赤", 6, 5000, "hanchan"),
        ("三玉の間赤", 2, -90000, "hanchan"),  # unless somebody fell below zero
        ("三玉の間赤", 4, -90000, "hanchan"),
    ],
)
def test_length_of_a_mahjong_soul_game(display: str, index: int, delta: int, length: str) -> None:
    document = json.loads(tenhou_json.write(game(start(1, 0, 0, [35000] * 3), tsumo(0, "1s"), *FANPAI)))
    document["rule"] = {"disp": display}
    document["log"][0][0][0] = index
    document["log"][0][5], document["log"][0][5 + 3 * (index % 4)] = [], [31]  # the dealer draws
    document["log"][0][-1] = ["流局", [-delta, delta, 0, 0]]
    rules = tenhou_json.read(json.dumps(document), "own").rules
    assert rules is not None
    assert (rules.name, rules.length) == ("majsoul", length)


def test_tsumogiri_of_another_tile_than_the_drawn_is_written_as_that_tile() -> None:
    record = game(start(1, 0, 0, [35000] * 3), tsumo(0, "1s"), dahai(0, "F", tsumogiri=True), *FANPAI)
    assert json.loads(tenhou_json.write(record))["log"][0][6] == [46]


def test_a_long_text_in_place_of_a_yaku_is_unknown_at_once() -> None:
    """A search for its end would take the square of its length: hours, of a file of a megabyte."""
    notes: list[str] = []
    (win,) = read_result(["和了", [0, 0, 0], [0, 1, 0, "満貫8000点", "(役満" * 100_000]], [], set(), "E1", notes)
    assert "yakus" not in win
    assert notes[0].startswith("E1: unknown yaku (役満")
