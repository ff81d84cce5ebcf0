"""Logs of games that were cut off: replayed as far as they go if the reader asks for it, and otherwise refused."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from engine.actions import TSUMO
from engine.common.error_text import coded
from engine.records import mjai
from engine.records.files import parse_record, read_records
from engine.records.model import GameRecord, RecordError
from engine.records.replay import Replay
from engine.records.validate import check_file
from tests.support import small_games

HALF_LINE = '{"type":"daha'


def cut_after(lines: list[str], n: int, more: str = "") -> GameRecord:
    """A log of which the first lines are left."""
    return parse_record(("".join(line + "\n" for line in lines[:n]) + more).encode(), "cut.mjson", allow_cut=True)


def decisions(record: GameRecord) -> list[tuple[int, int, bytes]]:
    """Seat, action and visible tiles of each decision of a record that agrees with the rules."""
    replay = Replay(record)
    found = [(each.seat, int(each.action), each.view.tobytes()) for each in replay]
    assert replay.mismatches == []
    return found


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """The log of a game with a double ron."""
    return mjai.write(small_games.play(11, ("efficiency",) * 3).record).splitlines()


def test_the_decisions_before_any_cut_are_those_of_the_whole_game(lines: list[str]) -> None:
    whole = decisions(cut_after(lines, len(lines)))
    before = 0
    for n in range(2, len(lines), 5):
        found = decisions(cut_after(lines, n, HALF_LINE if n % 2 else ""))
        assert found == whole[: len(found)], n
        assert len(found) >= before
        before = len(found)
    assert before > 0.95 * len(whole)


def test_a_second_ron_that_may_be_missing_is_no_pass(lines: list[str]) -> None:
    second = next(n for n, (a, b) in enumerate(pairwise(lines), 1) if '"hora"' in a and '"hora"' in b)
    before = decisions(cut_after(lines, second - 1))
    assert decisions(cut_after(lines, second)) == before
    assert len(decisions(cut_after(lines, second + 1))) == len(before) + 2


def test_a_win_by_tsumo_at_the_cut_is_a_decision(lines: list[str]) -> None:
    events = map(json.loads, lines)
    tsumo = next(n for n, event in enumerate(events) if event["type"] == "hora" and event["actor"] == event["target"])
    before = decisions(cut_after(lines, tsumo))
    assert [action for _, action, _ in decisions(cut_after(lines, tsumo + 1))[len(before) :]] == [TSUMO]


def test_where_the_record_ends_is_told(records_dir: Path) -> None:
    record = read_records(records_dir / "phoenix_2020_1.mjson")
    lines = mjai.write(record).splitlines()
    starts = [n for n, event in enumerate(record.events) if event["type"] == "start_kyoku"]
    inside, between = cut_after(lines, starts[2] + 41), cut_after(lines, starts[2])
    assert inside.cut == "the record ends in E1 honba 2, after 41 events of that round"
    assert coded(inside.cut)["codes"]["round"]["code"] == "round_name"
    assert between.cut == "the record ends after E1 honba 1, without end_game"
    assert (len(inside.rounds()), len(between.rounds())) == (3, 2)
    assert cut_after(lines, len(lines)).cut is None


@pytest.mark.parametrize("n", [1, 30])
def test_such_a_log_is_refused_by_default(n: int, lines: list[str], tmp_path: Path) -> None:
    path = tmp_path / "cut.mjson"
    path.write_text("\n".join(lines[:n]) + "\n")
    with pytest.raises(RecordError, match="ends without end_game"):
        read_records(path)
    assert check_file(path).n_damaged == 1


def test_a_log_without_a_round_is_refused_always(lines: list[str]) -> None:
    with pytest.raises(RecordError, match="ends without end_game"):
        cut_after(lines, 1)


def test_a_line_amid_the_log_that_is_no_json_is_refused_always(lines: list[str]) -> None:
    with pytest.raises(RecordError, match="line 9: not JSON"):
        cut_after([*lines[:8], HALF_LINE, *lines[9:]], 20)


def test_a_line_after_the_end_of_the_game_is_refused_always(lines: list[str]) -> None:
    with pytest.raises(RecordError, match=f"line {len(lines) + 1}: not JSON"):
        cut_after(lines, len(lines), HALF_LINE)
