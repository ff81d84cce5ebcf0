"""Bots that connect to us: how they may join, what they are told, and what becomes of their faults."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import pytest

from agents.client.connection import connect, parse_url
from agents.client.session import Stay
from agents.external.listener import Listener
from agents.external.mjai_bot import OPENING as FIRST_DECISION
from agents.external.mjai_bot import BotError
from tests.agents.test_client import DISCARD, SECOND_DRAW, Scripted
from tests.support.fake_server import Call, Message

OPENING = list(FIRST_DECISION)
SECOND = [DISCARD, {"type": "tsumo", "actor": 1, "pai": "?"}, SECOND_DRAW]
END: list[Message] = [{"type": "end_kyoku"}, {"type": "end_game", "scores": [35000, 35000, 35000]}]
JOIN = {"type": "join", "name": "visitor", "room": "chair"}


@pytest.fixture
def listener() -> Iterator[Listener]:
    """A listener at a port of its own, ready for callers."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
    opened = Listener(f"mjsonp://127.0.0.1:{port}/chair", timeout=1.0)
    opened.prepare()
    yield opened
    opened.close()


def call(listener: Listener) -> Call:
    """A connection to it."""
    connected = socket.create_connection(("127.0.0.1", parse_url(listener._address.url).port))
    connected.settimeout(10)
    return Call(connected)


class Visit:
    """A bot that follows a script, in a thread; what it was told is kept."""

    def __init__(self, listener: Listener, script: Callable[[Call, list[Message]], None]) -> None:
        self.told: list[Message] = []
        self._call = call(listener)
        self._script = script
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._script(self._call, self.told)
        except (ConnectionError, TimeoutError):
            return
        finally:
            self._call.close()

    def over(self) -> list[Message]:
        """What it was told, once it has left."""
        self._thread.join(5)
        assert not self._thread.is_alive()
        return self.told


def tsumogiri(join: Message, when_asked: bool = False, leaves: bool = False) -> Callable[[Call, list[Message]], None]:
    """Joins, and discards what it draws, until the connection ends; or, if it `leaves`, the game."""

    def play(line: Call, told: list[Message]) -> None:
        told.append(line.receive())
        line.send(join)
        while not (leaves and told[-1]["type"] == "end_game"):
            message = line.receive()
            told.append(message)
            if when_asked and "can_act" not in message:
                continue
            own = message["type"] == "tsumo" and message["actor"] == 0
            line.send(DISCARD | {"pai": message["pai"]} if own else {"type": "none"})

    return play


def types(messages: list[Message]) -> list[str]:
    """What happened, in words."""
    return [message["type"] for message in messages]


WHOLE_GAME = types([*OPENING, *SECOND, *END])


