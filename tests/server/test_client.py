"""Our client at our server: what it tells of its games, and what the server tells only those who can use it."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path
from time import sleep

import pytest

from agents.client.address import parse_url
from agents.client.playing import play
from agents.client.session import ClientSession
from agents.external.mjai_bot import NONE, MjaiBot
from engine.mjai.messages import Message
from server.running import Running
from tests.support.running_server import Live, live
from tests.support.scripted_bot import ScriptedBot
from tests.support.server_bots import Bot, serving

ROOM = "solo+tsumogiri+random"


def url_of(server: Running, transport: str) -> str:
    """The address of a room of the server."""
    if transport == "tcp":
        return f"mjsonp://127.0.0.1:{server.mjai_port}/{ROOM}"
    return f"ws://127.0.0.1:{server.port}/mjai/{ROOM}"


async def play_one(here: Live, transport: str, bot: MjaiBot | None = None, **join: str) -> list[str]:
    """Play a game; returns what the client prints."""
    lines: list[str] = []
    address = parse_url(url_of(here.server, transport))
    keys = {"type": "join", "name": "me", "room": ROOM} | join
    session = ClientSession(bot or ScriptedBot(), keys, 1, lines.append, lines.append, address)
    await asyncio.to_thread(play, address, session, wait=lambda *_: sleep(0.01))
    return [*lines, session.summary()]


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["tcp", "websocket"])
@pytest.mark.parametrize("dialect", ["mjai3p", "libriichi3p", "kita"])
async def test_the_client_tells_opponents_and_where_the_record_is(at: Live, transport: str, dialect: str) -> None:
    start, *_, result, summary = await play_one(at, transport, dialect=dialect)
    (game,) = (await at.get("/api/games"))["items"]
    opponents = " and ".join(seat["name"] for seat in game["seats"] if seat["name"] != "me")
    assert start == f"game 1: against {opponents}, id {game['id']}"
    record = result.partition("; record: ")[2]
    downloaded = (await at.http.get(record)).content
    assert gzip.decompress(downloaded).startswith(b'{"type":"start_game"')
    listed = (await at.http.get(summary.partition("all games: ")[2])).json()
    assert [found["id"] for found in listed["items"]] == [game["id"]]


class Passing(ScriptedBot):
    """Never discards."""

    def react(self, messages: list[Message]) -> Message:
        return NONE


async def test_the_client_says_that_a_house_bot_earned_the_result_of_a_seat_that_its_bot_lost(tmp_path: Path) -> None:
    async with live(tmp_path, max_faults=2, house_bot="tsumogiri") as here:
        *_, result, summary = await play_one(here, "tcp", Passing())
        assert ", earned by a house bot of the server; record: " in result
        assert "(1 of them earned by others)" in summary


@pytest.mark.parametrize("resume", [False, True])
async def test_only_a_bot_that_can_resume_is_sent_the_keys_of_the_game(server: Running, resume: bool) -> None:
    """Other bots are sent no key that the protocol of their time does not have."""
    bot = await Bot(server, "aki", room=ROOM, resume=resume).play()
    known = {"type", "names", "rules", "length", "id"}
    assert set(bot.game[0]) == known | ({"resume", "game", "http_port"} if resume else set())
    if resume:
        assert bot.game[0]["http_port"] == server.port


async def test_bots_are_told_the_port_under_which_http_is_public(tmp_path: Path) -> None:
    async with serving(tmp_path, public_port=9000) as server:
        bot = await Bot(server, "aki", room=ROOM, resume=True).play()
        assert bot.game[0]["http_port"] == 9000
