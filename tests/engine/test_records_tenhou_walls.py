"""The walls of games, by the seeds of their records."""

from __future__ import annotations

import base64
import copy
import pickle
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from engine.cli import main
from engine.game import Game
from engine.mjai.messages import Message
from engine.records import mjlog, mjlog_writing
from engine.records.files import read_records
from engine.records.model import GameRecord
from engine.records.replay import Replay
from engine.records.validate import check_file
from engine.records.wall import PARTS, RecordedWalls, known_tiles, left_in_wall, true_walls
from engine.rules import N_DRAWS, TENHOU
from engine.table import REPLACEMENT_AT
from engine.tenhou_walls import KEY_WORDS, PREFIX, TenhouWalls
from engine.tiles import FULL_SET, KIND_OF, MJAI_NAMES
from tests.conftest import DATA

PATH = DATA / "tenhou_walls.mjson"  # three rounds with five kans, nine norths and ura


@pytest.fixture
def record() -> GameRecord:
    return read_records(PATH)


def seed_of(record: GameRecord) -> str:
    seed: str = record.events[0]["tenhou"]["seed"]
    return seed


def changed(record: GameRecord, change: Callable[[list[Message]], Any]) -> Replay:
    """The record with a change, replayed."""
    events = copy.deepcopy(record.events)
    change(events)
    replay = Replay(replace(record, events=events))
    replay.check()
    return replay


def test_recorded_rounds_have_the_walls_of_their_seed(record: GameRecord) -> None:
    events = Counter(event["type"] for event in record.events)
    assert events["ankan"] + events["daiminkan"] + events["kakan"] == 5
    assert events["nukidora"] == 9
    assert any(event.get("uradora_markers") for event in record.events)
    replay = Replay(record)
    assert replay.check() == []
    assert (replay.contradictions, replay.walls.n_true, replay.walls.note) == ([], 3, "")
    report = check_file(PATH)
    assert (report.is_clean, report.n_true_walls, report.notes) == (True, 3, [])
    assert "walls as by the seed 3" in str(report)


def test_a_game_of_a_seed_is_dealt_as_it_was_on_tenhou(record: GameRecord) -> None:
    """The recorded actions, at the walls of the seed alone, lead to the recorded events."""
    game = Game(seed_of(record), record.rules or TENHOU, record.events[0]["names"])
    for decision in Replay(record):
        if decision.seat in game.asked:
            game.act(decision.seat, decision.action)
    recorded = [event for events in record.rounds() for event in events]
    for ours, theirs in zip(game.messages[1 : len(recorded) + 1], recorded, strict=True):
        assert theirs.items() <= ours.items() or {**ours, **theirs, "yakus": 0} == {**ours, "yakus": 0}, theirs


def test_a_round_holds_each_tile_once_with_what_is_left(record: GameRecord) -> None:
    walls = RecordedWalls(record, TENHOU)
    for events in record.rounds():
        wall, differs = walls.next(events)
        assert differs is None
        assert sorted(wall) == sorted(FULL_SET.tolist())
        left = left_in_wall(events, wall)
        drawn = sum(event["type"] == "tsumo" for event in events)
        n_replaced = len(REPLACEMENT_AT) - len(left["next replacements"])
        assert len(left["next draws"]) == N_DRAWS - drawn
        assert n_replaced == sum(position >= 100 for _, position, _ in known_tiles(events))
        assert len(left["ura indicators"]) == 1 + sum(event["type"] == "dora" for event in events)


def swap_draws(events: list[Message]) -> None:
    """Of a round, two tiles that were drawn and discarded at once."""
    at = [i for i, event in enumerate(events) if event["type"] == "dahai" and event["tsumogiri"]]
    first, second = next((i, j) for i in at for j in at if i < j < i + 40 and events[i]["pai"] != events[j]["pai"])
    for i, tile in ((first, events[second]["pai"]), (second, events[first]["pai"])):
        events[i]["pai"] = events[i - 1]["pai"] = tile


def test_what_differs_from_the_seed_contradicts_it(record: GameRecord) -> None:
    replay = changed(record, swap_draws)
    (contradiction,) = replay.contradictions
    assert contradiction.recorded.startswith("tsumo")
    assert contradiction.elsewhere.startswith("its seed has ")
    assert replay.walls.n_true == 2

    replay = changed(record, lambda events: events[0]["tenhou"]["dice"][1].reverse())
    (contradiction,) = replay.contradictions
    assert "dice" in contradiction.elsewhere
    assert replay.walls.n_true == 2