@pytest.mark.parametrize("reply", ["always", "when_asked"])
def test_a_visitor_plays_one_game_and_is_waited_for_again(
    listener: Listener, reply: str, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        visit = Visit(listener, tsumogiri(JOIN | {"reply": reply}, reply == "when_asked"))
        assert listener.react(OPENING) == DISCARD
        assert listener.react(SECOND) == DISCARD | {"pai": "E"}
        assert listener.react(END) == {"type": "none"}
        told = visit.over()
        assert types(told) == ["hello", *WHOLE_GAME]
        assert told[0] == {"type": "hello", "protocol": "mjsonp", "protocol_version": 3}
        asked = [place for place, message in enumerate(told) if "can_act" in message]
        assert asked == ([3, 6] if reply == "when_asked" else [])
    assert capfd.readouterr().err == 2 * f"waiting for a bot at {listener._address.url}\n"


def test_a_visitor_may_stay(listener: Listener) -> None:
    visit = Visit(listener, tsumogiri(JOIN | {"games": 2}))
    for _ in range(2):
        listener.react(OPENING)
        listener.react(END)
    assert types(visit.over()) == ["hello", *(2 * types([*OPENING, *END]))]


def test_the_dialect_is_that_of_join_or_of_the_address(listener: Listener) -> None:
    visit = Visit(listener, tsumogiri(JOIN | {"dialect": "libriichi3p"}))
    listener.react(OPENING)
    listener.react(END)
    assert len(visit.over()[1]["names"]) == 4

    listener.close()
    awaited = Listener(f"{listener._address.url}?dialect=kita")
    awaited.prepare()
    visit = Visit(awaited, tsumogiri(JOIN))
    awaited.react([*OPENING[:2], {"type": "nukidora", "actor": 1, "pai": "N"}, OPENING[2]])
    awaited.close()
    assert "kita" in types(visit.over())


@pytest.mark.parametrize(
    ("first", "what"),
    [
        (JOIN | {"room": "other"}, "the only room here is chair"),
        (JOIN | {"dialect": "klingon"}, "join: dialect is 'klingon'; dialect must be mjai3p, libriichi3p or kita"),
        (JOIN | {"dialect": []}, "join: dialect is []; dialect must be"),
        (JOIN | {"reply": "never"}, "join: reply is 'never'; reply must be always or when_asked"),
        (JOIN | {"games": "many"}, "join: games is 'many'; games must be a number"),
        ({"type": "none"}, "join: type is 'none'; type must be join"),
        (["join"], "no object with a type"),
    ],
)
def test_who_joins_wrongly_is_told_why_and_another_may_come(
    listener: Listener, first: Any, what: str, capfd: pytest.CaptureFixture[str]
) -> None:
    told: list[Message] = []

    def intrude(line: Call, _: list[Message]) -> None:
        line.receive()
        line.send(first)
        told.append(line.receive())

    intruder = Visit(listener, intrude)
    hanging_up = call(listener)
    hanging_up.close()
    visit = Visit(listener, tsumogiri(JOIN))
    assert listener.react(OPENING) == DISCARD
    intruder.over()
    assert told[0]["type"] == "error"
    assert what in told[0]["message"]
    url = listener._address.url
    assert capfd.readouterr().err.splitlines() == [
        f"waiting for a bot at {url}",
        f"turned a bot away at {url}: {told[0]['message']}",
    ]
    listener.close()
    visit.over()


def leave(line: Call) -> None:
    raise ConnectionError


@pytest.mark.parametrize(
    ("say", "what"),
    [
        (leave, "^has left: "),
        (lambda line: line.receive(), "^did not answer within 1 s$"),
        (
            lambda line: line.send({"type": "dahai", "actor": 2, "pai": "1m"}),
            "^answered nonsense: .* another seat than 0",
        ),
        (lambda line: line.send({"type": "x" * 70_000}), "^answered nonsense: a message of more than 65,536 bytes$"),
        (lambda line: line._socket.sendall(b"\xff\n"), "^answered nonsense: not JSON"),
    ],
)
def test_a_fault_ends_the_game_for_the_visitor_and_the_next_game_waits(
    listener: Listener, say: Callable[[Call], None], what: str
) -> None:
    def stumble(line: Call, told: list[Message]) -> None:
        line.receive()
        line.send(JOIN | {"reply": "when_asked", "games": 0})
        while "can_act" not in line.receive():
            pass
        say(line)
        told.append(line.receive())

    visit = Visit(listener, stumble)
    with pytest.raises(BotError, match=what):
        listener.react(OPENING)
    with pytest.raises(BotError, match="sits out until the next game"):
        listener.react(SECOND)
    for message in visit.over():
        assert message["type"] == "error"
    visit = Visit(listener, tsumogiri(JOIN))
    assert listener.react(OPENING) == DISCARD
    listener.close()
    visit.over()


def test_a_visitor_whose_answer_is_refused_is_told_why_and_sent_away(listener: Listener) -> None:
    visit = Visit(listener, tsumogiri(JOIN | {"games": 0}))
    assert listener.react(OPENING) == DISCARD
    listener.refuse("may not discard 6p; legal: pass")
    assert visit.over()[-1] == {"type": "error", "message": "may not discard 6p; legal: pass"}
    with pytest.raises(BotError, match="sits out until the next game"):
        listener.react(SECOND)
    visit = Visit(listener, tsumogiri(JOIN))
    assert listener.react(OPENING) == DISCARD
    listener.close()
    visit.over()


def test_a_game_broken_off_needs_another_visit(listener: Listener) -> None:
    first = Visit(listener, tsumogiri(JOIN | {"games": 0}))
    listener.react(OPENING)
    second = Visit(listener, tsumogiri(JOIN | {"games": 0}))
    assert listener.react(OPENING) == DISCARD
    assert types(first.over()) == ["hello", *types(OPENING)]
    listener.close()
    second.over()


@pytest.mark.parametrize("reply", ["always", "when_asked"])
def test_a_visitor_that_has_left_after_a_game_costs_none(
    listener: Listener, reply: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Though it wanted to stay."""
    for _ in range(2):
        bot = tsumogiri(JOIN | {"games": 0, "reply": reply}, reply == "when_asked", leaves=True)
        visit = Visit(listener, bot)
        assert listener.react(OPENING) == DISCARD
        assert listener.react(END) == {"type": "none"}
        visit.over()
    assert capfd.readouterr().err == 2 * f"waiting for a bot at {listener._address.url}\n"


def test_a_visitor_that_leaves_once_it_has_spoken_is_a_fault(listener: Listener) -> None:
    def stumble(line: Call, told: list[Message]) -> None:
        line.receive()
        line.send(JOIN | {"games": 0})
        while len(told) < 7:  # a game of five messages, and two of the next
            told.append(line.receive())
            line.send(DISCARD if told[-1]["type"] == "tsumo" else {"type": "none"})

    visit = Visit(listener, stumble)
    listener.react(OPENING)
    listener.react(END)
    with pytest.raises(BotError, match="has left: "):
        listener.react(OPENING)
    visit.over()


def test_our_own_client_plays_with_us(listener: Listener) -> None:
    player, said = Scripted(), list[str]()
    address = parse_url(listener._address.url)
    stay = Stay(player, {"type": "join", "name": "me", "room": "chair"}, 2, said.append, said.append)
    with_client = Thread(target=lambda: stay.attend(connect(address)), daemon=True)
    with_client.start()
    for _ in range(2):
        assert listener.react(OPENING) == DISCARD
        assert listener.react(SECOND) == DISCARD | {"pai": "E"}
        listener.react(END)
    with_client.join(5)
    assert said == ["game 1: 1st with 35,000 points", "game 2: 1st with 35,000 points"]
    assert player.told[0] == json.loads(json.dumps(OPENING))


def test_an_address_that_is_taken_is_named(listener: Listener) -> None:
    second = Listener(listener._address.url)
    with pytest.raises(OSError, match=r"Address already in use.*mjsonp://127.0.0.1"):
        second.prepare()


@pytest.mark.parametrize("url", ["ws://localhost/mjai/x", "mjsonp://localhost/x?dialect=ruby", "localhost:11600"])
def test_an_address_that_cannot_be(url: str) -> None:
    with pytest.raises(ValueError, match="localhost"):
        Listener(url)
