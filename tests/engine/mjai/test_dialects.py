"""Dialects are written as their own programs write them, and lose nothing that they have a key for."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.game import Game
from engine.mjai.actions import action_message, action_of
from engine.mjai.dialects import DIALECTS, write
from engine.mjai.messages import complete, for_seat
from engine.mjai.reading import canonical
from engine.mjai.schema import KEYS
from engine.records import mjai
from engine.records.files import find_records, read_records
from engine.records.model import GameRecord
from engine.rules import MAJSOUL, TENHOU
from tests.support.handmade_records import busy_game
from tests.support.players import ALL_HABITS, answer, efficient_driver, play, random_driver

Message = dict[str, Any]

# What a dialect has no field for, by canonical type; a bot's own hora and ryukyoku go the same way as the events.
WIN = {"pai", "hora_tehais", "yakus", "fu", "fan", "hora_points", "pao", "scores"}
SETTINGS = {"rules", "length", "aka_flag", "wall_seed", "uri", "kyoku_first", "tenhou"}
LOST: dict[str, dict[str, set[str]]] = {
    "mjai3p": {},
    "libriichi3p": {
        "start_game": SETTINGS,
        "reach_accepted": {"deltas", "scores"},
        "hora": WIN,
        "ryukyoku": {"reason", "tehais", "tenpais", "scores", "actor"},
        "end_game": {"scores", "points"},
    },
    "kita": {
        "start_game": SETTINGS,
        "reach_accepted": {"deltas", "scores"},
        "hora": WIN,
        "ryukyoku": {"tehais", "tenpais", "scores"},
        "end_game": {"scores", "points"},
    },
}
EVERY_EVENT = {
    "start_game", "start_kyoku", "tsumo", "dahai", "reach", "reach_accepted", "pon", "daiminkan", "kakan", "ankan",
    "nukidora", "dora", "hora", "ryukyoku", "end_kyoku", "end_game",
}  # fmt: skip


def kept(message: Message, dialect: str) -> Message:
    lost = LOST[dialect].get(message["type"], set())
    return {key: value for key, value in message.items() if key not in lost}


def games() -> list[Game]:
    played = [play(Game(seed=i), efficient_driver(random.Random(i), habits)) for i, habits in enumerate(ALL_HABITS)]
    return [*played, play(Game(seed=99, rules=MAJSOUL), random_driver(random.Random(99)))]


@pytest.fixture(scope="module")
def played() -> list[Message]:
    """Every message of games in which everything happens."""
    messages = [message for game in games() for message in game.messages]
    assert {message["type"] for message in messages} == EVERY_EVENT
    return messages


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nothing_is_lost_that_the_dialect_has(dialect: str, played: list[Message]) -> None:
    for message in played:
        assert canonical(write(message, dialect)) == kept(message, dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_hidden_tiles_and_keys_of_the_connection_are_kept(dialect: str, played: list[Message]) -> None:
    choices = {"possible_actions": [], "cannot_dahai": ["1m"]}
    for message in played:
        sent = for_seat(message, 1) | {"can_act": True}
        written = write(sent | choices, dialect)
        assert canonical(written) == kept(canonical(sent), dialect)
        assert canonical(sent | choices | {"resume": "secret"}).keys() == message.keys()
        assert written["can_act"] is True
        assert written.keys() & choices.keys() == (choices.keys() if dialect == "mjai3p" else set())
        if message["type"] == "start_game":
            resumable = write(sent | {"resume": "secret"}, dialect)
            assert (resumable["id"], resumable["resume"]) == (1, "secret")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_replies_are_read_back(dialect: str) -> None:
    said = set()
    for seed, habits in enumerate(ALL_HABITS[1:5]):
        game, choose = Game(seed=seed), efficient_driver(random.Random(seed), habits)
        while not game.over:
            for seat in game.asked:
                for action in game.legal(seat):
                    message = action_message(game.table, seat, action)
                    reply = canonical(write(message, dialect))
                    assert reply == kept(message, dialect)
                    assert action_of(game.table, seat, reply) == action
                    said.add(message["type"])
            answer(game, choose)
    assert said >= {"dahai", "reach", "pon", "daiminkan", "kakan", "ankan", "nukidora", "hora", "none"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_real_records_lose_only_the_keys_named(dialect: str, records_dir: Path) -> None:
    paths = find_records([records_dir])
    assert len(paths) >= 15
    for path in paths:
        for message in read_records(path).events:
            assert canonical(write(message, dialect)) == kept(message, dialect), path.name


@pytest.mark.parametrize("dialect", DIALECTS)
def test_messages_are_not_changed_by_writing(dialect: str, played: list[Message]) -> None:
    before = json.dumps(played)
    for message in played:
        write(message, dialect)
    assert json.dumps(played) == before


def test_mjai3p_is_the_canonical_message_itself(played: list[Message]) -> None:
    assert all(write(message, "mjai3p") is message for message in played)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "message",
    [
        {"type": "hello", "protocol": "mjsonp", "protocol_version": 3},
        {"type": "join", "name": "a", "room": "default"},
        {"type": "joined", "room": "default", "waiting": 1, "needed": 2},
        {"type": "resumed", "from": 3},
        {"type": "error", "message": "no"},
        {"type": "none"},
    ],
)
def test_messages_of_the_connection_are_the_same_in_every_dialect(dialect: str, message: Message) -> None:
    assert write(message, dialect) == canonical(message) == message


# Compared with the programs that use them -----------------------------------------------------------------------------


def test_libriichi3p_is_written_like_a_real_log_byte_for_byte(records_dir: Path) -> None:
    lines = (records_dir / "majsoul_kan3_nuki_rinshan.libriichi3p.mjson").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 800
    messages = [json.loads(line) for line in lines]
    written = [mjai.dumps(write(canonical(message), "libriichi3p")) for message in messages]
    assert written[0] == '{"type":"start_game","names":["A","B","C",""]}'
    assert written[1:] == lines[1:]


# The fields that libriichi's `Event` requires, by type, and how many tiles it requires in `consumed`.
LIBRIICHI_NEEDS = {
    "start_kyoku": "bakaze dora_marker kyoku honba kyotaku oya scores tehais",
    "tsumo": "actor pai",
    "dahai": "actor pai tsumogiri",
    "reach": "actor",
    "reach_accepted": "actor",
    "pon": "actor target pai consumed",
    "daiminkan": "actor target pai consumed",
    "kakan": "actor pai consumed",
    "ankan": "actor consumed",
    "nukidora": "actor pai",
    "dora": "dora_marker",
    "hora": "actor target",
}
CONSUMED = {"pon": 2, "daiminkan": 3, "kakan": 3, "ankan": 4}


def test_libriichi3p_has_all_required_keys(played: list[Message]) -> None:
    for message in played:
        kind, written = message["type"], write(for_seat(message, 0), "libriichi3p")
        assert set(LIBRIICHI_NEEDS.get(kind, "").split()) <= written.keys()
        assert {len(written[key]) for key in ("names", "scores", "tehais", "deltas") if key in written} <= {4}
        assert {len(hand) for hand in written.get("tehais", [])} <= {13}
        assert len(written.get("consumed", [])) == CONSUMED.get(kind, 0)


@pytest.fixture(scope="module")
def riichienv_log() -> list[Message]:
    """Every message of RiichiEnv's own games, played at random preferring everything to discards."""
    riichienv = pytest.importorskip("riichienv")
    plain = {int(riichienv.ActionType.DISCARD), int(riichienv.ActionType.PASS)}
    log: list[Message] = []
    for seed in range(25):
        rng = random.Random(seed)
        env = riichienv.RiichiEnv(game_mode="3p-red-half", rule=riichienv.GameRule.default_tenhou(), seed=seed)
        observations = env.reset()
        while not env.is_done:
            menus = {seat: seen.legal_actions() for seat, seen in observations.items()}
            special = {seat: [it for it in menu if int(it.action_type) not in plain] for seat, menu in menus.items()}
            observations = env.step(
                {
                    seat: rng.choice(special[seat] if special[seat] and rng.random() < 0.9 else menu)
                    for seat, menu in menus.items()
                    if menu
                }
            )
        log += env.mjai_log
    return log


