"""Faults of bots: the bot is sent an error, a safe default is played, and the game goes on for the others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.actions import action_name
from engine.mjai.connection import MAX_JOIN, MAX_MESSAGE
from engine.tiles import FULL_SET, MJAI_NAMES
from server.running import Running
from tests.support.server_bots import (
    NOTHING,
    Answer,
    Bot,
    Chooser,
    Message,
    connect_in_order,
    decision_of,
    play_all,
    playing,
    serving,
    tsumogiri,
    until,
    without_hints,
)
from tests.support.stored_records import the_game

TRANSPORTS = ("tcp", "websocket")
# Bots that join one after another play the same game each time: one in which `bad` has what it needs.
SAME_GAME: dict[str, Any] = {"seed": 1, "seats": "fixed"}
ALL_TILES = {MJAI_NAMES[tile] for tile in FULL_SET}


# Wrong answers --------------------------------------------------------------------------------------------------------


def not_held(bot: Bot, drawn: Message) -> str:
    """A tile not in the hand of a bot that discards every tile it draws."""
    (start,) = [message for message in bot.game if message["type"] == "start_kyoku"][-1:]
    return min(ALL_TILES - {*start["tehais"][bot.seat], drawn["pai"]})


ILLEGAL: dict[str, Callable[[Bot, Message], Answer]] = {
    "a tile not held": lambda bot, drawn: {"type": "dahai", "actor": bot.seat, "pai": not_held(bot, drawn)},
    "said to be the drawn tile": lambda bot, drawn: {
        "type": "dahai", "actor": bot.seat, "pai": not_held(bot, drawn), "tsumogiri": True,
    },
    "no win": lambda bot, drawn: {"type": "hora", "actor": bot.seat, "target": bot.seat, "pai": drawn["pai"]},
    "no kan": lambda bot, drawn: {"type": "ankan", "actor": bot.seat, "consumed": [not_held(bot, drawn)[:2]] * 4},
    "no added kan": lambda bot, drawn: {
        "type": "kakan", "actor": bot.seat, "pai": drawn["pai"], "consumed": [drawn["pai"]] * 3,
    },
    "a pass": lambda bot, drawn: NOTHING,
    "a call": lambda bot, drawn: {
        "type": "pon", "actor": bot.seat, "target": (bot.seat + 1) % 3, "pai": "1p", "consumed": ["1p", "1p"],
    },
    "no nine kinds": lambda bot, drawn: {"type": "ryukyoku"},
}  # fmt: skip
FOR_ANOTHER: dict[str, Callable[[Bot, Message], Answer]] = {
    "another seat's": lambda bot, drawn: {"type": "dahai", "actor": (bot.seat + 1) % 3, "pai": drawn["pai"]}
}
MALFORMED: dict[str, Callable[[Bot, Message], Answer]] = {
    "not JSON": lambda bot, drawn: b"tsumogiri please",
    "cut JSON": lambda bot, drawn: b'{"type":"dahai","pai":',
    "not UTF-8": lambda bot, drawn: b'{"type":"dahai","pai":"\xff\xfe"}',
    "not an object": lambda bot, drawn: b"[1,2,3]",
    "a number": lambda bot, drawn: b"1",
    "no type": lambda bot, drawn: {"pai": drawn["pai"]},
    "unknown type": lambda bot, drawn: {"type": "flap"},
    "type of another type": lambda bot, drawn: {"type": 3},
    "an event": lambda bot, drawn: {"type": "tsumo", "actor": bot.seat, "pai": "1p"},
    "no tile": lambda bot, drawn: {"type": "dahai", "actor": bot.seat},
    "an unknown tile": lambda bot, drawn: {"type": "dahai", "actor": bot.seat, "pai": "2m"},
    "a hidden tile": lambda bot, drawn: {"type": "dahai", "actor": bot.seat, "pai": "?"},
    "a tile of another type": lambda bot, drawn: {"type": "dahai", "actor": bot.seat, "pai": 10**300},
    "a seat too far": lambda bot, drawn: {"type": "dahai", "actor": 3, "pai": drawn["pai"]},
    "nested deeply": lambda bot, drawn: b"[" * 60_000,
    "nested in a key": lambda bot, drawn: b'{"type":"none","x":' + b'{"x":' * 10_000 + b"1" + b"}" * 10_001,
    "nothing but braces": lambda bot, drawn: b"{}",
    "a huge number": lambda bot, drawn: b'{"type":"none","x":' + b"9" * 60_000 + b"}",
    "zeros": lambda bot, drawn: b"\0" * 100,
    "a long annotation": lambda bot, drawn: tsumogiri(bot, drawn) | {"ext_bot": {"x": "x" * 5000}},  # type: ignore
}
OVERSIZED: dict[str, Callable[[Bot, Message], Answer]] = {
    "too long": lambda bot, drawn: b" " * MAX_MESSAGE + b"{}",
    "much too long": lambda bot, drawn: b'{"type":"none","x":"' + b"x" * 120_000 + b'"}',
}
WRONG = ILLEGAL | FOR_ANOTHER | MALFORMED | OVERSIZED


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("reply", ["always", "when_asked"])
async def test_wrong_replies_to_a_draw_are_faults(tmp_path: Path, transport: str, reply: str) -> None:
    """For each wrong reply: an error is sent, tsumogiri is played, and the fault is counted and recorded."""
    async with serving(tmp_path, length="hanchan", max_faults=1000, messages_per_second=100_000) as server:
        bad = Bot(server, "bad", transport=transport, reply=reply)
        others = [Bot(server, "x", transport=transport), Bot(server, "y", reply="when_asked")]
        legal: list[str] = []
        async with playing(others):
            for answer in WRONG.values():
                drawn = await bad.until_own()
                asked = decision_of(server, bad)
                assert asked is not None
                legal.append(", ".join(map(action_name, asked.legal(bad.seat))))
                n_errors = len(bad.errors)
                await bad.send(answer(bad, drawn))
                await after_error(bad)
                assert without_hints(bad.game[-1]) == tsumogiri(bad, drawn)
                assert len(bad.errors) == n_errors + 1
                await bad.answer(bad.game[-1])
            await bad.play()
        game, lines = await the_game(server)
        assert len(bad.errors) == len(WRONG)
        for (kind, _), error, legal_actions in zip(WRONG.items(), bad.errors, legal, strict=True):
            assert error.isprintable(), kind
            assert len(error) < 1000, kind
            if kind in ILLEGAL:
                assert error.endswith(f"legal: {legal_actions}"), kind
            if kind in OVERSIZED:
                assert "65,536" in error, kind
        assert [line["message"] for line in lines if line["type"] == "error"] == bad.errors
        for drawn, fault, discard in zip(lines, lines[1:], lines[2:]):  # recorded where they happened
            if fault["type"] == "error":
                assert (drawn["type"], discard["type"], discard["tsumogiri"]) == ("tsumo", "dahai", True)
        assert {line["actor"] for line in lines if line["type"] == "error"} == {bad.seat}
        assert game.seats[bad.seat].faults == len(WRONG)
        assert sum(result.faults for result in game.seats) == len(WRONG)
        assert [bot.errors for bot in others] == [[], []]


async def after_error(bot: Bot) -> Message:
    """Receive an error, which must come next, reply to it, and return the message after it."""
    error = await bot.next()
    assert error is not None
    assert error["type"] == "error"
    await bot.answer(error)
    message = await bot.next()
    assert message is not None
    return message


def wrong_calls(seat: int, offered: Message, possible: Message) -> list[Message]:
    """Replies that do not fit the offered tile; `possible` does."""
    kind = possible["pai"][:2]
    return [
        {"type": "dahai", "actor": seat, "pai": offered["pai"]},
        {"type": "reach", "actor": seat},
        possible | {"actor": (seat + 1) % 3},
        possible | {"target": seat},
        possible | {"pai": next(tile for tile in sorted(ALL_TILES) if tile[:2] != kind)},
    ]


@pytest.mark.slow
async def test_wrong_replies_to_an_offer_are_faults_and_passes(tmp_path: Path) -> None:
    async with serving(tmp_path, length="hanchan", max_faults=1000, **SAME_GAME) as server:
        bad, others = Bot(server, "bad"), [Bot(server, name) for name in "xy"]
        await connect_in_order(server, [bad, *others])
        async with playing(others):
            for number in range(5):
                offered = await bad.until(lambda message: message.get("actor") != bad.seat and is_offer(message))
                (possible, *_) = offered["possible_actions"]
                n_errors = len(bad.errors)
                await bad.send(wrong_calls(bad.seat, offered, possible)[number])
                await after_error(bad)
                assert len(bad.errors) == n_errors + 1
                assert bad.game[-1].get("actor") != bad.seat or bad.game[-1]["type"] == "tsumo"
                await bad.answer(bad.game[-1])
            await bad.play()
        game, _ = await the_game(server)
        assert game.seats[bad.seat].faults == 5
        assert [bot.errors for bot in others] == [[], []]


def is_offer(message: Message) -> bool:
    """Whether a message of dialect mjai3p offers an action."""
    return bool(message.get("possible_actions"))


@pytest.mark.parametrize(("kind", "odd"), [("pon", 0.5), ("reach", 0)])
async def test_a_wrong_discard_after_a_call_or_riichi_is_replaced_by_a_legal_one(
    tmp_path: Path, kind: str, odd: float
) -> None:
    async with serving(tmp_path, length="hanchan", max_faults=1000, **SAME_GAME) as server:
        bad, others = Bot(server, "bad", Chooser(server, 3, odd)), [Bot(server, name) for name in "xy"]
        await connect_in_order(server, [bad, *others])
        async with playing(others):
            asked = await bad.until_own(kind)
            forbidden = [*asked["cannot_dahai"], min(ALL_TILES - held(server, bad))]
            await bad.send({"type": "dahai", "actor": bad.seat, "pai": forbidden[0]})
            discard = await after_error(bad)
            assert (discard["type"], discard["actor"]) == ("dahai", bad.seat)
            assert discard["pai"] not in forbidden
            await bad.answer(discard)
            await bad.play()
        game, _ = await the_game(server)
        assert game.seats[bad.seat].faults == 1


def held(server: Any, bot: Bot) -> set[str]:
    """The tiles in a bot's hand, read from the server."""
    game = decision_of(server, bot)
    assert game is not None
    return {MJAI_NAMES[action] for action in game.legal(bot.seat) if action < 37}


