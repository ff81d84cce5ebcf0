"""Messages on the wire: what is written round-trips exactly, what is read is read liberally, the rest is told why."""

from __future__ import annotations

import json
import random
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.game import Game
from engine.mjai.actions import action_message, action_of
from engine.mjai.dialects import DIALECTS, write
from engine.mjai.messages import for_seat
from engine.rules import MAJSOUL
from engine.tiles import MJAI_NAMES, SANMA_KINDS
from server.events import EVENT, Tile
from server.messages import EXT_BOT_SIZE, BadMessage, Join, as_message, parse_join, parse_reply
from tests.support.players import ALL_HABITS, answer, efficient_driver

HAND = ["1m", "9m", "1p", "5pr", "5p", "9p", "1s", "5sr", "9s", "E", "S", "N", "C"]
HIDDEN = ["?"] * 13
RON = {"type": "hora", "actor": 0, "target": 1, "pai": "9p"}

# One of every type the server writes, keys in order, with all it may carry.
EVENTS: list[dict[str, Any]] = [
    {"type": "hello", "protocol": "mjsonp", "protocol_version": 3},
    {"type": "error", "actor": 1, "message": "dahai: pai is missing"},
    {"type": "resumed", "from": 57},
    {"type": "start_game", "names": ["a", "東", ""], "rules": "tenhou", "length": "hanchan", "aka_flag": False,
     "wall_seed": "7", "id": 2, "resume": "secret"},
    {"type": "start_kyoku", "bakaze": "S", "kyoku": 3, "honba": 1, "kyotaku": 2, "oya": 2, "dora_marker": "9s",
     "scores": [35000, -100, 70100], "tehais": [HAND, HIDDEN, HIDDEN]},
    {"type": "tsumo", "can_act": True, "possible_actions": [{"type": "nukidora", "actor": 0, "pai": "N"}], "actor": 0,
     "pai": "N"},
    {"type": "dahai", "possible_actions": [RON], "actor": 1, "pai": "9p", "tsumogiri": True},
    {"type": "reach", "actor": 0, "cannot_dahai": ["1p", "5sr"]},
    {"type": "reach_accepted", "actor": 0, "deltas": [-1000, 0, 0], "scores": [34000, 35000, 35000]},
    {"type": "pon", "actor": 0, "target": 1, "pai": "5pr", "consumed": ["5p", "5p"], "cannot_dahai": ["5p"]},
    {"type": "daiminkan", "actor": 0, "target": 2, "pai": "5s", "consumed": ["5s", "5s", "5sr"]},
    {"type": "kakan", "possible_actions": [], "actor": 1, "pai": "8s", "consumed": ["8s", "8s", "8s"]},
    {"type": "ankan", "possible_actions": [], "actor": 0, "consumed": ["C", "C", "C", "C"]},
    {"type": "nukidora", "actor": 0, "pai": "N"},
    {"type": "dora", "dora_marker": "2p"},
    {"type": "hora", "actor": 0, "target": 1, "pai": "9p", "uradora_markers": ["9s"], "hora_tehais": HAND,
     "yakus": [["reach", 1], ["dora", 3]], "fu": 40, "fan": 4, "hora_points": 12000, "pao": 2,
     "deltas": [16400, -12400, 0], "scores": [50400, 18600, 36000]},
    {"type": "ryukyoku", "reason": "fanpai", "tehais": [HAND, HIDDEN[:10], []], "tenpais": [True, False, False],
     "deltas": [2000, -1000, -1000], "scores": [37000, 34000, 34000]},
    {"type": "end_kyoku"},
    {"type": "end_game", "scores": [69100, -7800, 43700], "points": [64.1, -57.8, -6.3]},
]  # fmt: skip

REPLIES: list[dict[str, Any]] = [
    {"type": "none"},
    {"type": "dahai", "actor": 0, "pai": "5pr", "tsumogiri": False},
    {"type": "reach", "actor": 0},
    {"type": "pon", "actor": 0, "target": 1, "pai": "5p", "consumed": ["5p", "5pr"]},
    {"type": "daiminkan", "actor": 0, "target": 1, "pai": "5pr", "consumed": ["5p", "5p", "5p"]},
    {"type": "kakan", "actor": 0, "pai": "C", "consumed": ["C", "C", "C"]},
    {"type": "ankan", "actor": 0, "consumed": ["5s", "5s", "5s", "5sr"]},
    {"type": "nukidora", "actor": 0, "pai": "N"},
    {"type": "hora", "actor": 0, "target": 0, "pai": "E"},
    {"type": "ryukyoku", "actor": 0},
]