@pytest.mark.slow
def test_kita_writes_riichienv_exactly_as_it_writes_itself(riichienv_log: list[Message]) -> None:
    assert {canonical(message)["type"] for message in riichienv_log} == EVERY_EVENT
    for message in riichienv_log:
        assert json.dumps(write(canonical(message), "kita")) == json.dumps(message)


def shape(value: Any) -> Any:
    """The JSON type of a value; of a list, its length where that is the number of seats, and its entries' types."""
    if isinstance(value, list):
        return "list", len(value) == 3 and not isinstance(value[0], str), *sorted({str(shape(it)) for it in value})
    return type(value).__name__


def test_kita_has_the_keys_and_types_of_riichienv(riichienv_log: list[Message], played: list[Message]) -> None:
    def keys(messages: list[Message]) -> set[tuple[str, tuple[str, ...]]]:
        return {(it["type"], tuple(it)) for it in messages if it["type"] != "start_game"}

    def types(messages: list[Message]) -> set[tuple[str, str, Any]]:
        return {
            (it["type"], key, shape(value)) for it in messages for key, value in it.items() if value not in ([], "kita")
        }

    ours = [write(message, "kita") for message in played]
    assert keys(ours) == keys(riichienv_log)
    assert types(riichienv_log) == {it for it in types(ours) if it[:2] != ("start_game", "names")}


