"""``python -m engine convert``: nothing is lost, and the input stays as it was."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engine.cli import main
from engine.records.files import read_records
from engine.records.tenhou_json import document_of, read
from tests.conftest import DATA

RECORDS = DATA / "records"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A copy of a record of tenhou.net/6."""
    path = tmp_path / "game.json"
    path.write_bytes((RECORDS / "phoenix_2024_1.json").read_bytes())
    return path


def spelled_differently(path: Path) -> Path:
    return path.parent / "elsewhere" / ".." / path.name


def symbolic_link(path: Path) -> Path:
    (path.parent / "link.json").symlink_to(path)
    return path.parent / "link.json"


def hard_link(path: Path) -> Path:
    os.link(path, path.parent / "hard.mjson")
    return path.parent / "hard.mjson"


@pytest.mark.parametrize("other_name", [lambda path: path, spelled_differently, symbolic_link, hard_link])
def test_the_input_is_not_overwritten(own: Path, other_name: object, capsys: pytest.CaptureFixture[str]) -> None:
    (own.parent / "elsewhere").mkdir()
    before, target = own.read_bytes(), other_name(own)  # type: ignore[operator]
    with pytest.raises(SystemExit) as stopped:
        main(["convert", str(own), str(target)])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith(f"engine convert: {target}: ")
    assert own.read_bytes() == before


def test_the_last_line_says_what_was_written_and_how_to_see_it(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = own.with_suffix(".mjson.gz")
    assert main(["convert", str(own), str(target)]) == 0
    assert capsys.readouterr().out == f"{target}: 8 rounds written; to see them: python -m engine show {target}\n"


@pytest.mark.parametrize("path", sorted(RECORDS.glob("*.json")), ids=lambda path: path.name)
def test_all_keys_survive_through_mjai(path: Path, tmp_path: Path) -> None:
    original = json.loads(path.read_text(encoding="utf-8"))
    for source, target in ((path, "a.mjson"), (tmp_path / "a.mjson", "b.json.gz"), (tmp_path / "b.json.gz", "c.json")):
        assert main(["convert", str(source), str(tmp_path / target)]) == 0
    converted = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert {key: converted[key] for key in original.keys() - {"log"}} == {
        key: value for key, value in original.items() if key != "log"
    }
    assert converted.keys() - original.keys() <= {"title"}


def test_keys_of_start_game_survive_through_tenhou(tmp_path: Path) -> None:
    source = tmp_path / "a.mjson"
    lines = (RECORDS / "phoenix_2020_1.mjson").read_text(encoding="utf-8").splitlines()
    extra = {"wall_seed": 7, "organizer": {"name": "x"}}
    source.write_text("\n".join([json.dumps(json.loads(lines[0]) | extra), *lines[1:]]), encoding="utf-8")
    for target in ("b.json", "c.mjson"):
        assert main(["convert", str(source), str(tmp_path / target)]) == 0
        source = tmp_path / target
    start = read_records(source).events[0]
    assert {key: start[key] for key in extra} == extra
    assert "tenhou" not in start or start["tenhou"].keys() <= {"rule"}


def test_attributes_of_mjlog_get_their_place_in_tenhou_json(tmp_path: Path) -> None:
    text = (RECORDS / "phoenix_2018_1.xml").read_text(encoding="utf-8")
    head = '<SHUFFLE seed="mt,abc" ref="2018"/>'
    text = text.replace('<SHUFFLE seed="" ref=""/>', head).replace('dan="0,0,0,0"', 'dan="16,20,1,0"')
    (tmp_path / "a.xml").write_text(text, encoding="utf-8")
    document = document_of(read_records(tmp_path / "a.xml"))
    expected = {
        "ver": "2.3", "ref": "2018", "seed": "mt,abc", "lobby": 0, "dan": ["七段", "天鳳位", "9級", "新人"],
        "rate": [1500.0] * 4, "sx": ["M", "M", "M", "C"],
    }  # fmt: skip
    assert {key: document[key] for key in expected} == expected


@pytest.mark.parametrize("kept", ["text", {"log": [], "name": ["x"], "sc": [1]}])
def test_a_record_cannot_replace_what_the_game_says(kept: object) -> None:
    record = read_records(RECORDS / "phoenix_2020_1.mjson")
    before = document_of(record)
    record.events[0]["tenhou"] = kept
    assert document_of(record) == before
    before["mjai"] = {"type": "x", "names": ["x"]}
    assert read(json.dumps(before), "own").events[0]["names"] == ["A", "B", "C"]
