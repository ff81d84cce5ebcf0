"""Records that contradict themselves are told apart from records that contradict the rules.

The records are real ones, altered as converters in the wild alter them.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from engine.actions import PASS, RON, TSUMO, TSUMOGIRI
from engine.cli import main
from engine.game import Game
from engine.records import mjai
from engine.records.files import read_records
from engine.records.model import GameRecord
from engine.records.replay import Replay
from engine.rules import MAJSOUL
from tests.support.archives import RECORDS
from tests.support.handmade_records import of_march_2009
from tests.support.players import Habits, efficient_driver
from tests.support.walls import build_wall


def altered(tmp_path: Path, name: str, change: Any) -> Path:
    """A real record of tenhou.net/6, changed."""
    document = json.loads((RECORDS / name).read_text(encoding="utf-8"))
    change(document)
    path = tmp_path / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def forget_stick(number: int) -> Any:
    """Pay the winner of a round a stick less."""

    def change(document: dict[str, Any]) -> None:
        deltas = document["log"][number][-1][1]
        assert sum(deltas) >= 1000
        deltas[deltas.index(max(deltas))] -= 1000

    return change


@pytest.mark.parametrize(
    ("name", "number"), [("phoenix_2024_1.json", 0), ("phoenix_2025_5.json", 8), ("majsoul_chankan.json", 0)]
)
def test_a_forgotten_stick_is_a_contradiction(
    name: str, number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = altered(tmp_path, name, forget_stick(number))
    original = Replay(read_records(RECORDS / name))
    original.check()
    replay = Replay(read_records(path))
    assert replay.check() == []
    assert len(replay.contradictions) == 1
    assert (replay.n_rounds, replay.n_decisions) == (original.n_rounds, original.n_decisions)  # nothing is skipped
    assert main(["validate", str(path)]) == 1
    line, summary = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{path}: ")
    assert "the record contradicts itself: hora deltas [" in line
    assert "but the scores after the round, [" in line
    assert summary.endswith("mismatches 0 · contradictions 1")


def test_a_stick_that_the_next_scores_lack_too_is_a_mismatch(tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        forget_stick(0)(document)
        deltas, after = document["log"][0][-1][1], document["log"][1][1]
        after[deltas.index(max(deltas))] -= 1000

    replay = Replay(read_records(altered(tmp_path, "phoenix_2024_1.json", change)))
    assert replay.check()
    assert replay.contradictions == []


def test_other_wrong_payments_are_mismatches(tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        document["log"][0][-1][1][0] += 300

    replay = Replay(read_records(altered(tmp_path, "phoenix_2024_1.json", change)))
    assert len(replay.check()) == 1
    assert replay.contradictions == []


def kokushi() -> GameRecord:
    """A game by Mahjong Soul's rules, in which the dealer wins with kokushi on thirteen tiles, a double yakuman."""
    wall = build_wall(["19m19p19s1234567z"], "5p")
    game = Game(1, MAJSOUL, walls=[wall], names=("a", "b", "c"))
    choose = efficient_driver(random.Random(1), Habits())
    while not game.over:
        for seat in game.asked:
            own, legal = game.table.seat[seat], game.legal(seat)
            action = choose(own.hand.tolist(), int(own.n_melds), int(game.table.drawn), legal)
            if seat == 0 and not game.results:  # waits for any of the thirteen
                action = next(each for each in (TSUMO, RON, TSUMOGIRI, PASS) if each in legal)
            game.act(seat, action)
    return GameRecord(game.messages, MAJSOUL, "own")


def single(record: GameRecord, *without: str) -> GameRecord:
    """The record with its double yakuman written as one, and its win `without` some keys."""
    for event in record.events:
        if event["type"] == "hora" and event["yakus"] == [["kokushimuso_13", 26]]:
            event["yakus"], event["fan"] = [["kokushimuso_13", 13]], 13
            for key in without:
                del event[key]
    return mjai.read(mjai.write(record), "own")


@pytest.mark.parametrize("without", [(), ("hora_points",), ("hora_points", "deltas", "scores")])
def test_a_double_yakuman_written_as_one_is_a_contradiction(without: tuple[str, ...]) -> None:
    record = kokushi()
    assert Replay(record).check() == []
    replay = Replay(single(record, *without))
    assert replay.check() == []
    (told,) = replay.contradictions
    assert "the record contradicts itself: hora yakus [['kokushimuso_13', 13]], but it pays the " in str(told)
    assert "of 2 yakuman" in str(told)


def test_a_double_yakuman_that_pays_one_is_a_mismatch() -> None:
    record = single(kokushi())
    win = next(event for event in record.events if event["type"] == "hora")
    win["hora_points"] //= 2
    replay = Replay(record)
    assert len(replay.check()) == 1
    assert replay.contradictions == []


@pytest.mark.parametrize("hand", ["234678p3337746s", ""])
def test_a_game_that_goes_on_though_a_leading_dealer_is_tenpai_is_one_of_march_2009(hand: str) -> None:
    """In the last round. If the dealer is not tenpai, another deals, and West 1 would follow: a mismatch."""
    replay = Replay(of_march_2009(hand))
    mismatches = replay.check()
    assert (len(mismatches), len(replay.contradictions)) == ((0, 1) if hand else (1, 0))
    assert hand == "" or "March 2009" in str(replay.contradictions[0])
