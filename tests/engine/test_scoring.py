"""Scoring: an example of each yaku, what is refused, and the scored hands of real games.

Fu, points and readings are compared in test_scoring_oracle.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.scoring import yaku as y
from engine.scoring.api import MELD_TYPES, score
from engine.scoring.batch import HAND, score_batch
from engine.table import WIN
from engine.tiles import from_tile136

# hand without the winning tile, winning tile, melds, circumstances, expected yaku
ONE_OF_EACH: list[tuple[str, str, list[str], dict[str, Any], dict[str, int]]] = [
    ("123p456p789s11s44z", "4z", [], {"tsumo": True}, {"menzen tsumo": 1}),
    ("123p456p789s11s44z", "4z", [], {"riichi": True}, {"riichi": 1}),
    ("123p456p789s11s44z", "4z", [], {"double_riichi": True}, {"double riichi": 2}),
    ("123p456p789s11s44z", "4z", [], {"riichi": True, "ippatsu": True}, {"riichi": 1, "ippatsu": 1}),
    ("123p456p11s44z", "4z", ["pon 999m"], {"chankan": True}, {"chankan": 1}),
    ("123p456p11s44z", "4z", ["kakan 9999m"], {"tsumo": True, "rinshan": True}, {"rinshan kaihou": 1}),
    ("123p456p11s44z", "4z", ["pon 999m"], {"tsumo": True, "last_tile": True}, {"haitei": 1}),
    ("123p456p11s44z", "4z", ["pon 999m"], {"last_tile": True}, {"houtei": 1}),
    ("123p456p11s99m", "9m", ["pon 555z"], {}, {"haku": 1}),
    ("123p456p11s99m", "9m", ["pon 666z"], {}, {"hatsu": 1}),
    ("123p456p11s99m", "9m", ["pon 777z"], {}, {"chun": 1}),
    ("123p456p11s99m", "9m", ["pon 222z"], {"seat_wind": "S"}, {"seat wind": 1}),
    ("123p456p11s99m", "9m", ["pon 111z"], {"seat_wind": "S"}, {"round wind": 1}),
    ("123p456p11s99m", "9m", ["pon 111z"], {}, {"seat wind": 1, "round wind": 1}),
    ("234p567p88s33s", "3s", ["pon 555p"], {}, {"tanyao": 1}),
    ("223344p11s99m", "9m", ["pon 444z"], {}, {}),
    ("223344p11s99m", "9m", ["pon 555z"], {}, {"haku": 1}),
    ("223344p789s111s9m", "9m", [], {"round_wind": "W"}, {"iipeikou": 1}),
    ("123p456p78s234s99m", "9s", [], {}, {"pinfu": 1}),
    ("123p789p123s11z99m", "9m", [], {}, {"chanta": 2}),
    ("123p789p11z99m", "9m", ["pon 444z"], {}, {"chanta": 1}),
    ("123456p78p11s999m", "9p", [], {}, {"ittsu": 2}),
    ("123456p78p11s", "9p", ["pon 999m"], {}, {"ittsu": 1}),
    ("111m111p11s234s99s", "1s", [], {}, {"sanshoku doukou": 2}),
    ("234p1m", "1m", ["ankan 9999p", "daiminkan 2222s", "kakan 4444z"], {}, {"sankantsu": 2}),
    ("22p99m", "9m", ["pon 333p", "pon 777s", "pon 444z"], {}, {"toitoi": 2}),
    ("222p333s567s9m", "9m", ["ankan 4444z"], {}, {"sanankou": 2}),
    ("234p999m7z", "7z", ["pon 666z", "pon 555z"], {}, {"haku": 1, "hatsu": 1, "shousangen": 2}),
    ("11m99m11p99p11s99s4z", "4z", [], {}, {"chiitoitsu": 2, "honroutou": 2}),
    ("11s4z4z", "1s", ["pon 999p", "pon 999m", "pon 111m"], {}, {"toitoi": 2, "honroutou": 2}),
    ("22p33p55p88s99s44z1m", "1m", [], {}, {"chiitoitsu": 2}),
    ("123p789p123s999s1m", "1m", [], {}, {"junchan": 3}),
    ("123p789p999s1m", "1m", ["pon 111s"], {}, {"junchan": 2}),
    ("123456p22p44z999p", "4z", [], {}, {"honitsu": 3}),
    ("12345622p44z", "4z", ["pon 999p"], {}, {"honitsu": 2}),
    ("112233p778899s1m", "1m", [], {}, {"junchan": 3, "ryanpeikou": 3}),
    ("223344p667788s4z", "4z", [], {}, {"ryanpeikou": 3}),
    ("1123344567899p", "9p", [], {}, {"chinitsu": 6}),
    ("1223444567p", "3p", ["pon 999p"], {}, {"chinitsu": 5}),
    ("123p456p78s234s99m", "9s", [], {"tsumo": True, "first_turn": True}, {"tenhou": 13}),
    ("123p456p78s234s99m", "9s", [], {"tsumo": True, "first_turn": True, "seat_wind": "W"}, {"chiihou": 13}),
    ("123p99m66z", "6z", ["pon 777z", "pon 555z"], {}, {"daisangen": 13}),
    ("11m22p333p777s888s", "1m", [], {"tsumo": True}, {"suuankou": 13}),
    ("111m2p333p777s888s", "2p", [], {}, {"suuankou tanki": 13}),
    ("11z22z33z44z55z66z7z", "7z", [], {}, {"tsuuiisou": 13}),
    ("11z5z5z", "1z", ["pon 222z", "pon 444z", "pon 777z"], {}, {"tsuuiisou": 13}),
    ("223344s66s88s", "8s", ["pon 666z"], {}, {"ryuuiisou": 13}),
    ("11m99s", "9s", ["pon 111p", "pon 999p", "pon 999m"], {}, {"chinroutou": 13}),
    ("19m19p19s1234567z", "1z", [], {}, {"kokushi musou 13-wait": 13}),
    ("19m19p19s1134567z", "2z", [], {}, {"kokushi musou": 13}),
    ("23p44z", "1p", ["pon 111z", "pon 222z", "pon 333z"], {}, {"shousuushii": 13}),
    ("4z44z1m", "1m", ["pon 111z", "pon 222z", "pon 333z"], {}, {"daisuushii": 13}),
    ("1m", "1m", ["ankan 9999p", "daiminkan 2222s", "kakan 4444z", "kakan 3333p"], {}, {"suukantsu": 13}),
    ("1113456778999p", "2p", [], {}, {"chuuren poutou": 13}),
    ("1112345678999s", "1s", [], {}, {"junsei chuuren poutou": 13}),
]


@pytest.mark.parametrize(("hand", "win", "melds", "circumstances", "expected"), ONE_OF_EACH)
def test_yaku(hand: str, win: str, melds: list[str], circumstances: dict[str, Any], expected: dict[str, int]) -> None:
    assert score(hand, win, melds, **circumstances).yaku == expected


def test_each_yaku_has_an_example() -> None:
    shown = {name for *_, expected in ONE_OF_EACH for name in expected}
    bonus = {y.DORA, y.RED_DORA, y.URA_DORA, y.NUKI_DORA}
    impossible = {y.SANSHOKU}  # a run of each suit, and man has none
    assert {yaku.name for yaku in y.YAKU if yaku.number not in bonus | impossible} == shown


def test_dora_are_no_yaku() -> None:
    assert str(score("234p567p11s34s", "5s", ["pon 888p"], dora="7p", nukidora=3)) == "no win"


def test_dora_count_in_hand_melds_and_norths() -> None:
    won = score("055p055s9m", "9m", ["kakan 7777z", "pon 444z"], dora="4p6z", nukidora=1, seat_wind="S")
    assert won.yaku == {"chun": 1, "toitoi": 2, "dora": 7, "red dora": 2, "nukidora": 1}
    # a W indicator makes norths dora: three in the pon and the one laid, which counts as nukidora too
    assert score("055p055s9m", "9m", ["kakan 7777z", "pon 444z"], dora="3z", nukidora=1).yaku["dora"] == 4
    assert score("99m123p456p78s234s", "9s", dora="1m").yaku == {"pinfu": 1, "dora": 2}  # 9m after 1m
    assert score("11m123p456p78s234s", "9s", dora="9m").yaku == {"pinfu": 1, "dora": 2}


def test_ura_count_in_riichi_only() -> None:
    hand = ("99m123p456p78s234s", "9s")
    assert score(*hand, ura="1m").yaku == {"pinfu": 1}
    assert score(*hand, ura="1m", riichi=True).yaku == {"riichi": 1, "pinfu": 1, "ura dora": 2}


@pytest.mark.parametrize(
    "hand", ["123p456p789s12s44z", "11m99m11p99p11s99s4z", "19m19p19s1234567z", "1111222233p99s1m"]
)
def test_incomplete_hands_have_no_score(hand: str) -> None:
    assert score(hand, "6s", tsumo=True, riichi=True, dora="6s").han == 0


@pytest.mark.parametrize(
    ("hand", "win", "options", "complaint"),
    [
        ("abc", "4p", {}, "^hand 'abc': cannot read 'a' .character 1.; write digits, then their suit, as in 19m"),
        ("123p", "4p", {}, "^the hand has 3 tiles, it must have 13$"),
        ("123456789p11s234s", "4s", {}, "14 tiles, it must have 13: do not list the winning tile in it"),
        ("1s", "1s", {"melds": ["ankan 9999s"] * 5}, "there are 5 melds, a hand has at most 4"),
        ("123p11s", "1s", {"melds": ["pon 555p", "ankan 9999s"]}, "5 tiles, it must have 7 beside 2 melds"),
        ("123456789p11s23s", "10p", {}, "the winning tile must be one tile, .* not 1p 0p"),
        ("123456789p11s23s", "", {}, "the winning tile must be one tile, .* not none"),
        ("123456789p11s23s", "9z", {}, "^winning tile '9z': there is no tile 9z .character 2.; write"),
        ("123456789p11s23s", 99, {}, "^winning tile must be text such as .* from 0 to 36, not 99"),
        ("123456789p11s23s", "4s", {"dora": "5m"}, "^5m: three players"),
        ("123456789p11s23s", "4s", {"nukidora": 5}, "norths set aside, 0 to 4, not 5"),
        ("123456789p11s23s", "4s", {"rules": "emaj"}, "unknown rules 'emaj': choose one of tenhou, majsoul"),
        ("123456p2m99s1111z", "2m", {}, "2m: three players"),
        ("11111p123456s99m", "9m", {}, "5 tiles 1p"),
        ("444z123p456p99s12s", "3s", {"nukidora": 2}, "5 tiles 4z"),
        ("00p123p456p99s123s", "9s", {}, "2 tiles 0p"),
        ("123p456p99s12s", "3s", {"melds": ["pon 444"]}, "suit letter"),
        ("123p456p99s12s", "3s", {"melds": ["pon 456s"]}, "pon 456s"),
        ("123p456p99s12s", "3s", {"melds": ["chi 456s"]}, "chi 456s"),
        ("123p456p789p99s12s", "3s", {"seat_wind": "N"}, "no seat and no round is North"),
        ("123p456p789p99s12s", "3s", {"dora": "111222z"}, "6 indicators"),
    ],
)
def test_impossible_hands_are_refused(hand: str, win: str, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        score(hand, win, **options)


@pytest.mark.parametrize(
    ("win", "options", "complaint"),
    [
        (None, {}, "^winning tile must be text such as .*, not None$"),
        (4.5, {}, "not 4.5$"),
        ("4s", {"melds": "pon 555p"}, r"a list of texts, such as \['pon 555p'\], not one text"),
        ("4s", {"nukidora": True}, "not True$"),
    ],
)
def test_arguments_of_the_wrong_kind_are_refused(win: Any, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        score("123456789p11s23s", win, **options)


def test_rules_may_be_the_name_of_a_preset() -> None:
    kokushi = ("19m19p19s1234567z", "1z")
    wins = [score(*kokushi, rules=rules) for rules in ("tenhou", "majsoul")]
    assert [(win.yakuman, win.points) for win in wins] == [(1, 48_000), (2, 96_000)]


def test_unknown_situation_is_refused() -> None:
    with pytest.raises(TypeError, match="unknown situation rinshin"):
        score("123p456p789p99s12s", "3s", rinshin=True)


def packed_case(case: dict[str, Any]) -> np.ndarray:
    """One of the scored hands as HAND[1]."""
    hands = np.zeros(1, dtype=HAND)
    hand, conditions = hands[0], case["conditions"]
    concealed = [*case["tiles_136"], case["win_tile_136"]]
    melds = [from_tile136(tile) for meld in case["melds"] for tile in meld["tiles"]]
    for tile in concealed:
        hand.hand[tile // 4] += 1
    hand.n_melds = len(case["melds"])
    for i, meld in enumerate(case["melds"]):
        hand.meld_type[i], hand.meld_kind[i] = MELD_TYPES[meld["meld_type"]], meld["tiles"][0] // 4
    hand.win_kind = case["win_tile_136"] // 4
    bits = {
        "tsumo": y.BY_TSUMO, "riichi": y.IN_RIICHI, "double_riichi": y.IN_DOUBLE_RIICHI, "ippatsu": y.WITH_IPPATSU,
        "haitei": y.LAST_TILE, "houtei": y.LAST_TILE, "rinshan": y.AFTER_REPLACEMENT, "chankan": y.ROBBING_KAN,
        "tsumo_first_turn": y.FIRST_TURN,
    }  # fmt: skip
    hand.situation = sum({bit for name, bit in bits.items() if conditions[name]})
    hand.seat_wind, hand.round_wind = conditions["player_wind"], conditions["round_wind"]
    hand.red = sum(tile >= 34 for tile in [*map(from_tile136, concealed), *melds])
    hand.nuki = conditions["kita_count"]
    for name, indicators in (("dora", case["dora_indicators"]), ("ura", case["ura_indicators"])):
        hand[f"n_{name}"] = len(indicators)
        hand[name][: len(indicators)] = [from_tile136(tile) for tile in indicators]
    return hands


def test_scored_hands_of_real_games(data_dir: Path) -> None:
    cases = json.loads((data_dir / "scored_hands.json").read_text())["cases"]
    assert len(cases) == 201
    for case in cases:
        wins = np.zeros(1, dtype=WIN)
        score_batch(packed_case(case), False, wins)
        (win,), expected = wins, case["expected"]
        found = (int(win.han), int(win.fu), np.flatnonzero(win.yaku).tolist())
        assert found == (expected["han"], expected["fu"], sorted(expected["yaku"])), case
