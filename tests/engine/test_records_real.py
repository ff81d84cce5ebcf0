"""Real records: read, written again, compared. That they follow the rules to the end is for test_replay.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.records import mjai, tenhou_json
from engine.records.files import read_records
from tests.conftest import DATA
from tests.support.handmade_records import without

NAMES = sorted(path.name for path in (DATA / "records").iterdir())


@pytest.mark.parametrize("name", NAMES)
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


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("phoenix") and name.endswith(".json")])
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