@pytest.mark.parametrize(
    ("reason", "theirs"),
    [
        ("fanpai", "exhaustive_draw"),
        ("kyushukyuhai", "kyushu_kyuhai"),
        ("sukaikan", "suukansansen"),
        ("nagashimangan", "nagashimangan"),
    ],
)
def test_kita_has_riichienvs_reasons_of_draws(reason: str, theirs: str) -> None:
    draw = {"type": "ryukyoku", "reason": reason, "deltas": [0, 0, 0]}
    assert write(draw, "kita") == draw | {"reason": theirs}
    assert canonical(draw | {"reason": theirs}) == draw


# Whole logs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_log_written_in_a_dialect_is_read_back(dialect: str) -> None:
    played = play(Game(seed=5), efficient_driver(random.Random(5), ALL_HABITS[3]))
    for record in (busy_game(), GameRecord(played.messages, TENHOU, "played")):
        text = mjai.write(record, dialect)
        again = mjai.read(text, "downloaded")
        assert len(text.splitlines()) == len(record.events)
        assert again.events == complete([kept(event, dialect) for event in record.events])


def test_a_log_in_mjai3p_is_the_log_we_keep() -> None:
    assert mjai.write(busy_game(), "mjai3p") == mjai.write(busy_game())


def test_a_log_in_kita_reads_like_riichienv() -> None:
    lines = mjai.write(busy_game(), "kita").splitlines()
    assert lines[0] == '{"names":["東子","b","c"],"type":"start_game"}'
    assert '{"actor":1,"consumed":["W","W"],"pai":"W","target":0,"type":"pon"}' in lines
    assert lines[-1] == '{"type":"end_game"}'


# Any input ------------------------------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["5p", "N", "?"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KNOWN_KEYS = st.sampled_from(sorted(KEYS["hora"] + KEYS["start_kyoku"] + ("consumed", "ura_markers")))


@example({"points": [0, 0, 10**400]}, "end_game")
@example({"kind": 1}, "tsumo")
@example({}, ["tsumo"])
@given(
    st.dictionaries(KNOWN_KEYS | st.text(max_size=5), VALUES, max_size=5),
    st.sampled_from(sorted(EVERY_EVENT | {"kita", "none", "chi"})) | VALUES,
)
def test_reading_raises_nothing_but_value_error(message: Message, kind: Any) -> None:
    for received in (message, message | {"type": kind}, kind):
        try:
            canonical(received)
        except ValueError:
            continue
        assert isinstance(received["type"], str)
