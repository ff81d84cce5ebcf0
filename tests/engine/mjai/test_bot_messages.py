"""Messages of a server follow the table; messages of a bot are read liberally or refused with a clear error."""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.game import Game
from engine.mjai import bot_messages
from engine.mjai.bot_checks import BadMessage
from engine.mjai.bot_messages import parse_join, parse_reply, request_in
from engine.mjai.connection import NOT_JOINED, Join
from engine.mjai.keys import BadValue
from engine.mjai.kinds import MAX_EXT_BOT, TILE, TILES
from engine.mjai.messages import for_seat
from engine.mjai.schema import CONNECTION, EVENTS
from engine.rules import MAJSOUL
from engine.tiles import MJAI_NAMES, SANMA_KINDS
from tests.support.message_checks import check_message
from tests.support.players import ALL_HABITS, answer, efficient_driver

HAND = ["1m", "9m", "1p", "5pr", "5p", "9p", "1s", "5sr", "9s", "E", "S", "N", "C"]
HIDDEN = ["?"] * 13
RON = {"type": "hora", "actor": 0, "target": 1, "pai": "9p"}

# One of every type that a server writes, with all keys that it may have, in order.
MESSAGES: list[dict[str, Any]] = [
    {"type": "hello", "protocol": "mjsonp", "protocol_version": 3},
    {"type": "error", "actor": 1, "message": "dahai: pai is missing", "played_by": "rule", "retry": True,
     "code": "key_missing", "values": {"key": "pai"}, "codes": {"key": {"code": "a", "values": {}}}},
    {"type": "joined", "room": "default", "waiting": 1, "needed": 2},
    {"type": "resumed", "from": 57, "taken_over": True},
    {"type": "hinted", "bot": "rule", "actions": [{"action": {"type": "none"}, "value": 0.5}]},
    {"type": "start_game", "names": ["a", "東", ""], "rules": "tenhou", "length": "hanchan", "aka_flag": False,
     "switches": {"kiriage_mangan": True}, "wall_seed": "7", "id": 2, "resume": "secret", "game": "0f",
     "http_port": 8000},
    {"type": "start_kyoku", "bakaze": "S", "kyoku": 3, "honba": 1, "kyotaku": 2, "oya": 2, "dora_marker": "9s",
     "scores": [35000, -100, 70100], "tehais": [HAND, HIDDEN, HIDDEN]},
    {"type": "tsumo", "actor": 0, "pai": "N", "possible_actions": [{"type": "nukidora", "actor": 0, "pai": "N"}],
     "can_act": True},
    {"type": "dahai", "actor": 1, "pai": "9p", "tsumogiri": True, "possible_actions": [RON]},
    {"type": "reach", "actor": 0, "cannot_dahai": ["1p", "5sr"]},
    {"type": "reach_accepted", "actor": 0, "deltas": [-1000, 0, 0], "scores": [34000, 35000, 35000]},
    {"type": "pon", "actor": 0, "target": 1, "pai": "5pr", "consumed": ["5p", "5p"], "cannot_dahai": ["5p"]},
    {"type": "daiminkan", "actor": 0, "target": 2, "pai": "5s", "consumed": ["5s", "5s", "5sr"]},
    {"type": "kakan", "actor": 1, "pai": "8s", "consumed": ["8s", "8s", "8s"], "possible_actions": []},
    {"type": "ankan", "actor": 0, "consumed": ["C", "C", "C", "C"], "possible_actions": []},
    {"type": "nukidora", "actor": 0, "pai": "N", "possible_actions": [RON]},
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


def error_for(message: Any, parse: Any = parse_reply) -> str:
    with pytest.raises(BadMessage) as caught:
        parse(message if isinstance(message, str | bytes) else json.dumps(message))
    return str(caught.value)


# Messages of a server -------------------------------------------------------------------------------------------------


def test_tiles_are_those_of_three_players() -> None:
    names = {MJAI_NAMES[kind] for kind in SANMA_KINDS} | {"5pr", "5sr"}
    assert set(TILES.values()) - {"?"} == names
    assert {TILE.check(name) for name in names} == names
    for other in ("?", "2m", "5mr", "X", "", 5, None):
        with pytest.raises(BadValue):
            TILE.check(other)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message["type"])
