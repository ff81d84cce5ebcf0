"""``python -m engine show``: what each line shows, at any width."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from rich.console import Console

from engine.mjai.messages import make
from engine.mjai.results import result_lines, yaku_of
from engine.records import tenhou_json
from engine.records.files import read_records
from engine.records.model import GameRecord, RecordError
from engine.records.show import LEGEND, show_game, turns
from engine.records.viewer import viewer_link
from tests.support.handmade_records import busy_game

NAMES = ("A", "B", "C")


def shown(record: GameRecord, width: int, only: int | None = None) -> list[str]:
    output = io.StringIO()
    show_game(record, Console(file=output, width=width, highlight=False), only)
    return output.getvalue().splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", ["phoenix_2018_1.xml", "majsoul_kan3_nuki_rinshan.json", "phoenix_2025_4.json"])
def test_lines_fit_the_terminal_and_nothing_is_cut(name: str, width: int, records_dir: Path) -> None:
    record = read_records(records_dir / name)
    lines = shown(record, width)
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    assert all(part in text for legend in LEGEND for part in legend.split(" · "))
    assert "…" not in text
    wins = [event for event in record.events if event["type"] == "hora"]
    assert text.count(" wins by ") == len(wins)
    assert text.count("riichi ") >= sum(event["type"] == "reach" for event in record.events)


def test_turns_have_hand_melds_nukidora_and_action(records_dir: Path) -> None:
    second = read_records(records_dir / "phoenix_2018_1.xml").rounds()[1]
    by_number = {turn.number: turn for turn in turns(second)}
    start = 2  # the round begins with event 45 of the record
    hands = [(turn.seat, turn.hand, turn.takes, turn.action) for turn in by_number.values()]
    assert (2, "3377s · pon WWW · pon 333p · pon 444p", "S", "S'") in hands
    assert (1, "78999p 22224478s · N×1", "9s", "ankan 2s") in hands
    assert (1, "78999p 44789s · ankan 2222s · N×1", "9s", "riichi 9s'") in hands
    assert hands[-1][2:] == ("F", "tsumo")
    assert min(by_number) == start


def test_kakan_replaces_its_pon() -> None:
    hands = [turn.hand for turn in turns(busy_game().rounds()[0])]
    assert any("kakan WWWW" in hand for hand in hands)
    assert not any("pon WWW" in hand and "kakan" in hand for hand in hands)


def test_a_win_reads_as_players_say_it(records_dir: Path) -> None:
    record = read_records(records_dir / "phoenix_2018_1.xml")
    lines = [result_lines(events[-2], NAMES, events) for events in record.rounds()]
    assert lines[0] == [
        "A wins by ron from B on 7p with 45678899p 11234s",
        "iipeikou 1, dora 1: 2 han 40 fu, 3,900 points",
        "A +3,900 · B -3,900 · C +0",
    ]
    assert lines[1][1] == "menzen tsumo 1, chiitoitsu 2, dora 2: 5 han 25 fu, mangan, 8,000 points"
    assert lines[2][1].startswith(
        "riichi 1, sanankou 2, toitoi 2, round wind 1, hatsu 1, honitsu 3, ura dora 3: 13 han"
    )


def test_a_draw_names_who_was_tenpai() -> None:
    draw = make("ryukyoku", reason="fanpai", tenpais=[True, False, True], deltas=[1000, -2000, 1000])
    assert result_lines(draw, NAMES, []) == ["ryukyoku: no tiles left, tenpai: A, C", "A +1,000 · B -2,000 · C +1,000"]


def test_what_a_record_does_not_have_is_left_out() -> None:
    win = make("hora", actor=0, target=1)
    assert result_lines(win, NAMES, busy_game().rounds()[0]) == ["A wins by ron from B on ?"]


def test_a_ryukyoku_without_its_reason_is_shown() -> None:
    assert result_lines({"type": "ryukyoku"}, NAMES, []) == ["ryukyoku"]


def test_a_record_without_rounds_is_shown() -> None:
    assert shown(GameRecord([make("start_game", names=list(NAMES)), make("end_game")], None, ""), 120) == [*LEGEND]


def test_a_round_that_lacks_what_is_shown_is_named() -> None:
    record = busy_game()
    record.source = "game.mjson"
    del record.rounds()[1][0]["dora_marker"]
    with pytest.raises(RecordError, match=r"^game\.mjson: .* honba \d: .* \(KeyError: 'dora_marker'\)"):
        shown(record, 80)


def test_dragons_are_told_apart(records_dir: Path) -> None:
    rounds = read_records(records_dir / "phoenix_2021_1.json").rounds()
    yaku = [
        name for events in rounds for event in events if event["type"] == "hora" for name, _ in yaku_of(event, events)
    ]
    assert {"haku", "chun"} <= set(yaku)
    assert "sangenpai" not in yaku


@pytest.mark.parametrize("name", ["phoenix_2024_1.json", "phoenix_2018_1.xml", "phoenix_2020_1.mjson"])
def test_the_link_holds_the_round(name: str, records_dir: Path) -> None:
    record = read_records(records_dir / name)
    link = viewer_link(record, 2)
    assert re.fullmatch(r"https://tenhou\.net/5/#json=[\w%.,:~-]+", link)
    again = tenhou_json.read(unquote(link.split("=", 1)[1]), "link")
    hands = [event["tehais"] for event in record.events if event["type"] == "start_kyoku"]
    assert [event["tehais"] for event in again.events if event["type"] == "start_kyoku"] == hands[1:2]
    assert json.loads(unquote(link.split("=", 1)[1])).keys() == {"title", "name", "rule", "log"}
    assert shown(record, 60, only=2)[-1] == f"in Tenhou's viewer: {link}"


def test_a_round_that_the_viewer_cannot_show_has_no_link() -> None:
    record = busy_game()
    record.events[1]["tehais"][1] = ["?"] * 13
    assert shown(record, 120, only=1)[-1].startswith("no link to Tenhou's viewer: hidden tiles cannot be written")


def test_a_name_that_is_no_text_has_no_link() -> None:
    record = busy_game()
    record.events[0]["names"][0] = "A\ud800"
    assert shown(record, 120, only=1)[-1].startswith("no link to Tenhou's viewer: 'utf-8' codec can't encode")


def test_the_wall_of_a_later_round_is_that_of_its_seed() -> None:
    record = read_records(Path(__file__).parents[1] / "data" / "tenhou_walls.mjson")
    lines = shown(record, 160)
    own = shown(record, 160, only=2)
    assert [line for line in own if line.startswith("next draws: ")]
    assert set(own[:-1]) < set(lines)