def other_key(seed: str) -> str:
    """A seed of the same form with one bit changed."""
    key = bytearray(base64.b64decode(seed.partition(",")[2]))
    key[100] ^= 1
    return f"{PREFIX},{base64.b64encode(key).decode()}"


WRONG_SEEDS: dict[str, tuple[Callable[[str], str], str]] = {
    "another game's": (other_key, "gives another first deal"),
    "an older form": (lambda seed: seed.replace("sha512-n288", "sha1-n9"), f"must begin with {PREFIX}"),
    "cut off": (lambda seed: seed[:-40], "cut off"),
    "no base64": (lambda seed: seed[:-4] + "?!?!", "base64"),
}


@pytest.mark.parametrize("name", WRONG_SEEDS)
def test_a_seed_that_does_not_fit_is_named_and_not_used(record: GameRecord, name: str) -> None:
    change, told = WRONG_SEEDS[name]
    seed = change(seed_of(record))
    replay = changed(record, lambda events: events[0]["tenhou"].update(seed=seed))
    assert (replay.mismatches, replay.contradictions, replay.walls.n_true) == ([], [], 0)
    assert told in replay.walls.note
    assert replay.walls.note.endswith("it is not used")
    if name != "another game's":
        with pytest.raises(ValueError, match=told):
            Game(seed)


ODD = [
    None,
    5,
    "x",
    {"seed": 5},
    {"seed": [1]},
    {"dice": 3},
    *({"dice": [dice]} for dice in (2, [1], ["a", 1], [[1], 2])),
]


@pytest.mark.parametrize("kept", ODD, ids=str)
def test_what_a_record_keeps_may_be_anything(record: GameRecord, kept: object) -> None:
    replay = changed(record, lambda events: events[0].update(tenhou=kept))
    assert (replay.mismatches, replay.contradictions, replay.walls.n_true) == ([], [], 0)


def test_without_red_fives_the_walls_hold_none() -> None:
    seed = f"{PREFIX},{base64.b64encode(bytes(4 * KEY_WORDS)).decode()}"
    game = Game(seed, replace(TENHOU, red_fives=False))
    assert game.table.wall.tolist() == KIND_OF[list(next(TenhouWalls(seed)).tiles)].tolist()


def play_round(game: Game) -> list[Message]:
    """Play to the next round; returns its ``start_kyoku``."""
    before = sum(message["type"] == "start_kyoku" for message in game.messages)
    while sum(message["type"] == "start_kyoku" for message in game.messages) == before:
        for seat in game.asked:
            game.act(seat, game.legal(seat)[-1])
    return [message for message in game.messages if message["type"] == "start_kyoku"]


def test_copies_and_a_position_gone_back_to_are_dealt_the_same(record: GameRecord) -> None:
    game = Game(seed_of(record))
    before, copies = game.snapshot(), [pickle.loads(pickle.dumps(game)), copy.deepcopy(game)]
    played = play_round(game)
    game.restore(before)
    assert [play_round(each) for each in (game, *copies)] == [played] * 3


def test_a_game_that_is_over_shows_its_last_round(record: GameRecord) -> None:
    """And not a wall that was never dealt."""
    game = Game(seed_of(record), TENHOU.with_length("east"))
    before = game.table.wall.tolist()
    while not game.over:
        before = game.table.wall.tolist()
        for seat in game.asked:
            game.act(seat, game.legal(seat)[-1])
    assert game.table.wall.tolist() == before
    assert game.table.wall_given == 0


def test_a_copy_goes_to_a_later_position_of_its_game(record: GameRecord) -> None:
    game, copied = Game(seed_of(record)), Game(seed_of(record))
    play_round(game)
    later = game.snapshot()
    copied.restore(later)
    copied.take_messages(), game.take_messages()
    assert play_round(copied) == play_round(game)
    with pytest.raises(ValueError, match="more walls than this one has"):
        Game(7).restore(later)


