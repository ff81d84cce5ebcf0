"""Real records: read, written again, compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.records import mjai, tenhou_json
from engine.records.files import read_records
from engine.rules import MAJSOUL, TENHOU
from tests.support.handmade_records import without

# Rounds and the final scores as Tenhou (or Mahjong Soul) shows them.
REAL_GAMES = {
    "phoenix_2014_1.xml": (11, [59200, 22800, 23000]),
    "phoenix_2018_1.xml": (3, [48100, -6400, 63300]),
    "phoenix_2020_1.mjson": (9, [69100, -7800, 43700]),
    "phoenix_2021_1.json": (12, [31900, 47200, 25900]),
    "phoenix_2024_1.json": (8, [75700, 6800, 22500]),
    "phoenix_2024_2.json": (10, [59800, 33000, 12200]),
    "phoenix_2025_1.json": (10, [83300, 11900, 9800]),
    "phoenix_2025_2.json": (7, [38800, 41300, 24900]),
    "phoenix_2025_3.json": (7, [38700, 7800, 58500]),
    "phoenix_2025_4.json": (11, [-2500, 83600, 23900]),
    "phoenix_2025_5.json": (12, [85600, 1400, 18000]),
    "majsoul_chankan.json": (3, [20200, 25800, 59000]),
    "majsoul_kokushi_ankan.json": (1, [83000, -13000, 35000]),
    "majsoul_kan3_nuki_rinshan.json": (9, [29600, 28900, 46500]),
    "majsoul_kan3_nuki_rinshan.libriichi3p.mjson": (9, [29600, 28900, 46500]),
}


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


@pytest.mark.parametrize("name", [name for name in REAL_GAMES if name.startswith("phoenix") and name.endswith(".json")])
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
    told_by_one = ("rules", "length", "aka_flag", "kyoku_first", "yakus", "fu", "fan", "hora_points", "tenhou")
    assert without(ours, *told_by_one) == without(theirs, *told_by_one)


def test_details_of_real_games(records_dir: Path) -> None:
    old = read_records(records_dir / "phoenix_2014_1.xml")
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
