"""Record files: the format is found from the content, errors name the file and the location."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import pytest

from engine.records import mjai, tenhou_json
from engine.records.files import RecordError, read_records, write_record
from tests.support.handmade_records import MJLOG_HEAD, MJLOG_INIT, OWARI, busy_game


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


MJAI_TEXT = mjai.write(busy_game())
JSON_TEXT = tenhou_json.write(busy_game())
FOUR = JSON_TEXT.replace(",[],[],[],", ",[11],[],[],", 1)
MJLOG_TEXT = f"<mjloggm>{MJLOG_HEAD}{MJLOG_INIT}<T40/></mjloggm>"


@pytest.mark.parametrize(
    ("text", "location", "what"),
    [
        (MJAI_TEXT[:-40], "line 56", "not JSON at column"),
        (MJAI_TEXT.replace('"dora_marker":"1p"', '"dora_marker":"2m"'), "line 15", "no tile '2m'"),
        (MJAI_TEXT.replace('"type":"ankan"', '"type":"chi"'), "line 20", "unknown event type 'chi'"),
        (MJAI_TEXT.replace('"kakan","actor":1', '"kakan","actor":3'), "line 18", "three seats"),
        ("\n".join(MJAI_TEXT.splitlines()[:12]), "line 12", "ends without end_game"),
        (MJAI_TEXT.split("\n", 1)[1], "line 1", "begins with start_game"),
        (MJAI_TEXT + MJAI_TEXT, "line 57", "one game"),
        (MJAI_TEXT.replace("tenhou", "house"), "line 1", "unknown rules 'house'"),
        (JSON_TEXT[: len(JSON_TEXT) // 2], "line 1 column", "incomplete JSON"),
        (JSON_TEXT.replace('"p434343"', '"p434347"', 1), r"log\[0\] \(E1 honba 0\)", "different kinds"),
        (JSON_TEXT.replace('"p434343"', '"p444444"', 1), r"log\[0\] \(E1 honba 0\)", "do not fit together"),
        (JSON_TEXT.replace("[29,", "[60,", 1), r"log\[0\] \(E1 honba 0\)", "do not fit together"),  # nothing was drawn
        (
            JSON_TEXT.replace('"19m191919"', '"1919c1919"', 1),
            r"log\[0\] \(E1 honba 0\)",
            "not a call of a three-player",
        ),
        (JSON_TEXT.replace("[[6,4", "[[3,4").replace("[[4,5", "[[3,5"), r"log\[5\]", "round index 3"),
        (FOUR, r"log\[0\]", "a fourth player has tiles; only three-player games"),
        (JSON_TEXT + JSON_TEXT, "line 2 column 1", "a second JSON document begins here"),
        (JSON_TEXT.replace('"sc":', '"sc";'), "line 1 column", "no JSON .*at fault"),
        ('{"title":["",""]}', "head", 'no "log"'),
        (MJLOG_TEXT[:-30], "line 1 column", "incomplete XML"),
        (MJLOG_TEXT.replace('oya="0"', 'oya="0" oya="1"', 1), "line 1 column", "no XML .duplicate attribute.*at fault"),
        (MJLOG_TEXT.replace("<T40/>", "<T136/>"), "tag 5 <T136>", "there is no tile 136 in a three-player game"),
        (MJLOG_TEXT.replace("<T40/>", "<T16/>"), "tag 5 <T16>", "there is no tile 16 in a three-player game"),
        (MJLOG_TEXT, "tag 5", "ends before the game does"),
        (MJLOG_TEXT.replace("<T40/>", "<T40/><W41/>"), r"tag 6 <W41> in S1 honba 1", "only three-player"),
        (MJLOG_TEXT.replace("<T40/>", "<AGARI who='0'/>"), r"tag 5 <AGARI> in S1 honba 1", "garbled or incomplete"),
        (MJLOG_TEXT.replace("<T40/>", MJLOG_INIT), "tag 5 <INIT> in S1 honba 1", "has a result"),
        ("hello", "beginning", "no game record"),
        ("", "beginning", "no game record"),
    ],
)
def test_damaged_records_name_the_file_and_location(text: str, location: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecordError, match=rf"^{path}: {location}.*: .*{what}") as caught:
        read_records(path)
    assert "\n" not in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # as worker processes hand it on


def test_damaged_gzip_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "cut.mjson.gz"
    path.write_bytes(gzip.compress(MJAI_TEXT.encode())[:-20])
    with pytest.raises(RecordError, match=r"cut\.mjson\.gz: gzip: .*damaged"):
        read_records(path)


def test_hidden_hands_cannot_be_written_as_tenhou_json() -> None:
    record = busy_game()
    record.events[1] = record.events[1] | {"tehais": [["?"] * 13] * 3}
    with pytest.raises(RecordError, match="own: E1 honba 0: hidden tiles"):
        tenhou_json.write(record)
