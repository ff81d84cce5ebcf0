"""Replay of recorded games: real ones, our own in each format, rare rounds made by hand, and changed records."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.actions import DAIMINKAN, KAKAN, KYUSHU_KYUHAI, NUKIDORA, PASS, PON, PON_RED, RIICHI, RON, TSUMOGIRI
from engine.game import Game
from engine.mjai.messages import Message, make
from engine.records import mjai, mjlog_writing, tenhou_json
from engine.records.files import find_records, read_records
from engine.records.model import GameRecord, RecordError
from engine.records.replay import Replay
from engine.rules import MAJSOUL, TENHOU, Rules
from engine.tiles import FULL_SET, MJAI_NAMES, MJAI_TILES, mpsz
from tests.support.handmade_records import without
from tests.support.players import ALL_HABITS, Habits, efficient_driver

CALLS = {PON, PON_RED, DAIMINKAN}
PAIRS = Habits(pon=0.3, kan=0.5)


def play(seed: int, rules: Rules = TENHOU, habits: Habits = PAIRS) -> tuple[Game, list[tuple[int, int, bytes]]]:
    """A whole game, and its decisions that a record shows (not those that a ron overrides), each with its view."""
    choose = efficient_driver(random.Random(seed), habits)
    game = Game(seed, rules)
    decisions = []
    while not game.over:
        answers = {}
        menus = {seat: game.legal(seat) for seat in game.asked}
        for seat, menu in menus.items():
            own = game.table.seat[seat]
            answers[seat] = choose(own.hand.tolist(), int(own.n_melds), int(game.table.drawn), menu)
        for seat, action in answers.items():
            view = game.view(seat).tobytes()
            game.act(seat, action)
            if action == RON or RON not in answers.values() or not CALLS & set(menus[seat]):
                decisions.append((seat, action, view))
    return game, decisions


def record_of(game: Game) -> GameRecord:
    """The record of a game, written as mjai and read back."""
    return mjai.read(mjai.write(GameRecord(game.messages, None, "")), "own.mjson")


def as_tenhou(record: GameRecord) -> GameRecord:
    """The record written as tenhou.net/6 and read back."""
    return tenhou_json.read(tenhou_json.write(record), "own.json")


@pytest.fixture(scope="module")
def record() -> GameRecord:
    """A game that has every type of event that the tests change."""
    for seed in range(100):
        made = record_of(play(seed)[0])
        kinds = {event["type"] for event in made.events}
        reasons = {event.get("reason") for event in made.events}
        if kinds >= {"pon", "kakan", "nukidora", "reach", "dora"} and "fanpai" in reasons:
            return made
    raise AssertionError("no game of 100 has everything in it")


# Real and own games


def test_real_games_have_no_mismatch(records_dir: Path) -> None:
    files = find_records([records_dir])
    assert len(files) >= 15
    for file in files:
        replay = Replay(read_records(file))
        assert [str(mismatch) for mismatch in replay.check()] == []
        assert replay.n_decisions > 30 * replay.n_rounds


GAMES = [
    *((seed, TENHOU, habits) for seed, habits in enumerate(ALL_HABITS)),
    (20, MAJSOUL, PAIRS),
    (21, MAJSOUL.with_length("east"), Habits(kan=1.0)),
    (22, TENHOU.with_length("east"), PAIRS),
    (23, replace(TENHOU, red_fives=False), PAIRS),
]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "rules", "habits"), GAMES)
def test_own_games_replay_decision_for_decision(seed: int, rules: Rules, habits: Habits) -> None:
    game, decisions = play(seed, rules, habits)
    record = record_of(game)
    replay = Replay(record, rules)
    seen = [(decision.seat, decision.action, decision.view.tobytes()) for decision in replay]
    assert [str(mismatch) for mismatch in replay.mismatches] == []
    assert [answer[:2] for answer in seen] == [answer[:2] for answer in decisions]
    assert seen == decisions
    n_rounds = sum(message["type"] == "start_kyoku" for message in game.messages)
    assert (replay.n_decisions, replay.n_rounds) == (len(decisions), n_rounds)
    replay = Replay(as_tenhou(record), rules)
    assert [str(mismatch) for mismatch in replay.check()] == []
    assert replay.n_decisions == len(decisions)


def test_a_decision_has_its_menu_and_the_events_before(record: GameRecord) -> None:
    n_passes = 0
    for decision in Replay(record):
        assert decision.action in decision.legal
        last = record.events[decision.n_before - 1]
        if decision.action == PASS and last["type"] == "dahai":
            n_passes += 1
            assert (decision.table.turn, decision.table.offer) == (last["actor"], MJAI_TILES[last["pai"]])
    assert n_passes > 0


def test_a_record_that_begins_in_mid_game_replays(record: GameRecord) -> None:
    starts = [index for index, event in enumerate(record.events) if event["type"] == "start_kyoku"]
    for start in starts[1:]:
        later = GameRecord([record.events[0], *record.events[start:]], record.rules, "later.mjson")
        assert Replay(later).check() == []


def test_each_iteration_starts_from_the_beginning(record: GameRecord) -> None:
    replay = Replay(record)
    first = [(decision.seat, decision.action) for decision in replay]
    assert [(decision.seat, decision.action) for decision in replay] == first
    assert replay.n_decisions == len(first)


# Rare rounds: hands of seats 0-2 (seat 0 deals), the tiles drawn in order, and what is answered when; else the drawn
# tile is discarded (the lowest after a call) and all is passed.

NO_HAND, ONE_WAIT, SAME_WAIT = "1999m1199p11223z", "234567p23466s78s", "345678p34588s57s"
RARE: dict[str, tuple[list[str], str, list[tuple[int, int]]]] = {
    "double ron": ([NO_HAND, ONE_WAIT, SAME_WAIT], "6s", [(1, RON), (2, RON)]),
    "double ron in riichi": (
        [NO_HAND, ONE_WAIT, SAME_WAIT], "5z6z7z6s", [(1, RIICHI), (2, RIICHI), (1, RON), (2, RON)],
    ),
    "ron over pon": ([NO_HAND, ONE_WAIT, SAME_WAIT], "6s", [(1, PON), (2, RON)]),
    "robbed north": (["1199m334477p336s", "1188p2299s11224z", SAME_WAIT], "4z", [(0, NUKIDORA), (1, RON)]),
    "chankan": (
        ["44p2233446688s5z", "999m112233p1122z", "111m3599p123789s"], "6z4p77z4p",
        [(0, PON), (0, KAKAN + mpsz("4p")[0]), (2, RON)],
    ),
    "pao": (
        ["119m234p5s556677z", "999m112233p1122z", "6677888p778899s"], "1s567z15s",
        [(0, PON), (0, PON), (0, PON), (0, RON)],
    ),
    "nine kinds": (["19m19p19s1234567z", ONE_WAIT, SAME_WAIT], "2p", [(0, KYUSHU_KYUHAI)]),
}  # fmt: skip


def rare(name: str) -> GameRecord:
    """The record of one of the rare rounds."""
    hands, draws, script = RARE[name]
    wall = [tile for hand in hands for tile in mpsz(hand)] + mpsz(draws)
    left = FULL_SET.tolist()
    for tile in wall:
        left.remove(tile)
    game = Game(walls=[wall + left])
    script = list(script)
    while script or game.messages[-1]["type"] == "start_kyoku":
        for seat in game.asked:
            menu = game.legal(seat)
            if script and script[0][0] == seat and script[0][1] in menu:
                game.act(*script.pop(0))
            else:
                game.act(seat, next(action for action in (PASS, TSUMOGIRI, menu[0]) if action in menu))
    end = next(index for index, message in enumerate(game.messages) if message["type"] == "end_kyoku")
    return GameRecord([*game.messages[: end + 1], make("end_game")], TENHOU, "rare.mjson")


@pytest.mark.parametrize("name", RARE)
def test_rare_rounds_replay(name: str) -> None:
    record = rare(name)
    assert Replay(record).check() == []
    assert Replay(as_tenhou(record)).check() == []


@pytest.mark.parametrize("name", RARE)
def test_results_without_deltas_and_reasons_are_completed(name: str) -> None:
    record = rare(name)
    *before, end_kyoku, end_game = record.events
    n_results = sum(event["type"] in ("hora", "ryukyoku") for event in before)
    results = without(before[-n_results:], "reason", "deltas", "scores")
    sparse = replace(record, events=[*before[:-n_results], *results, end_kyoku, end_game])
    assert tenhou_json.document_of(sparse) == tenhou_json.document_of(record)


def test_the_second_winner_of_a_double_ron_has_the_honba_in_mjlog_but_no_sticks() -> None:
    """So Tenhou writes it, though only the first winner is paid for the honba."""
    record = rare("double ron in riichi")
    record.events[1]["honba"] = 3
    assert re.findall(r'<AGARI ba="(.*?)"', mjlog_writing.write(record)) == ["3,2", "3,0"]


def test_rare_rounds_have_the_results_of_their_names() -> None:
    results = {name: [event for event in rare(name).events if event["type"] in ("hora", "ryukyoku")] for name in RARE}
    assert [(win["actor"], win["target"]) for win in results["double ron"]] == [(1, 0), (2, 0)]
    ura = [win["uradora_markers"] for win in results["double ron in riichi"]]
    assert ura == [ura[0]] * 2 != [[]] * 2
    assert [(win["actor"], win["target"]) for win in results["ron over pon"]] == [(2, 0)]
    assert results["robbed north"][0]["yakus"] == [["chitoitsu", 2]]
    assert ["chankan", 1] in results["chankan"][0]["yakus"]
    assert (results["pao"][0]["pao"], results["pao"][0]["deltas"]) == (1, [48000, -24000, -24000])
    assert results["nine kinds"][0]["reason"] == "kyushukyuhai"


def test_an_answer_that_a_ron_overrides_is_no_decision() -> None:
    decisions = [(decision.seat, decision.action) for decision in Replay(rare("ron over pon"))]
    assert decisions == [(0, TSUMOGIRI), (2, RON)]


# Records that were tampered with

Change = Callable[[list[Message]], None]


def first(events: list[Message], kind: str, **values: object) -> Message:
    """The first event of type `kind` with these values."""
    return next(e for e in events if e["type"] == kind and all(e.get(key) == value for key, value in values.items()))


def changed(kind: str, key: str, change: Callable[[Any], Any], **values: object) -> Change:
    """A change of one value of the first event of type `kind`."""

    def apply(events: list[Message]) -> None:
        event = first(events, kind, **values)
        event[key] = change(event[key])

    return apply


def discard_what_is_not_held(events: list[Message]) -> None:
    held = {*first(events, "start_kyoku")["tehais"][0], first(events, "tsumo")["pai"]}
    first(events, "dahai")["pai"] = next(name for name in MJAI_NAMES[9:] if name not in held)


def turn_the_indicator_early(events: list[Message]) -> None:
    kan = events.index(first(events, "kakan"))
    dora = events.index(first(events[kan:], "dora"))
    events.insert(kan + 1, events.pop(dora))


def forget_riichi_stick(events: list[Message]) -> None:
    events.remove(first(events, "reach_accepted"))


def stop_early(events: list[Message]) -> None:
    starts = [index for index, event in enumerate(events) if event["type"] == "start_kyoku"]
    del events[starts[-1] : -1]


def play_on(events: list[Message]) -> None:
    starts = [index for index, event in enumerate(events) if event["type"] == "start_kyoku"]
    events[-1:-1] = copy.deepcopy(events[starts[-1] : -1])


def call_from_oneself(events: list[Message]) -> None:
    pon = first(events, "pon")
    pon["actor"] = pon["target"]


def plus(amount: int) -> Callable[[Any], Any]:
    """A function that adds `amount` to a number, or to each number of a list."""
    return lambda value: [each + amount for each in value] if isinstance(value, list) else value + amount


def deal_five_easts(hands: list[list[str]]) -> list[list[str]]:
    return [["E"] * 5 + hands[0][5:], *hands[1:]]


def hide_a_hand(hands: list[list[str]]) -> list[list[str]]:
    return [["?"] * 13, *hands[1:]]


# What is changed, what the one mismatch says was recorded, and what the rules say.
TAMPERED: dict[str, tuple[Change, str, str]] = {
    "deltas": (changed("hora", "deltas", plus(100)), "hora deltas [", "hora deltas ["),
    "fu": (changed("hora", "fu", plus(10)), "hora fu ", "hora fu "),
    "yaku": (changed("hora", "yakus", lambda yakus: yakus[1:]), "hora yakus [", "hora yakus [["),
    "han": (changed("hora", "fan", plus(1)), "hora fan ", "hora fan "),
    "points": (changed("hora", "hora_points", plus(100)), "hora hora_points ", "hora hora_points "),
    "winner": (changed("hora", "target", lambda seat: (seat + 1) % 3), "hora ", ""),
    "noten payment": (changed("ryukyoku", "deltas", plus(1)), "ryukyoku deltas [", "ryukyoku deltas ["),
    "tenpai": (
        changed("ryukyoku", "tenpais", lambda tenpais: [not tenpai for tenpai in tenpais], reason="fanpai"),
        "ryukyoku tenpais [",
        "ryukyoku tenpais [",
    ),
    "reason": (
        changed("ryukyoku", "reason", lambda _: "nagashimangan"),
        "ryukyoku reason nagashi",
        "ryukyoku reason f",
    ),
    "tsumogiri": (
        changed("dahai", "tsumogiri", lambda _: True, tsumogiri=False),
        "dahai tsumogiri True",
        "dahai tsumogiri False",
    ),
    "discard": (discard_what_is_not_held, "dahai actor 0, pai ", "seat 0 may not discard "),
    "turn": (changed("dahai", "actor", plus(1), actor=0), "dahai actor 1", "seat 0 is to act"),
    "indicator early": (turn_the_indicator_early, "dora dora_marker ", "tsumo actor "),
    "stick": (forget_riichi_stick, "", "reach_accepted actor "),
    "tile": (changed("start_kyoku", "tehais", deal_five_easts), "start_kyoku bakaze E", "no E is left; "),
    "hidden": (changed("start_kyoku", "tehais", hide_a_hand), "start_kyoku bakaze E", "a hidden tile; "),
    "pon": (call_from_oneself, "pon actor ", "seat "),
    "end": (stop_early, "end_game", "start_kyoku bakaze "),
    "rounds": (play_on, "start_kyoku ", "end_game"),
    "final scores": (changed("end_game", "scores", plus(100)), "end_game scores [", "end_game scores ["),
    "final points": (changed("end_game", "points", plus(1)), "end_game points [", "end_game points ["),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_change_gives_one_mismatch(record: GameRecord, name: str) -> None:
    change, recorded, rules = TAMPERED[name]
    events = copy.deepcopy(record.events)
    change(events)
    tampered = GameRecord(events, record.rules, "tampered.mjson")
    (mismatch,) = Replay(tampered).check()
    assert mismatch.recorded.startswith(recorded)
    assert mismatch.rules.startswith(rules)
    assert mismatch.recorded.startswith(events[mismatch.number - 1]["type"])
    assert str(mismatch).startswith(f"tampered.mjson: {mismatch.round}: event {mismatch.number}: recorded ")


def test_a_wrong_indicator_shows_in_the_win() -> None:
    record = rare("double ron")
    record.events[1]["dora_marker"] = "7p"
    (mismatch,) = Replay(record).check()
    assert mismatch.recorded.startswith("hora ")
    assert "['dora', 1]" in mismatch.rules


@pytest.mark.parametrize(
    ("key", "value"), [("honba", 5), ("kyotaku", 7), ("bakaze", "W"), ("scores", [35_000, 35_000, 34_900])]
)
def test_a_round_with_another_start_is_played_as_recorded(record: GameRecord, key: str, value: object) -> None:
    events = copy.deepcopy(record.events)
    starts = [event for event in events if event["type"] == "start_kyoku"]
    starts[1][key] = value
    replay = Replay(GameRecord(events, record.rules, "tampered.mjson"))
    decisions = [decision.n_before for decision in replay]
    mismatch = replay.mismatches[0]
    assert events[mismatch.number - 1] is starts[1]
    assert mismatch.recorded.startswith(f"start_kyoku {key} {value}")
    assert mismatch.number + 1 in decisions


def test_rounds_after_a_mismatch_are_checked(record: GameRecord) -> None:
    events = copy.deepcopy(record.events)
    for event in events:
        if event["type"] == "hora":
            event["fu"] = 15
    n_won = sum(any(event["type"] == "hora" for event in round_) for round_ in record.rounds())
    replay = Replay(GameRecord(events, record.rules, "tampered.mjson"))
    assert [mismatch.recorded for mismatch in replay.check()] == ["hora fu 15"] * n_won
    assert replay.n_rounds == len(record.rounds())


@pytest.mark.parametrize(
    ("kind", "key", "location"),
    [
        ("tsumo", "pai", "E1 honba 0"),
        ("dahai", "pai", "E1 honba 0"),
        ("dahai", "actor", "E1 honba 0"),
        ("start_kyoku", "tehais", "E1 honba 0"),
        ("start_kyoku", "bakaze", "event 2"),
    ],
)
def test_an_incomplete_record_is_named_with_its_location(
    record: GameRecord, kind: str, key: str, location: str
) -> None:
    events = copy.deepcopy(record.events)
    del first(events, kind)[key]
    with pytest.raises(RecordError, match=f"^broken.mjson: {location}: "):
        Replay(GameRecord(events, record.rules, "broken.mjson")).check()


def test_a_round_without_end_is_named(record: GameRecord) -> None:
    events = [event for event in record.events if event["type"] != "end_kyoku"]
    with pytest.raises(RecordError, match=r"^broken.mjson: event \d+: a round starts before the last one's end_kyoku"):
        Replay(GameRecord(events, record.rules, "broken.mjson")).check()