def text_of(message: Any) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def complaint_about(message: Any, parse: Any = parse_reply) -> str:
    with pytest.raises(BadMessage) as caught:
        parse(message if isinstance(message, str | bytes) else json.dumps(message))
    return str(caught.value)


# Events ---------------------------------------------------------------------------------------------------------------


def test_tiles_are_those_of_three_players() -> None:
    assert set(get_args(Tile)) == {MJAI_NAMES[kind] for kind in SANMA_KINDS} | {"5pr", "5sr"}


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event["type"])
def test_every_event_round_trips_byte_for_byte(event: dict[str, Any]) -> None:
    model = EVENT.validate_json(text_of(event))
    assert EVENT.dump_json(model, exclude_none=True, by_alias=True).decode() == text_of(event)
    assert type(model).__name__.lower() == event["type"].replace("_", "")


def test_every_type_of_event_is_tried() -> None:
    tags = EVENT.json_schema()["discriminator"]["mapping"]
    assert sorted(tags) == sorted(event["type"] for event in EVENTS)


@pytest.mark.parametrize("habits", ALL_HABITS[:6])
def test_whole_games_round_trip_as_each_seat_sees_them(habits: Any) -> None:
    game, choose = Game(seed=11, rules=MAJSOUL), efficient_driver(random.Random(11), habits)
    while not game.over:
        answer(game, choose)
    assert len(game.messages) > 300
    for message in game.messages:
        for seen in (message, for_seat(message, 1)):
            model = EVENT.validate_python(seen)
            assert EVENT.dump_python(model, mode="json", exclude_none=True) == seen


@pytest.mark.parametrize(
    ("event", "wrong"),
    [
        ({"type": "tsumo", "actor": 3, "pai": "1m"}, "actor"),
        ({"type": "tsumo", "actor": 0, "pai": "2m"}, "pai"),
        ({"type": "dahai", "actor": 0, "pai": "?", "tsumogiri": True}, "pai"),
        ({"type": "dahai", "actor": 0, "pai": "0p", "tsumogiri": True}, "pai"),
        ({"type": "dahai", "actor": 0, "pai": "1m"}, "tsumogiri"),
        ({"type": "reach_accepted", "actor": 0, "deltas": [0, 0, 0, 0], "scores": [0, 0, 0]}, "deltas"),
        ({"type": "pon", "actor": 0, "target": 1, "pai": "1m", "consumed": ["1m"]}, "consumed"),
        ({"type": "kita", "actor": 0, "pai": "N"}, "type"),
    ],
)
def test_events_are_strict(event: dict[str, Any], wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        EVENT.validate_json(json.dumps(event))


# Replies --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: reply["type"])
def test_every_reply_round_trips_byte_for_byte(reply: dict[str, Any]) -> None:
    model = parse_reply(text_of(reply))
    assert as_message(model) == reply
    assert model.model_dump_json(exclude_none=True) == text_of(reply)
    assert parse_reply(text_of(reply).encode() + b"\n") == model


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_legal_action_is_read_in_every_dialect(dialect: str) -> None:
    game, choose = Game(seed=4), efficient_driver(random.Random(4), ALL_HABITS[3])
    said = set()
    while not game.over:
        for seat in game.asked:
            for action in game.legal(seat):
                message = action_message(game.table, seat, action)
                reply = as_message(parse_reply(json.dumps(write(message, dialect))))
                assert action_of(game.table, seat, reply) == action
                said.add(message["type"])
        answer(game, choose)
    assert {"dahai", "reach", "pon", "daiminkan", "kakan", "ankan", "nukidora", "hora", "none"} <= said


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ({"type": "kita"}, {"type": "nukidora", "pai": "N"}),
        ({"type": "kita", "pai": "4z", "actor": 1}, {"type": "nukidora", "pai": "N", "actor": 1}),
        ({"type": "nukidora", "consumed": []}, {"type": "nukidora", "pai": "N"}),
        ({"type": "kita", "consumed": ["N"]}, {"type": "nukidora", "pai": "N"}),
        ({"type": "dahai", "pai": "0p"}, {"type": "dahai", "pai": "5pr"}),
        ({"type": "dahai", "pai": "5rs", "tsumogiri": None}, {"type": "dahai", "pai": "5sr"}),
        ({"type": "dahai", "pai": "7z", "meta": {"q": [1]}}, {"type": "dahai", "pai": "C"}),
        ({"type": "pon", "consumed": ["0p", "5p"]}, {"type": "pon", "consumed": ["5pr", "5p"]}),
        ({"type": "daiminkan"}, {"type": "daiminkan"}),
        ({"type": "kakan", "pai": "1z"}, {"type": "kakan", "pai": "E"}),
        ({"type": "ankan", "pai": "?", "consumed": ["1m"] * 4}, {"type": "ankan", "consumed": ["1m"] * 4}),
        ({"type": "hora"}, {"type": "hora"}),
        ({"type": "hora", "deltas": [1, 2, 3, 4], "ura_markers": ["x"], "uradora_markers": 5}, {"type": "hora"}),
        ({"type": "none", "actor": 2, "type_": 1}, {"type": "none", "actor": 2}),
    ],
)
def test_reading_is_liberal(said: dict[str, Any], read: dict[str, Any]) -> None:
    assert as_message(parse_reply(json.dumps(said))) == read