# Unasked --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_actions_without_a_decision_are_faults(server: Running, transport: str) -> None:
    bad, others = Bot(server, "bad", transport=transport), [Bot(server, name) for name in "xy"]
    async with playing(others):
        await bad.until(lambda message: message["type"] == "start_kyoku")
        await bad.send({"type": "dahai", "actor": bad.seat, "pai": "1p"})
        await expect(bad, "error", NOTHING)
        drawn = await bad.until_own()
        await bad.send(tsumogiri(bad, drawn))
        await bad.send(tsumogiri(bad, drawn))  # taken for the reply to the discard
        await expect(bad, "dahai", None)
        await expect(bad, "error", NOTHING)
        await bad.play()
    game, _ = await the_game(server)
    assert game.seats[bad.seat].faults == len(bad.errors) == 2
    assert all("not asked" in error for error in bad.errors)
    assert [bot.errors for bot in others] == [[], []]


async def expect(bot: Bot, kind: str, answer: Answer) -> None:
    """Check the type of the next message and reply to it."""
    message = await bot.next()
    assert message is not None
    assert message["type"] == kind
    await bot.send(answer)


async def test_an_action_without_a_decision_is_a_fault_with_reply_when_asked(tmp_path: Path) -> None:
    """It is not taken for a later decision, and the error needs no reply."""
    async with serving(tmp_path, seats="fixed") as server:
        dealer, bad, other = bots = [Bot(server, name, reply="when_asked") for name in "abc"]
        await connect_in_order(server, bots)
        await bad.until(lambda message: message["type"] == "start_game")
        await bad.send({"type": "dahai", "actor": 1, "pai": "1p"})
        await bad.until(lambda message: message["type"] == "error")
        await play_all([dealer, bad, other])
        game, lines = await the_game(server)
        assert [result.faults for result in game.seats] == [0, 1, 0]
        assert len(bad.errors) == 1
        assert all(line["tsumogiri"] for line in lines if line["type"] == "dahai")


