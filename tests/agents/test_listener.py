"""Bots that connect to us: how they join, what they are sent, and their faults."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import pytest

from agents.client.address import parse_url
from agents.external.listener import Listener
from agents.external.mjai_bot import OPENING as FIRST_DECISION
from agents.external.mjai_bot import BotError
from tests.support.fake_server import DISCARD, PATIENCE, SECOND_DRAW, Connection, Message
from tests.support.loopback import free_url, play_without_end

OPENING = list(FIRST_DECISION)
SECOND = [DISCARD, {"type": "tsumo", "actor": 1, "pai": "?"}, SECOND_DRAW]
END: list[Message] = [{"type": "end_kyoku"}, {"type": "end_game", "scores": [35000, 35000, 35000]}]
JOIN = {"type": "join", "name": "bot", "room": "chair"}


@pytest.fixture
def listener() -> Iterator[Listener]:
    """A listener on a free port, ready for connections."""
    opened = Listener(free_url(), timeout=PATIENCE)
    opened.prepare()
    yield opened
    opened.close()


def connect_to(listener: Listener) -> Connection:
    """A connection to `listener`, seen from the bot."""
    opened = socket.create_connection(("127.0.0.1", parse_url(listener._address.url).port))
    opened.settimeout(PATIENCE)
    return Connection(opened)


Script = Callable[[Connection, list[Message]], None]


class RemoteBot:
    """A bot in a thread that connects and runs a script; what it receives is kept."""

    def __init__(self, listener: Listener, script: Script) -> None:
        self.received: list[Message] = []
        self._connection = connect_to(listener)
        self._script = script
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._script(self._connection, self.received)
        except (ConnectionError, TimeoutError):
            return
        finally:
            self._connection.close()

    def wait(self) -> list[Message]:
        """Wait until it has disconnected; returns what it received."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        return self.received


def tsumogiri(join: Message, when_asked: bool = False, leaves: bool = False) -> Script:
    """A script that joins and plays tsumogiri until the connection is closed, or, with `leaves`, the game is over."""

    def play(connection: Connection, received: list[Message]) -> None:
        received.append(connection.receive())
        connection.send(join)
        while not (leaves and received[-1]["type"] == "end_game"):
            message = connection.receive()
            received.append(message)
            if when_asked and not message.get("can_act"):
                continue
            own = message["type"] == "tsumo" and message["actor"] == 0
            connection.send(DISCARD | {"pai": message["pai"]} if own else {"type": "none"})

    return play


def types(messages: list[Message]) -> list[str]:
    """The types of `messages`."""
    return [message["type"] for message in messages]


def another_bot_plays(listener: Listener) -> None:
    """The next game waits for another bot, which plays it."""
    bot = RemoteBot(listener, tsumogiri(JOIN))
    assert listener.react(OPENING) == DISCARD
    listener.close()
    bot.wait()


WHOLE_GAME = types([*OPENING, *SECOND, *END])