def test_of_one_key_twice_the_last_counts() -> None:
    assert as_message(parse_reply('{"type":"none","type":"reach"}')) == {"type": "reach"}


def test_notes_of_a_bot_are_kept_as_given() -> None:
    notes = {"token": 7, "prob": 0.25, "candidate": [[1, None], {"深い": "NaN"}], "big": 10**30}
    reply = parse_reply(json.dumps({"type": "dahai", "pai": "1m", "ext_bot": notes}))
    assert reply.ext_bot == notes
    assert as_message(reply) == {"type": "dahai", "pai": "1m"}


def test_notes_of_a_bot_are_small() -> None:
    notes = {"a": "xx" + "北" * ((EXT_BOT_SIZE - 10) // 3)}
    assert len(json.dumps(notes, ensure_ascii=False, separators=(",", ":")).encode()) == EXT_BOT_SIZE
    assert parse_reply(json.dumps({"type": "none", "ext_bot": notes})).ext_bot == notes
    notes["a"] += "北"
    assert complaint_about({"type": "none", "ext_bot": notes}) == EXT_BOT.format("too big (4,099 bytes)")


TYPES = "none, dahai, reach, pon, daiminkan, kakan, ankan, nukidora, kita, hora, ryukyoku"
ONE_OBJECT = "send one JSON object a message, in UTF-8"
EXT_BOT = "none: ext_bot is {}; ext_bot must be an object without NaN, at most 4,096 bytes"
TILE = "a tile like 5p, 5pr or E"


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (b"", f"not JSON (EOF while parsing a value at line 1 column 0); {ONE_OBJECT}"),
        (b"none", f"not JSON (expected ident at line 1 column 2); {ONE_OBJECT}"),
        (b'{"type":"none"', f"not JSON (EOF while parsing an object at line 1 column 14); {ONE_OBJECT}"),
        (b'{"type":"none"} {}', f"not JSON (trailing characters at line 1 column 17); {ONE_OBJECT}"),
        (b"[" * 65536, f"not JSON (recursion limit exceeded at line 1 column 202); {ONE_OBJECT}"),
        (b'{"type":"none","x":"\xff"}', f"not JSON (invalid unicode code point at line 1 column 21); {ONE_OBJECT}"),
        (
            b'{"type":"none","x":"\\ud800"}',
            f"not JSON (unexpected end of hex escape at line 1 column 27); {ONE_OBJECT}",
        ),
        ('{"type":"none","x":"\ud800"}', f"not UTF-8; {ONE_OBJECT}"),
        (b'{"type":"none","x":NaN}', f"not JSON (NaN is no number there); {ONE_OBJECT}"),
        (b'{"type":"none","x":[-Infinity]}', f"not JSON (-Infinity is no number there); {ONE_OBJECT}"),
        (b'{"type":"none","ext_bot":{"x":NaN}}', EXT_BOT.format("an object with NaN or an infinity")),
        (b'{"type":"none","ext_bot":{"x":1e999}}', EXT_BOT.format("an object with NaN or an infinity")),
        (b'{"type":"none","actor":NaN}', "none: actor is NaN; actor must be your seat, 0 to 2"),
        (
            b'{"type":"none","x":' + b"9" * 5000 + b"}",
            f"not JSON (number out of range at line 1 column 4321); {ONE_OBJECT}",
        ),
        ([], "the message is []; it must be a JSON object with a type"),
        (None, "the message is null; it must be a JSON object with a type"),
        ({}, f"type is missing; type must be one of {TYPES}"),
        ({"type": 5}, f"type is 5; type must be one of {TYPES}"),
        ({"type": None}, f"type is null; type must be one of {TYPES}"),
        ({"type": "chi"}, f"type is 'chi'; type must be one of {TYPES}"),
        ({"type": "tsumo"}, f"type is 'tsumo'; type must be one of {TYPES}"),
        ({"type": "a\x00\u202e"}, f"type is 'a\\x00\\u202e'; type must be one of {TYPES}"),
        ({"type": "x" * 99}, f"type is '{'x' * 58}…; type must be one of {TYPES}"),
        ({"type": "none", "actor": 3}, "none: actor is 3; actor must be your seat, 0 to 2"),
        ({"type": "none", "actor": True}, "none: actor is true; actor must be your seat, 0 to 2"),
        ({"type": "none", "actor": 10**400}, "none: actor is a huge number; actor must be your seat, 0 to 2"),
        ({"type": "dahai"}, f"dahai: pai is missing; pai must be {TILE}"),
        ({"type": "dahai", "pai": "2m"}, f"dahai: pai is '2m'; pai must be {TILE}"),
        ({"type": "dahai", "pai": "?"}, f"dahai: pai is '?'; pai must be {TILE}"),
        ({"type": "dahai", "pai": ["1m"]}, f"dahai: pai is ['1m']; pai must be {TILE}"),
        (
            {"type": "dahai", "pai": "1m", "tsumogiri": "yes"},
            "dahai: tsumogiri is 'yes'; tsumogiri must be true or false",
        ),
        (
            {"type": "pon", "consumed": ["1m", "9m"]},
            "pon: consumed is ['1m', '9m']; consumed must be the two tiles of your hand, of one kind, like 5p and 5pr",
        ),
        (
            {"type": "pon", "consumed": ["5p", 5]},
            "pon: consumed[1] is 5; consumed must be the two tiles of your hand, of one kind, like 5p and 5pr",
        ),
        (
            {"type": "pon"},
            "pon: consumed is missing; consumed must be the two tiles of your hand, of one kind, like 5p and 5pr",
        ),
        (
            {"type": "ankan", "consumed": ["1m"] * 9},
            "ankan: consumed is a list of 9; consumed must be four tiles of one kind",
        ),
        ({"type": "kakan", "consumed": ["1m"] * 3}, f"kakan: pai is missing; pai must be {TILE}"),
        (
            {"type": "daiminkan", "target": -1},
            "daiminkan: target is -1; target must be the seat that discarded, 0 to 2",
        ),
        ({"type": "kita", "pai": "E"}, "kita: pai is 'E'; pai must be N"),
        ({"type": "none", "ext_bot": [1]}, EXT_BOT.format("a list of 1")),
    ],
)
def test_bad_replies_are_told_what_is_wrong(said: Any, complaint: str) -> None:
    assert complaint_about(said) == complaint


