"""Hints on request, in rooms whose games do not count for ratings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents.base import ActionValues
from agents.registry import make
from engine.actions import actions_of
from engine.mjai.actions import action_message
from engine.mjai.bot_messages import parse_reply
from engine.mjai.possible_actions import legal_action
from server.game.hints import best_actions
from server.house_bots import ADVISER, HOUSE_BOTS
from tests.support.message_checks import check_message
from tests.support.server_bots import Bot, live_game, serving
from tests.support.stored_records import the_game
from tests.support.views import views_of_games

HINT = {"type": "hint"}
SOLO = "solo+rule+rule"


async def next_of(bot: Bot, kind: str) -> dict[str, Any]:
    """The next message of a type."""
    while (message := await bot._read()) is not None:
        if message["type"] == kind:
            return message
    raise AssertionError(f"the connection was closed before {kind}")


async def hint_for(bot: Bot) -> dict[str, Any]:
    """Ask for a hint; other messages that come before it are lost to the bot."""
    await bot.send(HINT)
    return await next_of(bot, "hinted")


async def test_a_hint_is_what_the_house_bot_values_most(tmp_path: Path) -> None:
    """It is no reply, it is the same however often it is asked for, and the record keeps it with the decision."""
    async with serving(tmp_path, hints=True, rated=False) as server:
        bot = Bot(server, "aki", room=SOLO)
        drawn = await bot.until_own()
        game = live_game(server)
        seat = game.seats[bot.seat]
        hint = await hint_for(bot)
        check_message(hint)
        assert hint["bot"] == "rule"
        assert await hint_for(bot) == hint
        best = hint["actions"][0]["action"]
        chosen = int(make("rule").act(game.engine.view(bot.seat).reshape(1))[0])
        reply = parse_reply(json.dumps(best))
        assert legal_action(game.engine.table, bot.seat, reply, seat.legal_actions) == chosen
        assert 1 <= len(hint["actions"]) <= 3
        values = [each["value"] for each in hint["actions"]]
        assert values == sorted(values, reverse=True)
        tiles = [each["action"].get("pai") for each in hint["actions"] if each["action"]["type"] == "dahai"]
        assert len(set(tiles)) == len(tiles)
        own = bot.script(bot, drawn)
        assert isinstance(own, dict)
        await bot.send(own | {"ext_bot": {"hint": "none", "more": 1}})  # which does not hide it
        await bot.play()
        stored, lines = await the_game(server)
        assert stored.casual
        assert not stored.rated
        assert stored.seats[bot.seat].faults == 0
        noted = [line["ext_bot"] for line in lines if "ext_bot" in line]
        assert noted == [{"hint": "rule", "more": 1, "actions": hint["actions"]}]
        assert [player.rated_games for player in (await server.lobby.store.players()).items] == [0, 0]


def test_the_first_of_equal_actions_is_that_which_the_bot_plays() -> None:
    rule, n_equal = make("rule"), 0
    assert isinstance(rule, ActionValues)
    views = views_of_games(20)
    for view, values, chosen in zip(views, rule.action_values(views), rule.act(views), strict=True):
        seat = int(view["viewer"])
        legal = actions_of(*view["legal"][seat].tolist())
        assert best_actions(rule, view, seat, legal)[0]["action"] == action_message(view, seat, int(chosen))
        n_equal += (values == values.max()).sum() > 1
    assert n_equal > 10


async def test_who_has_no_decision_to_make_is_told_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, hints=True, rated=False, decision_time=3600.0) as server:
        bots = [Bot(server, name, reply="when_asked") for name in "abc"]
        for bot in bots:
            await bot.connect()
        for bot in bots:
            await bot.until(lambda message: message["type"] == "tsumo")
        (idle,) = [bot for bot in bots if bot.seat == 1]
        assert (await hint_for(idle))["actions"] == []


@pytest.mark.parametrize(("hints", "rated"), [(False, False), (True, True)])
async def test_a_room_without_hints_counts_a_fault(tmp_path: Path, hints: bool, rated: bool) -> None:
    """So nobody who is about to lose can take the rating from a game."""
    async with serving(tmp_path, hints=hints, rated=rated) as server:
        bot = Bot(server, "aki", room=SOLO, reply="when_asked")
        await bot.until_own()
        await bot.send(HINT)
        assert "hint" in (await next_of(bot, "error"))["message"]
        game = live_game(server)
        assert game.seats[bot.seat].faults == 1
        assert game.casual != rated


@pytest.mark.parametrize(
    ("house_bot", "adviser"), [("rule", "rule"), ("rule@-300", "rule"), ("linear", "linear"), ("tsumogiri", ADVISER)]
)
def test_hints_are_those_of_the_rooms_bot_if_it_can_give_any(house_bot: str, adviser: str) -> None:
    for bot in {house_bot, adviser}:
        HOUSE_BOTS.check(bot)
    assert HOUSE_BOTS.adviser(house_bot) == adviser