@pytest.mark.parametrize("reply", ["always", "when_asked"])
def test_a_bot_plays_one_game_and_the_next_game_waits_for_another(
    listener: Listener, reply: str, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        bot = RemoteBot(listener, tsumogiri(JOIN | {"reply": reply}, reply == "when_asked"))
        assert listener.react(OPENING) == DISCARD
        assert listener.react(SECOND) == DISCARD | {"pai": "E"}
        assert listener.react(END) == {"type": "none"}
        received = bot.wait()
        assert types(received) == ["hello", *WHOLE_GAME]
        assert received[0] == {"type": "hello", "protocol": "mjsonp", "protocol_version": 3}
        told = {index: message["can_act"] for index, message in enumerate(received) if "can_act" in message}
        assert told == ({1: False, 3: True, 6: True} if reply == "when_asked" else {})
    assert capfd.readouterr().err.count(listener._address.url) == 2


def test_a_bot_may_join_for_several_games(listener: Listener) -> None:
    bot = RemoteBot(listener, tsumogiri(JOIN | {"games": 2}))
    for _ in range(2):
        listener.react(OPENING)
        listener.react(END)
    assert types(bot.wait()) == ["hello", *(2 * types([*OPENING, *END]))]


def test_the_dialect_comes_from_join_or_else_from_the_address(listener: Listener) -> None:
    bot = RemoteBot(listener, tsumogiri(JOIN | {"dialect": "libriichi3p"}))
    listener.react(OPENING)
    listener.react(END)
    assert len(bot.wait()[1]["names"]) == 4

    listener.close()
    second = Listener(f"{listener._address.url}?dialect=kita")
    second.prepare()
    bot = RemoteBot(second, tsumogiri(JOIN))
    second.react([*OPENING[:2], {"type": "nukidora", "actor": 1, "pai": "N"}, OPENING[2]])
    second.close()
    assert "kita" in types(bot.wait())


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
def test_an_invalid_join_is_rejected_with_a_reason_and_another_bot_may_join(
    listener: Listener, first: Any, what: str, capfd: pytest.CaptureFixture[str]
) -> None:
    def join_wrongly(connection: Connection, received: list[Message]) -> None:
        connection.receive()
        connection.send(first)
        received.append(connection.receive())

    rejected = RemoteBot(listener, join_wrongly)
    silent = connect_to(listener)
    silent.close()
    bot = RemoteBot(listener, tsumogiri(JOIN))
    assert listener.react(OPENING) == DISCARD
    (error,) = rejected.wait()
    assert error["type"] == "error"
    assert what in error["message"]
    url = listener._address.url
    assert capfd.readouterr().err.splitlines() == [
        f"waiting for a bot at {url}",
        f"rejected a bot at {url}: {error['message']}",
    ]
    listener.close()
    bot.wait()


def disconnect(connection: Connection) -> None:
    raise ConnectionError


def hang(connection: Connection) -> None:
    connection.receive()


@pytest.mark.parametrize(
    ("fault", "what"),
    [
        (disconnect, "^has disconnected: "),
        (hang, "^did not reply within 1 s$"),
        (
            lambda connection: connection.send({"type": "dahai", "actor": 2, "pai": "1m"}),
            "^sent an invalid reply: .* another seat than 0",
        ),
        (
            lambda connection: connection.send({"type": "x" * 70_000}),
            "^sent an invalid reply: a message of more than 65,536 bytes$",
        ),
        (lambda connection: connection._socket.sendall(b"\xff\n"), "^sent an invalid reply: not JSON"),
    ],
)
def test_a_fault_ends_the_connection_and_the_next_game_waits_for_another(
    listener: Listener, fault: Callable[[Connection], None], what: str
) -> None:
    def fail(connection: Connection, received: list[Message]) -> None:
        connection.receive()
        connection.send(JOIN | {"reply": "when_asked", "games": 0})
        while not connection.receive().get("can_act"):
            pass
        fault(connection)
        received.append(connection.receive())

    bot = RemoteBot(listener, fail)
    if fault is hang:
        listener._timeout = 1.0
    with pytest.raises(BotError, match=what):
        listener.react(OPENING)
    listener._timeout = PATIENCE
    with pytest.raises(BotError, match="sits out until the next game"):
        listener.react(SECOND)
    for message in bot.wait():
        assert message["type"] == "error"
    another_bot_plays(listener)


def test_a_bot_whose_reply_is_rejected_gets_an_error_and_is_disconnected(listener: Listener) -> None:
    bot = RemoteBot(listener, tsumogiri(JOIN | {"games": 0}))
    assert listener.react(OPENING) == DISCARD
    listener.reject("may not discard 6p; legal: pass")
    assert bot.wait()[-1] == {"type": "error", "message": "may not discard 6p; legal: pass"}
    with pytest.raises(BotError, match="sits out until the next game"):
        listener.react(SECOND)
    another_bot_plays(listener)


def test_an_interrupted_game_ends_the_connection(listener: Listener) -> None:
    first = RemoteBot(listener, tsumogiri(JOIN | {"games": 0}))
    listener.react(OPENING)
    second = RemoteBot(listener, tsumogiri(JOIN | {"games": 0}))
    assert listener.react(OPENING) == DISCARD
    assert types(first.wait()) == ["hello", *types(OPENING)]
    listener.close()
    second.wait()


@pytest.mark.parametrize("reply", ["always", "when_asked"])
def test_a_bot_that_disconnects_after_a_game_loses_no_game(
    listener: Listener, reply: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Although it joined for an unlimited number of games."""
    for _ in range(2):
        script = tsumogiri(JOIN | {"games": 0, "reply": reply}, reply == "when_asked", leaves=True)
        bot = RemoteBot(listener, script)
        assert listener.react(OPENING) == DISCARD
        assert listener.react(END) == {"type": "none"}
        bot.wait()
    assert capfd.readouterr().err.count(listener._address.url) == 2


def test_disconnecting_after_a_reply_is_a_fault(listener: Listener) -> None:
    def fail(connection: Connection, received: list[Message]) -> None:
        connection.receive()
        connection.send(JOIN | {"games": 0})
        while len(received) < 7:  # a game of five messages, and two of the next
            received.append(connection.receive())
            connection.send(DISCARD if received[-1]["type"] == "tsumo" else {"type": "none"})

    bot = RemoteBot(listener, fail)
    listener.react(OPENING)
    listener.react(END)
    with pytest.raises(BotError, match="has disconnected: "):
        listener.react(OPENING)
    bot.wait()


def test_a_client_that_plays_without_end_is_told_that_the_arena_is_over(
    listener: Listener, capfd: pytest.CaptureFixture[str]
) -> None:
    url = listener._address.url
    codes: list[int] = []
    client = Thread(target=lambda: codes.append(play_without_end("rule", url)), daemon=True)
    client.start()
    for _ in range(2):
        assert listener.react(OPENING)["type"] == "dahai"
        listener.react(END)
    listener.close()
    client.join(PATIENCE)
    assert codes == [0]
    assert capfd.readouterr().out.splitlines()[-2:] == [
        "the server says: all games are played",
        "played 2 games as rule: 2 x 1st, 0 x 2nd, 0 x 3rd",
    ]


def test_a_bot_whose_game_is_interrupted_is_not_told_that_all_are_played(listener: Listener) -> None:
    bot = RemoteBot(listener, tsumogiri(JOIN | {"games": 0}))
    listener.react(OPENING)
    listener.close()
    assert "error" not in types(bot.wait())


def test_an_address_in_use_is_named_in_the_error(listener: Listener) -> None:
    second = Listener(listener._address.url)
    with pytest.raises(OSError, match=r"Address already in use.*mjsonp://127.0.0.1"):
        second.prepare()