# Joining --------------------------------------------------------------------------------------------------------------


def test_join_round_trips() -> None:
    whole = {
        "type": "join", "name": "wahaha", "room": "solo+rule+efficiency", "dialect": "kita", "token": "t",
        "reply": "when_asked", "games": 0, "resume": "secret", "seen": 12,
    }  # fmt: skip
    assert parse_join(text_of(whole)).model_dump_json() == text_of(whole)


def test_a_join_needs_only_a_name() -> None:
    assert parse_join(b'{"type":"join","name":"\\u3000 \xe6\x9d\xb1 b ","x":1}') == Join(
        type="join", name="東 b", room="default", dialect="mjai3p", token=None, reply="always", games=1, resume=False,
        seen=0,
    )  # fmt: skip


def test_coming_back_needs_only_the_secret() -> None:
    join = parse_join('{"type":"join","resume":"secret"}')
    assert (join.name, join.resume, join.seen) == ("", "secret", 0)
    assert parse_join('{"type":"join","name":"a","resume":true}').resume is True


def test_dialects_of_a_join_are_those_there_are() -> None:
    assert [parse_join(json.dumps({"type": "join", "name": "a", "dialect": it})).dialect for it in DIALECTS] == list(
        DIALECTS
    )


ROOM = "1 to 64 of A-Z a-z 0-9 _ . - and then any number of +BOT (512 characters at most)"


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"type": "none"}, "join: type is 'none'; type must be join"),
        ({"name": None}, "join: name is null; name must be 1 to 64 printable characters"),
        ({"name": " \t"}, "join: name is ' \\t'; name must be 1 to 64 printable characters"),
        ({"name": "a\nb"}, "join: name is 'a\\nb'; name must be 1 to 64 printable characters"),
        ({"name": "x" * 65}, f"join: name is '{'x' * 58}…; name must be 1 to 64 printable characters"),
        ({"room": ""}, f"join: room is ''; room must be {ROOM}"),
        ({"room": "a b"}, f"join: room is 'a b'; room must be {ROOM}"),
        ({"room": "a\n"}, f"join: room is 'a\\n'; room must be {ROOM}"),
        ({"room": "a++b"}, f"join: room is 'a++b'; room must be {ROOM}"),
        ({"room": "x" * 65}, f"join: room is '{'x' * 58}…; room must be {ROOM}"),
        ({"room": "x" + "+rule" * 103}, f"join: room is 'x{'+rule' * 11}+r…; room must be {ROOM}"),
        ({"dialect": "ruby"}, "join: dialect is 'ruby'; dialect must be mjai3p, libriichi3p or kita"),
        ({"token": ""}, "join: token is ''; token must be your access token, at most 256 characters"),
        ({"reply": "never"}, "join: reply is 'never'; reply must be always or when_asked"),
        ({"games": -1}, "join: games is -1; games must be a number of games, 0 for as long as the connection lasts"),
        ({"games": 1.5}, "join: games is 1.5; games must be a number of games, 0 for as long as the connection lasts"),
        ({"seen": "3"}, "join: seen is '3'; seen must be a number of messages, 0 or more"),
        ({"resume": 1}, "join: resume is 1; resume must be true, or the secret of the game to come back to"),
        ({"resume": ""}, "join: resume is ''; resume must be true, or the secret of the game to come back to"),
    ],
)
def test_bad_joins_are_told_what_is_wrong(changed: dict[str, Any], complaint: str) -> None:
    assert complaint_about({"type": "join", "name": "a"} | changed, parse_join) == complaint


