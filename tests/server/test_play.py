"""Whole games over both transports: what bots are sent, when they are asked, what is stored."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from engine.actions import PASS, TSUMOGIRI
from engine.mjai.actions import action_of
from engine.mjai.messages import hand_names
from engine.records.replay import Decision, Replay
from engine.tiles import MJAI_NAMES
from server.limits import Limits
from server.running import Running
from tests.support.server_bots import (
    NOTHING,
    Answer,
    Bot,
    Chooser,
    Message,
    connect_in_order,
    play_all,
    playing,
    serving,
    together,
    until,
)
from tests.support.stored_records import held_up, replay_of, stored_games, the_game

REPLIES = ("always", "when_asked")
TRANSPORTS = ("tcp", "websocket")
DIALECTS = ("mjai3p", "libriichi3p", "kita")
# A room's seed with which, when the house bot "rule" plays all seats, the game's 50th message asks two: seat 0 may pon,
# seat 2 may ron.
TWO_ASKED, TWO_ASKED_AT = 19, 52
LAST_REPLY_TIMEOUT = 0.3  # seconds


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("reply", REPLIES)
async def test_a_game_is_played_to_its_end(tmp_path: Path, transport: str, reply: str) -> None:
    async with serving(tmp_path, length="hanchan") as server:
        bots = [Bot(server, name, Chooser(server, 1), transport=transport, reply=reply) for name in "abc"]
        await play_all(bots)
        game, lines = await the_game(server)
        assert sorted(bot.seat for bot in bots) == [0, 1, 2]
        assert [result.name for result in game.seats] == bots[0].game[0]["names"]
        assert [result.faults for result in game.seats] == [0, 0, 0]
        assert [bot.errors for bot in bots] == [[], [], []]
        for bot in bots:
            assert bot.game[0]["names"][bot.seat] == bot.name
            assert [message["type"] for message in bot.game] == [line["type"] for line in lines]
            assert bot.game[-1]["scores"] == [result.score for result in game.seats] == lines[-1]["scores"]
        assert game.rounds == sum(line["type"] == "end_kyoku" for line in lines)
        assert game.length == "hanchan"


@pytest.mark.slow
@pytest.mark.parametrize("pause", [0.6 * LAST_REPLY_TIMEOUT, 2 * LAST_REPLY_TIMEOUT])
async def test_a_slow_bot_is_sent_the_end_of_the_game(tmp_path: Path, pause: float) -> None:
    """Even if it takes longer than it has for each of the last messages."""
    async with serving(tmp_path, limits=Limits(last_reply_timeout=LAST_REPLY_TIMEOUT)) as server:
        slow, others = Bot(server, "slow"), [Bot(server, name) for name in "xy"]
        async with playing(others):
            await slow.connect()
            while (message := await slow.next()) is not None:
                if message["type"] in ("hora", "ryukyoku", "end_kyoku", "end_game"):
                    await asyncio.sleep(pause)
                await slow.answer(message)
            await slow.leave()
        game, _ = await the_game(server)
        assert slow.ended
        assert slow.errors == []
        assert [result.faults for result in game.seats] == [0, 0, 0]


# Asking ---------------------------------------------------------------------------------------------------------------


def decisions_at(replay: Replay) -> dict[tuple[int, int], list[int]]:
    """The legal actions of each decision: (index of the message that asked for it, seat) -> actions."""
    return {(decision.n_before - 1, decision.seat): decision.legal for decision in replay}


def unknown_passes(lines: list[Message]) -> set[int]:
    """Indices of messages followed by a win: a record does not show whether another seat passed on them."""
    return {index for index, (_, after) in enumerate(itertools.pairwise(lines)) if after["type"] == "hora"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
async def test_when_asked_bots_are_asked_where_there_is_a_choice_and_nowhere_else(tmp_path: Path, seed: int) -> None:
    async with serving(tmp_path, seed=seed, length="hanchan") as server:
        bots = [Bot(server, name, Chooser(server, seed), reply="when_asked") for name in "abc"]
        await play_all(bots)
        _, lines = await the_game(server)
        legal_actions_at = decisions_at(replay_of(lines))
        unknown = unknown_passes(lines)
        for bot in bots:
            told = {index: message["can_act"] for index, message in enumerate(bot.game) if "can_act" in message}
            assert told.pop(0) is False, "start_game says that the server knows the key"
            asked = set(told)
            assert set(told.values()) == {True}
            own = {index: legal for (index, seat), legal in legal_actions_at.items() if seat == bot.seat}
            choices = {index for index, legal in own.items() if len(legal) > 1}
            assert asked - unknown == choices - unknown
            assert choices <= asked


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
async def test_possible_actions_and_cannot_dahai_match_the_engine(tmp_path: Path, seed: int) -> None:
    async with serving(tmp_path, seed=seed, length="hanchan") as server:
        bots = [Bot(server, name, Chooser(server, seed)) for name in "abc"]
        await play_all(bots)
        _, lines = await the_game(server)
        by_seat = sorted(bots, key=lambda bot: bot.seat)
        hints: Counter[str] = Counter()
        asked: set[tuple[int, int]] = set()
        for decision in replay_of(lines):
            message = by_seat[decision.seat].game[decision.n_before - 1]
            asked.add((decision.n_before - 1, decision.seat))
            hints.update(check_hints(decision, message))
        unknown = unknown_passes(lines)
        for bot in bots:
            for index, message in enumerate(bot.game):
                if (index, bot.seat) not in asked and index not in unknown:
                    hints.update(check_unasked(bot.seat, message))
        assert hints["cannot_dahai"] > 5
        assert hints["possible_actions"] > 500


def check_hints(decision: Decision, message: Message) -> list[str]:
    """Check the hints of a message that asks for a decision; returns their keys."""
    special = {action for action in decision.legal if action > TSUMOGIRI and action != PASS}
    if message["type"] in ("pon", "reach"):
        assert "possible_actions" not in message
        allowed = {action if action < TSUMOGIRI else int(decision.table.drawn) for action in decision.legal}
        names = set(hand_names(decision.table.seat[decision.seat]))
        assert sorted(message["cannot_dahai"]) == sorted(names - {MJAI_NAMES[tile] for tile in allowed})
        return ["cannot_dahai"]
    assert "cannot_dahai" not in message
    possible = message["possible_actions"]
    assert {action["actor"] for action in possible} <= {decision.seat}
    assert sorted(action_of(decision.table, decision.seat, action) for action in possible) == sorted(special)
    return ["possible_actions"]


def check_unasked(seat: int, message: Message) -> list[str]:
    """Check the hints of a message that asks for no decision; returns their keys."""
    assert "cannot_dahai" not in message
    offers = message["type"] in ("dahai", "kakan", "nukidora") and message["actor"] != seat
    assert message.get("possible_actions") == ([] if offers else None), message
    return ["possible_actions"] if offers else []


@pytest.mark.parametrize(("transport", "in_url"), [("tcp", False), ("websocket", False), ("websocket", True)])
async def test_the_join_message_or_the_url_may_choose_the_dialect(
    server: Running, transport: str, in_url: bool
) -> None:
    bots = []
    for name in DIALECTS:
        chosen: dict[str, Any] = {"query": {"dialect": name}} if in_url else {"dialect": name}
        bots.append(Bot(server, name, Chooser(server, 1), transport=transport, **chosen))
    await play_all(bots)
    for bot in bots:
        check_dialect(bot, bot.name)
    await the_game(server)


def check_dialect(bot: Bot, dialect: str) -> None:
    """Check what differs between the dialects."""
    types = {message["type"] for message in bot.game}
    assert ("kita" in types) == (dialect == "kita")
    assert ("nukidora" in types) == (dialect != "kita")
    assert len(bot.game[1]["scores"]) == (4 if dialect == "libriichi3p" else 3)
    assert any("possible_actions" in message for message in bot.game) == (dialect == "mjai3p")


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        {"name": "x", "dialect": "mjai3p"},
        {"name": "x", "reply": "when_asked"},
        {"name": "x", "games": "2"},
        {"name": "x", "games": "2", "resume": "true", "seen": "0", "room": "other", "unknown": "1"},
    ],
)
async def test_the_url_of_a_websocket_may_hold_any_key_of_the_join_message(
    tmp_path: Path, query: dict[str, str]
) -> None:
    async with serving(tmp_path, fill=("rule",), fill_delay=0) as server:
        bot = Bot(server, "", transport="websocket", query=query)
        bot.join = {"type": "join"} | ({"reply": query["reply"]} if "reply" in query else {})
        await bot.play()
        assert len(bot.games) == int(query.get("games", 1)), bot.errors
        assert bot.game[0]["names"][bot.seat] == "x"
        assert {game.room for game in await stored_games(server)} == {"default"}
        assert any("can_act" in message for message in bot.game) == ("reply" in query)
        assert bool(bot.secret) == ("resume" in query)


async def test_tcp_messages_may_arrive_in_pieces_or_several_at_once(tmp_path: Path) -> None:
    """Messages end at line ends, however the network splits the data."""
    async with serving(tmp_path, fill=("rule",), fill_delay=0) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.mjai_port)
        await reader.readline()
        for piece in (b'{"type":"jo', b'in","name":', b'"slow"}', b"\r\n"):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.01)
        assert b"start_game" in await reader.readline()
        writer.write(b'\n{"type":"none"}\n\n{"type":"none"}\n')
        assert b"start_kyoku" in await reader.readline()
        assert b"tsumo" in await reader.readline()
        writer.close()


# Storing --------------------------------------------------------------------------------------------------------------


async def test_end_game_is_sent_after_the_game_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saving, go_on = held_up(monkeypatch, "save_game")
    async with serving(tmp_path) as server:
        bots = [Bot(server, name) for name in "abc"]
        async with playing(bots):
            await saving.wait()
            await until(lambda: all(bot.game[-1]["type"] == "end_kyoku" for bot in bots))
            assert not any(bot.ended for bot in bots)
            go_on.set()
        assert all(bot.ended for bot in bots)
        await the_game(server)


@pytest.mark.slow
async def test_annotations_are_stored_with_the_events_they_belong_to(tmp_path: Path) -> None:
    """Each annotation names its decision; the record must have it on the event that follows from the decision."""
    async with serving(tmp_path, length="hanchan") as server:
        chooser = Chooser(server, 5)
        said: list[tuple[int, int, str]] = []  # messages so far, seat, type of each reply

        def annotating(bot: Bot, message: Message) -> Answer:
            answer = chooser(bot, message)
            assert isinstance(answer, dict)
            if answer is NOTHING:
                return answer
            said.append((len(bot.game), bot.seat, answer["type"]))
            return answer | {"ext_bot": {"said": list(said[-1])}}

        bots = [Bot(server, name, annotating) for name in "abc"]
        await play_all(bots)
        _, lines = await the_game(server)
        events = [line for line in lines if line["type"] != "error"]
        kept = {tuple(line["ext_bot"]["said"]): index for index, line in enumerate(events) if "ext_bot" in line}
        for (n_before, seat, kind), index in kept.items():
            assert index >= n_before
            assert (events[index].get("actor", seat), events[index]["type"]) == (seat, kind)
        played = {"dahai", "reach", "pon", "daiminkan", "ankan", "kakan", "nukidora", "hora"}
        missing = [line for line in events if line["type"] in played and "ext_bot" not in line]
        assert missing == []


async def test_annotations_of_two_replies_to_one_event_do_not_mix(tmp_path: Path) -> None:
    """Seat 0 calls, with an annotation; then seat 2, which could have won, passes, with another annotation."""
    async with serving(tmp_path, seats="fixed", seed=TWO_ASKED) as server:
        first, turn, other = bots = [Bot(server, name, Chooser(server, 0, odd=0)) for name in "abc"]
        await connect_in_order(server, bots)
        await together(*(bot.until(lambda _, bot=bot: len(bot.game) == TWO_ASKED_AT) for bot in bots))  # type: ignore[misc]
        (game_in_play,) = server.lobby.games.values()
        (pon,) = first.game[-1]["possible_actions"]
        assert pon["type"] == "pon"
        await first.send(pon | {"ext_bot": {"by": 0}})
        await until(lambda: not game_in_play.seats[0].legal_actions)
        await other.send(NOTHING | {"ext_bot": {"by": 2}})
        await turn.send(NOTHING)
        await play_all(bots)
        _, lines = await the_game(server)
        assert lines[TWO_ASKED_AT]["type"] == "pon"
        assert [line.get("ext_bot") for line in lines if "ext_bot" in line] == [{"by": 0}]
        assert lines[TWO_ASKED_AT]["ext_bot"] == {"by": 0}