def test_every_message_of_a_server_follows_the_table(message: dict[str, Any]) -> None:
    check_message(message)
    check_message(json.loads(text_of(message)))
    for key in message.keys() - {"type"}:
        with pytest.raises(ValueError, match=key):
            check_message(message | {key: [None]})
    with pytest.raises(ValueError, match="unknown"):
        check_message(message | {"unknown": 1})
    with pytest.raises(ValueError, match="keys of"):
        check_message({key: message[key] for key in reversed(message)} | {"unknown": 1})


def test_every_key_of_every_message_of_a_server_is_tried() -> None:
    rows: list[Any] = [*EVENTS.values(), *(row for row in CONNECTION.values() if row.sender == "server")]
    tried = {message["type"]: [*message][1:] for message in MESSAGES}
    assert len(tried) == len(MESSAGES)
    del tried["tsumo"][-1]  # can_act, which any event may have
    assert tried == {row.type: [key.name for key in row.keys] for row in rows}


@pytest.mark.parametrize("habits", ALL_HABITS[:6])
def test_whole_games_follow_the_table_as_each_seat_sees_them(habits: Any) -> None:
    game, choose = Game(seed=11, rules=MAJSOUL), efficient_driver(random.Random(11), habits)
    while not game.over:
        answer(game, choose)
    assert len(game.messages) > 300
    for message in game.messages:
        for seen in (message, for_seat(message, 1)):
            check_message(seen)


# Replies --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: reply["type"])
def test_every_reply_round_trips_byte_for_byte(reply: dict[str, Any]) -> None:
    read = parse_reply(text_of(reply))
    assert read == reply
    assert text_of(read) == text_of(reply)
    assert parse_reply(text_of(reply).encode() + b"\n") == read


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
def test_replies_are_read_liberally(said: dict[str, Any], read: dict[str, Any]) -> None:
    assert parse_reply(json.dumps(said)) == read


@pytest.mark.parametrize("long", [False, True])
def test_a_byte_order_mark_is_ignored(long: bool) -> None:
    reply = {"type": "dahai", "pai": "1m", "ext_bot": {"text": "NaN" * 100}} if long else {"type": "none"}
    text = "\ufeff" + json.dumps(reply)
    assert parse_reply(text) == parse_reply(text.encode()) == parse_reply(json.dumps(reply))
    join = '\ufeff{"type":"join","name":"a"}'
    assert parse_join(join) == parse_join(join.encode()) == parse_join(join[1:])
    assert request_in('\ufeff{"type":"leave"}'.encode()) == "leave"


def test_the_last_of_duplicate_keys_counts() -> None:
    assert parse_reply('{"type":"none","type":"reach"}') == {"type": "reach"}


def test_ext_bot_is_kept_as_given() -> None:
    notes = {"token": 7, "prob": 0.25, "candidate": [[1, None], {"深い": "NaN"}], "big": 10**30}
    reply = parse_reply(json.dumps({"type": "dahai", "pai": "1m", "ext_bot": notes}))
    assert reply == {"type": "dahai", "pai": "1m", "ext_bot": notes}


