"""Games written as mjlog: read again they are the same, whatever format they had."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from engine.cli import main
from engine.game import Game
from engine.records import mjlog, mjlog_writing
from engine.records.compare import differing_keys
from engine.records.files import parse_record, read_records, write_record
from engine.records.model import GameRecord, RecordError
from engine.records.replay import Replay
from engine.rules import MAJSOUL, TENHOU
from tests.conftest import DATA
from tests.support.players import Habits, efficient_driver, play, random_driver

RECORDS = [*sorted(DATA.glob("records/phoenix_*")), Path("examples/game.mjson")]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.name)
def test_a_record_written_as_mjlog_and_read_again_is_the_same(path: Path) -> None:
    record = read_records(path)
    back = mjlog.read(mjlog_writing.write(record), "own")
    assert back.rules == (record.rules or TENHOU)
    for event, again in zip(record.events, back.events, strict=True):
        differing = set(differing_keys(event, again)) & set(differing_keys(again, event))  # norths may count as dora
        assert differing <= {"wall_seed"}
    if path.suffix == ".xml":
        assert back.events == record.events  # with what mjai has no keys for
    replays = Replay(record), Replay(back)
    assert [replay.check() for replay in replays] == [[], []]
    assert replays[0].n_decisions == replays[1].n_decisions


@pytest.mark.parametrize("seed", range(6))
def test_games_with_everything(seed: int) -> None:
    """Players at random call and kan all they can; each tile has one number in a round."""
    game = Game(seed, TENHOU.with_length("east"), names=("東", "a&b", '"c"'))
    play(game, random_driver(random.Random(seed)))
    text = mjlog_writing.write(GameRecord(game.messages, game.rules, "own"))
    back = mjlog.read(text, "own")
    assert Replay(back).check() == []
    assert back.events[0]["names"] == ["東", "a&b", '"c"']


def test_tiles_52_and_88_are_ordinary_fives_in_a_game_without_red_fives() -> None:
    fives = 0
    for seed in range(3):
        game = Game(seed, replace(TENHOU, length="east", red_fives=False))
        play(game, random_driver(random.Random(seed)))
        back = mjlog.read(mjlog_writing.write(GameRecord(game.messages, game.rules, "own")), "own")
        assert back.rules == game.rules
        assert back.events[0]["tenhou"]["rule"] == {"disp": "三般東喰", "aka51": 0, "aka52": 0, "aka53": 0}
        assert back.events[1:-1] == game.messages[1:-1]
        assert Replay(back).check() == []
        fives += sum(event.get("consumed", [""])[0] in ("5p", "5s") for event in back.events)
    assert fives


def test_what_mjlog_cannot_hold_is_refused() -> None:
    record = read_records(RECORDS[0])
    for rules in (replace(TENHOU, uma=(10, 0, -10)), MAJSOUL):
        with pytest.raises(RecordError, match="mjlog has no type"):
            mjlog_writing.write(replace(record, rules=rules))
    hidden = json.loads(json.dumps(record.events))
    next(event for event in hidden if event["type"] == "tsumo")["pai"] = "?"
    with pytest.raises(RecordError, match=r"\?: a hidden tile"):
        mjlog_writing.write(replace(record, events=hidden))


def test_riichi_sticks_that_are_left_are_the_tops() -> None:
    """Where the game's end has no scores, and its last round was a draw."""
    game = Game(5, TENHOU.with_length("east"))
    play(game, efficient_driver(random.Random(5), Habits(win=0.2)))
    events = game.messages
    last = next(i for i, event in enumerate(events) if event["type"] == "start_kyoku" and event["kyotaku"])
    scores, kyotaku = events[last - 2]["scores"], events[last]["kyotaku"]
    record = GameRecord([*events[:last], {"type": "end_game"}], game.rules, "own")
    back = mjlog.read(mjlog_writing.write(record), "own")
    expected = [score + 1000 * kyotaku * (score == max(scores)) for score in scores]
    assert back.events[-1]["scores"] == expected