def test_given_walls_take_the_place_of_those_of_the_seed(record: GameRecord) -> None:
    def shuffled() -> Iterator[list[int]]:
        wall = FULL_SET.tolist()  # one list, shuffled again for each round
        for seed in range(2):
            random.Random(seed).shuffle(wall)
            yield wall

    game = Game(seed_of(record), walls=shuffled())
    start, walls = game.snapshot(), [game.table.wall.tolist()]
    for _ in range(2):
        play_round(game)
        walls.append(game.table.wall.tolist())
    true = TenhouWalls(seed_of(record))
    assert walls[2] == list([next(true) for _ in range(3)][2].tiles)
    game.restore(start)
    play_round(game)
    assert game.table.wall.tolist() == walls[1]


def test_seed_and_dice_survive_mjlog(record: GameRecord) -> None:
    back = mjlog.read(mjlog_writing.write(record), "own")
    assert {key: back.events[0]["tenhou"][key] for key in ("seed", "dice")} == record.events[0]["tenhou"]
    replay = Replay(back)
    replay.check()
    assert (replay.contradictions, replay.walls.n_true) == ([], 3)


def test_show_prints_what_would_have_come(capsys: pytest.CaptureFixture[str]) -> None:
    """Where the seed says it, and nowhere else."""
    coming = ("next draws: ", "next replacements: ", "ura indicators: ")
    assert main(["show", str(PATH), "--round", "1"]) == 0
    printed = capsys.readouterr().out
    assert all(what in printed for what in coming)
    assert main(["show", str(DATA / "records" / "phoenix_2024_1.json"), "--round", "1"]) == 0
    printed = capsys.readouterr().out
    assert not any(f"\n{what}" in printed for what in coming)


# What would have come -------------------------------------------------------------------------------------------------


def dealt(game: Game) -> list[list[int]]:
    """The walls of the rounds of a game, played by chance to its end."""
    chance = random.Random(1)
    walls = [game.table.wall.tolist()]
    while not game.over:
        for seat in game.asked:
            game.act(seat, chance.choice(game.legal(seat)))
        if game.table.wall.tolist() != walls[-1]:
            walls.append(game.table.wall.tolist())
    return walls


def test_the_walls_of_our_games_follow_from_their_seed() -> None:
    game = Game(11)
    walls = dealt(game)
    start = game.messages[0] | {"wall_seed": "11"}
    record = GameRecord([start, *game.messages[1:]], TENHOU, "ours")
    assert {"nukidora", "ankan"} & {event["type"] for event in record.events}
    found = true_walls(record)
    assert len(found) == len(walls) > 3
    for parts, wall in zip(found, walls, strict=True):
        assert parts == {part: [MJAI_NAMES[wall[at]] for at in places] for part, places in PARTS.items()}
    for before in (11, "11"):  # earlier versions wrote an integer
        assert true_walls(GameRecord([start | {"wall_seed": before}, *game.messages[1:]], TENHOU, "ours")) == found
    for seed in (12, "12", "1" * 9999, "x11", "", True, -1, 1 << 64, None):
        other = GameRecord([game.messages[0] | {"wall_seed": seed}, *game.messages[1:]], TENHOU, "ours")
        assert set(true_walls(other)) == {None}


def test_one_replacement_of_another_wall_shows_that_the_seed_is_not_ours() -> None:
    """As in records of versions that laid the dead wall differently."""
    game = Game(11)
    dealt(game)
    events = copy.deepcopy([game.messages[0] | {"wall_seed": 11}, *game.messages[1:]])
    at = next(index for index, event in enumerate(events) if event["type"] == "nukidora")
    drawn = next(event for event in events[at:] if event["type"] == "tsumo")
    drawn["pai"] = "1m" if drawn["pai"] != "1m" else "9m"
    assert set(true_walls(GameRecord(events, TENHOU, "ours"))) == {None}


def test_the_walls_of_tenhou_in_parts(record: GameRecord) -> None:
    walls = true_walls(record)
    for events, parts in zip(record.rounds(), walls, strict=True):
        assert parts is not None
        drawn = [event["pai"] for event in events if event["type"] == "tsumo"]
        kinds = [event["type"] for event in events]
        n_replaced = sum(kinds.count(kind) for kind in ("nukidora", "ankan", "kakan", "daiminkan"))
        came = [*parts["draws"][: len(drawn) - n_replaced], *parts["replacements"][:n_replaced]]
        assert Counter(drawn) == Counter(came)
        assert parts["dora"][0] == events[0]["dora_marker"]
    unknown = replace(record, events=[{**record.events[0], "tenhou": {}}, *record.events[1:]])
    assert set(true_walls(unknown)) == {None}
