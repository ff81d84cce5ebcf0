"""Annotations of bots in a game's log: kept up to a limit."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from server.game.game_log import Fault, GameLog
from server.game.journal import Journal, read_journal
from server.game.start import GameStart, Player
from server.settings import RoomSettings

PLAYERS = (Player("a"), Player("b"), Player("c"))
START = GameStart("0" * 32, "room", RoomSettings(), 1, datetime(2026, 1, 1, tzinfo=UTC), PLAYERS)
NOTE = {"x": "y" * 92}  # 100 bytes


def test_annotations_of_a_seat_beyond_the_limit_are_dropped(tmp_path: Path) -> None:
    log = GameLog(Journal(tmp_path / "game.journal", lambda *_: None), START, max_annotations=250)
    for seat in (0, 0, 0, 1):
        log.annotate(seat, "dahai", NOTE)
        log.add_decision(seat, 0, 10.0)
        log.add_messages([{"type": "dahai", "actor": seat, "pai": "5p", "tsumogiri": True}])
    log.close(complete=True)
    kept = ["ext_bot" in json.loads(line) for line in log.history.lines()]
    assert kept == [True, True, False, True]


def test_a_fault_without_a_text_is_counted_and_not_shown(tmp_path: Path) -> None:
    logs = [GameLog(Journal(tmp_path / f"{number}.journal", lambda *_: None), START, 1000) for number in range(2)]
    for text in ("", "late", ""):
        logs[0].add_fault(1, text)
    logs[0].close(complete=False)
    restored = [logs[1].restore(entry) for entry in read_journal(tmp_path / "0.journal")]
    logs[1].close(complete=False)
    assert restored == [Fault(1)] * 3
    for log in logs:
        assert [json.loads(line)["message"] for line in log.history.lines()] == ["late"]


def test_the_journal_holds_what_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "game.journal"
    log = GameLog(Journal(path, lambda *_: None), START, max_annotations=150)
    for _ in range(2):
        log.annotate(2, "dahai", NOTE)
        log.add_decision(2, 0, 10.0)
        log.add_messages([{"type": "dahai", "actor": 2, "pai": "5p", "tsumogiri": True}])
    log.close(complete=True)
    assert ["annotation" in entry for entry in read_journal(path)] == [True, False, False]