def test_wrong_yaku_and_rules_that_are_not_played_are_refused() -> None:
    record = read_records("examples/game.mjson")
    events = json.loads(json.dumps(record.events))
    next(event for event in events if event["type"] == "hora")["yakus"] += [["sangenpai", 1]] * 4
    with pytest.raises(RecordError, match="sangenpai without"):
        mjlog_writing.write(replace(record, events=events))
    kept = {"rule": {"disp": "三般東赤"}, "ver": '2.3"><x a="'}
    start = record.events[0] | {"tenhou": kept}
    with pytest.raises(RecordError, match="mjlog has no type"):
        mjlog_writing.write(replace(record, rules=None, events=[start, *record.events[1:]]))
    kept["rule"] = {"disp": "三般東喰赤"}
    assert (
        mjlog.read(mjlog_writing.write(replace(record, events=[start, *record.events[1:]])), "own").rules
        == record.rules
    )


def test_convert_writes_mjlog_and_dialects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = "examples/game.mjson"
    assert main(["convert", source, str(tmp_path / "a.mjlog.gz")]) == 0
    assert main(["convert", source, str(tmp_path / "a.mjson"), "--dialect", "kita"]) == 0
    assert main(["convert", source, "--out", str(tmp_path / "all"), "--dialect", "libriichi3p"]) == 0
    assert main(["convert", source, "--out", str(tmp_path / "xml"), "--format", "mjlog"]) == 0
    (libriichi,), (xml,) = (list((tmp_path / name).iterdir()) for name in ("all", "xml"))
    assert '"type":"kita"' in (tmp_path / "a.mjson").read_text(encoding="utf-8")
    assert '"names":["' in libriichi.read_text(encoding="utf-8")
    assert xml.read_text(encoding="utf-8").startswith("<mjloggm")
    for path in (tmp_path / "a.mjlog.gz", tmp_path / "a.mjson", libriichi, xml):
        assert Replay(read_records(path)).check() == []
    capsys.readouterr()
    for arguments in ([source, str(tmp_path / "b.json")], [source, "--out", str(tmp_path / "o"), "--format", "json"]):
        with pytest.raises(SystemExit):
            main(["convert", *arguments, "--dialect", "kita"])
        assert "mjson" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kept", "written"),
    [
        ({"dan": ["七段", "天鳳位", "?"]}, {"dan": "16,20,0,0"}),
        ({"rate": [1500, 2200.5, 1e3]}, {"rate": "1500.00,2200.50,1000.00,1500.00"}),
        ({"rate": ["2258.47", "x", "2"], "dan": [None] * 3, "sx": ["M"]}, {"dan": "0,0,0,0"}),
        ({"rate": [None, 1.0, 2.0], "dan": {}, "sx": 5}, {}),
        ({"sx": ["M", "F", "C", ""], "lobby": 1234}, {"sx": "M,F,C,C", "lobby": "1234"}),
        ({"lobby": "C1234"}, {}),
        ({"lobby": True}, {}),
    ],
)
def test_what_players_and_lobbies_have_no_place_for_is_left_out(kept: dict[str, Any], written: dict[str, str]) -> None:
    record = read_records("examples/game.mjson")
    text = mjlog_writing.write(replace(record, events=[record.events[0] | {"tenhou": kept}, *record.events[1:]]))
    root = ElementTree.fromstring(text)
    found = {key: value for tag in ("UN", "GO") for key, value in root.find(tag).attrib.items()}  # type: ignore[union-attr]
    assert {key: found[key] for key in ("dan", "rate", "sx", "lobby") if key in found} == {"lobby": "0"} | written
    assert mjlog.read(text, "own").events[0]["names"] == record.events[0]["names"]


def test_the_same_game_gives_the_same_bytes(tmp_path: Path) -> None:
    record = read_records("examples/game.mjson")
    for name in ("a.mjlog", "b.mjlog"):
        write_record(record, tmp_path / name)
    assert (tmp_path / "a.mjlog").read_bytes() == (tmp_path / "b.mjlog").read_bytes()
    assert parse_record((tmp_path / "a.mjlog").read_bytes(), "a").rules == record.rules