def test_a_join_without_its_type_or_its_name_is_told_so() -> None:
    assert complaint_about({"name": "a"}, parse_join) == "join: type is missing; type must be join"
    nameless = "join: name is missing; name must be 1 to 64 printable characters"
    assert complaint_about({"type": "join", "resume": True}, parse_join) == nameless


# Anything at all ------------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from([*HAND, "0p", "?", "default"]),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)
KEYS = {"actor", "target", "pai", "consumed", "tsumogiri", "ext_bot", *Join.model_fields} - {"type"}
NEAR = st.fixed_dictionaries(
    {"type": st.sampled_from([*TYPES.split(", "), "join"])}, optional=dict.fromkeys(sorted(KEYS), JSON)
)
ANYTHING = st.binary(max_size=200) | st.text(st.characters(), max_size=200) | st.builds(json.dumps, JSON | NEAR)


@given(ANYTHING)
@example("[" * 500)
@example('{"type":' * 200)
@example('{"type":"dahai","pai":"' + "\U000e0001" * 300 + '"}')
def test_whatever_comes_is_read_or_complained_of_in_one_line(data: bytes | str) -> None:
    for parse in (parse_reply, parse_join):
        try:
            parse(data)
        except BadMessage as error:
            complaint = str(error)
            assert complaint.isprintable()
            assert 0 < len(complaint) <= 300