@pytest.mark.slow
@pytest.mark.parametrize("decision_time", [30.0, 1.0])
async def test_a_bot_that_does_not_reply_to_errors_can_play(tmp_path: Path, decision_time: float) -> None:
    """Waiting for its replies to errors makes no decision late, however short the decision time."""
    async with serving(tmp_path, decision_time=decision_time, bank_time=0) as server:

        def mute_to_errors(bot: Bot, message: Message) -> Answer:
            return None if message["type"] == "error" else tsumogiri(bot, message)

        bad, others = Bot(server, "bad", mute_to_errors), [Bot(server, name) for name in "xy"]
        async with playing(others):
            for _ in range(3):
                await bad.until_own()
                await bad.send(b"?")
            await bad.play()
        game, _ = await the_game(server)
        assert game.seats[bad.seat].faults == 3
        assert not game.seats[bad.seat].taken_over


# Too many -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b" " * (MAX_JOIN + 1) + b"\n", b" " * (MAX_JOIN + 1)], ids=["complete", "unfinished"])
async def test_a_bot_over_tcp_that_has_not_joined_may_send_less(server: Running, data: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.mjai_port)
    writer.write(data)
    _, error, *rest = (await reader.read()).splitlines()
    assert json.loads(error)["message"] == "a message longer than 4,096 bytes; it was discarded"
    assert rest == []
    writer.close()


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_join_may_be_as_long_as_that(server: Running, transport: str) -> None:
    bot = Bot(server, "long", room="x", transport=transport)
    bot.opening = json.dumps(bot.join).encode().ljust(MAX_JOIN)
    await bot.connect()
    await until(lambda: "x" in server.lobby.rooms)