def test_ext_bot_is_limited_in_size() -> None:
    notes = {"a": "xx" + "北" * ((MAX_EXT_BOT - 10) // 3)}
    assert len(json.dumps(notes, ensure_ascii=False, separators=(",", ":")).encode()) == MAX_EXT_BOT
    assert parse_reply(json.dumps({"type": "none", "ext_bot": notes}))["ext_bot"] == notes
    notes["a"] += "北"
    assert error_for({"type": "none", "ext_bot": notes}) == EXT_BOT.format("too big (4,099 bytes)")


def test_replies_are_remembered_only_if_they_are_short_and_right() -> None:
    kept = bot_messages._short_reply.cache_info().currsize
    for index in range(3):
        long = {"type": "none", "ext_bot": {"text": f"{index}" * bot_messages.SHORT}}
        assert parse_reply(json.dumps(long)) == long
        assert error_for({"type": f"wrong{index % 2}"}).startswith(f"type is 'wrong{index % 2}'")
    assert bot_messages._short_reply.cache_info().currsize == kept


TYPES = "none, dahai, reach, pon, daiminkan, kakan, ankan, nukidora, kita, hora, ryukyoku"
ONE_OBJECT = "send one JSON object a message, in UTF-8"
EXT_BOT = "none: ext_bot is {}; ext_bot must be an object without NaN, at most 4,096 bytes"
A_TILE = "a tile like 5p, 5pr or E"
A_PAIR = "consumed must be the two tiles of your hand, of one kind, like 5p and 5pr"
FOUR = "consumed must be four tiles of one kind"
A_TARGET = "target must be the seat that discarded, 0 to 2"


@pytest.mark.parametrize(
    ("said", "error_text"),
    [
        (b"", f"not JSON (EOF while parsing a value at line 1 column 0); {ONE_OBJECT}"),
        (b'{"type":"none"} {}', f"not JSON (trailing characters at line 1 column 17); {ONE_OBJECT}"),
        (b"[" * 65536, f"not JSON (recursion limit exceeded at line 1 column 202); {ONE_OBJECT}"),
        (b'{"type":"none","x":"\xff"}', f"not JSON (invalid unicode code point at line 1 column 21); {ONE_OBJECT}"),
        (rb'{"x":"\ud800"}', f"not JSON (unexpected end of hex escape at line 1 column 13); {ONE_OBJECT}"),
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
        ({}, f"type is missing; type must be one of {TYPES}"),
        ({"type": 5}, f"type is 5; type must be one of {TYPES}"),
        ({"type": "chi"}, f"type is 'chi'; type must be one of {TYPES}"),
        ({"type": "a\x00\u202e"}, f"type is 'a\\x00\\u202e'; type must be one of {TYPES}"),
        ({"type": "x" * 99}, f"type is '{'x' * 58}…; type must be one of {TYPES}"),
        ({"type": "none", "actor": 3}, "none: actor is 3; actor must be your seat, 0 to 2"),
        ({"type": "none", "actor": True}, "none: actor is true; actor must be your seat, 0 to 2"),
        ({"type": "none", "actor": 10**400}, "none: actor is a huge number; actor must be your seat, 0 to 2"),
        ({"type": "dahai"}, f"dahai: pai is missing; pai must be {A_TILE}"),
        ({"type": "dahai", "pai": "2m"}, f"dahai: pai is '2m'; pai must be {A_TILE}"),
        ({"type": "dahai", "pai": ["1m"]}, f"dahai: pai is ['1m']; pai must be {A_TILE}"),
        ({"type": "dahai", "pai": "1m", "tsumogiri": "y"}, "dahai: tsumogiri is 'y'; tsumogiri must be true or false"),
        ({"type": "pon", "consumed": ["1m", "9m"]}, f"pon: consumed is ['1m', '9m']; {A_PAIR}"),
        ({"type": "pon", "consumed": ["5p", 5]}, f"pon: consumed[1] is 5; {A_PAIR}"),
        ({"type": "pon"}, f"pon: consumed is missing; {A_PAIR}"),
        ({"type": "ankan", "consumed": ["1m"] * 9}, f"ankan: consumed is a list of 9; {FOUR}"),
        ({"type": "kakan", "consumed": ["1m"] * 3}, f"kakan: pai is missing; pai must be {A_TILE}"),
        ({"type": "daiminkan", "target": -1}, f"daiminkan: target is -1; {A_TARGET}"),
        ({"type": "kita", "pai": "E"}, "kita: pai is 'E'; pai must be N"),
        ({"type": "none", "ext_bot": [1]}, EXT_BOT.format("a list of 1")),
    ],
)
def test_bad_replies_are_refused_with_the_reason(said: Any, error_text: str) -> None:
    assert error_for(said) == error_text


# Joining --------------------------------------------------------------------------------------------------------------


def test_join_round_trips() -> None:
    whole = {
        "type": "join", "name": "wahaha", "room": "solo+rule+efficiency", "dialect": "kita", "token": "t",
        "reply": "when_asked", "games": 0, "resume": "secret", "seen": 12, "joined": True,
    }  # fmt: skip
    join = asdict(parse_join(text_of(whole)))
    assert join.pop("given") == whole.keys() - {"type"}
    assert text_of({"type": "join"} | join) == text_of(whole)


def test_a_join_needs_only_a_name() -> None:
    assert parse_join(b'{"type":"join","name":"\\u3000 \xe6\x9d\xb1 b ","x":1}') == Join(
        name="東 b", room="default", dialect="mjai3p", token=None, reply="always", games=1, resume=False, seen=0,
        joined=False, given=frozenset({"name"}),
    )  # fmt: skip


def test_a_join_that_resumes_needs_only_the_secret() -> None:
    join = parse_join('{"type":"join","resume":"secret"}')
    assert (join.name, join.resume, join.seen) == ("", "secret", 0)
    assert parse_join('{"type":"join","name":"a","resume":true}').resume is True


MISSING = "missing"  # the value of a key that is left out
NAME = "1 to 64 printable characters, not all invisible, and not . or .."
ROOM = "1 to 64 of A-Z a-z 0-9 _ . - (no dot first) and then any number of +BOT (512 characters at most)"


@pytest.mark.parametrize(
    ("changed", "error_text"),
    [
        ({"type": "none"}, "join: type is 'none'; type must be join"),
        ({"type": MISSING}, "join: type is missing; type must be join"),
        ({"resume": True, "name": MISSING}, f"join: name is missing; name must be {NAME}"),
        ({"name": None}, f"join: name is null; name must be {NAME}"),
        ({"name": " \t"}, f"join: name is ' \\t'; name must be {NAME}"),
        ({"name": "a\nb"}, f"join: name is 'a\\nb'; name must be {NAME}"),
        ({"name": "x" * 65}, f"join: name is '{'x' * 58}…; name must be {NAME}"),
        ({"room": ""}, f"join: room is ''; room must be {ROOM}"),
        ({"name": "\u3164\u034f\ufe0f"}, f"join: name is '\u3164\u034f\ufe0f'; name must be {NAME}"),
        ({"room": "."}, f"join: room is '.'; room must be {ROOM}"),
        ({"room": "..+rule"}, f"join: room is '..+rule'; room must be {ROOM}"),
        ({"joined": 1}, "join: joined is 1; joined must be true or false: whether the server answers with joined"),
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
        ({"resume": 1}, "join: resume is 1; resume must be true, or the secret of the game to resume"),
        ({"resume": ""}, "join: resume is ''; resume must be true, or the secret of the game to resume"),
    ],
)
def test_bad_joins_are_refused_with_the_reason(changed: dict[str, Any], error_text: str) -> None:
    message = {"type": "join", "name": "a"} | changed
    given = {key: value for key, value in message.items() if value != MISSING}
    assert error_for(given, parse_join) == error_text


# Any input ------------------------------------------------------------------------------------------------------------

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
KEYS = {"actor", "target", "pai", "consumed", "tsumogiri", "ext_bot", *asdict(NOT_JOINED)} - {"given"}
NEAR = st.fixed_dictionaries(
    {"type": st.sampled_from([*TYPES.split(", "), "join"])}, optional=dict.fromkeys(sorted(KEYS), JSON)
)
ANYTHING = st.binary(max_size=200) | st.text(st.characters(), max_size=200) | st.builds(json.dumps, JSON | NEAR)


@pytest.mark.slow
@given(ANYTHING)
@example("[" * 500)
@example('{"type":' * 200)
@example('{"type":"dahai","pai":"' + "\U000e0001" * 300 + '"}')
def test_any_input_is_read_or_refused_in_one_line(data: bytes | str) -> None:
    for parse in (parse_reply, parse_join):
        try:
            parse(data)
        except BadMessage as error:
            error_text = str(error)
            assert error_text.isprintable()
            assert 0 < len(error_text) <= 300
