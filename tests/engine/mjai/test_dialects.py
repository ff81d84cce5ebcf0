"""Dialects are written as their own programs write them, and lose nothing that they have a key for."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.game import Game
from engine.mjai.actions import action_message, action_of
from engine.mjai.bot_messages import parse_reply
from engine.mjai.dialects import DIALECTS, write
from engine.mjai.messages import complete, for_seat
from engine.mjai.reading import canonical
from engine.mjai.schema import EVENTS, KEYS
from engine.records import mjai
from engine.records.files import find_records, read_records
from engine.records.model import GameRecord
from engine.rules import MAJSOUL, TENHOU
from tests.support.handmade_records import busy_game
from tests.support.players import ALL_HABITS, answer, efficient_driver, play, random_driver

Message = dict[str, Any]

# What a dialect has no field for, by canonical type; a bot's own hora and ryukyoku go the same way as the events.
WIN = {"pai", "hora_tehais", "yakus", "fu", "fan", "hora_points", "pao", "scores"}
SETTINGS = {"rules", "length", "aka_flag", "switches", "wall_seed", "uri", "kyoku_first", "tenhou"}
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

# Keys of records that the games here do not write: by the recorders of the arena and the server; under liability.
SELDOM = {("start_game", "wall_seed"), ("hora", "pao")}


def kept(message: Message, dialect: str) -> Message:
    lost = LOST[dialect].get(message["type"], set())
    return {key: value for key, value in message.items() if key not in lost}


def games() -> list[Game]:
    played = [play(Game(seed=i), efficient_driver(random.Random(i), habits)) for i, habits in enumerate(ALL_HABITS)]
    others = (MAJSOUL, replace(TENHOU, red_fives=False, kokushi_robs_ankan=True))
    return [*played, *(play(Game(seed=99, rules=rules), random_driver(random.Random(99))) for rules in others)]


@pytest.fixture(scope="module")
def played() -> list[Message]:
    """Every message of games in which everything happens."""
    messages = [message for game in games() for message in game.messages]
    assert {message["type"] for message in messages} == EVENTS.keys()
    return messages


@pytest.fixture(scope="module")
def recorded(records_dir: Path) -> list[Message]:
    """Every message of the real records."""
    return [message for path in find_records([records_dir]) for message in read_records(path).events]


def test_every_key_of_a_record_is_written(played: list[Message]) -> None:
    """Else docs/protocol.md promises a key that no server writes."""
    written = {(message["type"], key) for message in played for key in message}
    unwritten = {(name, key) for name, keys in KEYS.items() for key in keys} - written
    assert unwritten == SELDOM, (
        "engine/mjai/schema.py has the key, but no message: write it where the message is built (messages.py or "
        "round_events.py), or name it in SELDOM, with where it is written, or that it is only read"
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nothing_is_lost_that_the_dialect_has(dialect: str, played: list[Message], recorded: list[Message]) -> None:
    before = json.dumps([played, recorded])
    for message in [*played, *recorded]:
        assert canonical(write(message, dialect)) == kept(message, dialect)
    assert json.dumps([played, recorded]) == before


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
                view = game.view(seat)
                for action in game.legal(seat):
                    message = action_message(game.table, seat, action)
                    assert action_message(view, seat, action) == message
                    written = write(message, dialect)
                    assert canonical(written) == kept(message, dialect)
                    for reply in (canonical(written), parse_reply(json.dumps(written))):
                        assert action_of(game.table, seat, reply) == action_of(view, seat, reply) == action
                    said.add(message["type"])
            answer(game, choose)
    assert said >= {"dahai", "reach", "pon", "daiminkan", "kakan", "ankan", "nukidora", "hora", "none"}


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
    assert {canonical(message)["type"] for message in riichienv_log} == EVENTS.keys()
    for message in riichienv_log:
        assert json.dumps(write(canonical(message), "kita")) == json.dumps(message)


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


@pytest.mark.parametrize("value", ["x", -1, 1.5, True, [1], 2**31])
def test_a_count_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"honba is .*, not an integer from 0 on"):
        canonical({"type": "start_kyoku", "honba": value})


@pytest.mark.parametrize("value", ["x", None, True, [1]])
def test_points_that_are_no_number_are_refused(value: Any) -> None:
    """NaN, which is not JSON, is read as None."""
    with pytest.raises(ValueError, match=r"scores has .*, not a number"):
        canonical({"type": "start_kyoku", "scores": [35000, value, 35000]})


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
    st.sampled_from(sorted(EVENTS.keys() | {"kita", "none", "chi"})) | VALUES,
)
def test_reading_raises_nothing_but_value_error(message: Message, kind: Any) -> None:
    for received in (message, message | {"type": kind}, kind):
        try:
            canonical(received)
        except ValueError:
            continue
        assert isinstance(received["type"], str)
