"""The client at a server: games, lost connections, refusals, and what becomes of a player that fails."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from agents.client import __main__ as client
from agents.client import session
from agents.client.__main__ import attend
from agents.client.connection import Unreachable, connect, parse_url
from agents.client.session import Stay
from agents.external.mjai_bot import BotError
from tests.support.fake_server import (
    ASKS,
    DISCARD,
    DRAW,
    END,
    KYOKU,
    SECOND_DRAW,
    START,
    Call,
    FakeServer,
    Message,
    play_game,
)


class Scripted:
    """A player that discards what it has drawn, and remembers what it was told."""

    name = "scripted"

    def __init__(self, fails_at: int = 0) -> None:
        self.told: list[list[Message]] = []
        self.fails_at = fails_at

    def prepare(self) -> None: ...

    def react(self, messages: list[Message]) -> Message:
        self.told.append(messages)
        if len(self.told) == self.fails_at:
            raise BotError("broke down", ["no idea"])
        drawn = messages[-1].get("pai")
        return DISCARD | {"pai": drawn} if messages[-1]["type"] == "tsumo" else {"type": "none"}

    def refuse(self, why: str) -> None: ...

    def close(self) -> None: ...


class Spoken:
    """What the client printed."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.complaints: list[str] = []


@pytest.fixture
def spoken(monkeypatch: pytest.MonkeyPatch) -> Iterator[Spoken]:
    """Catches what is printed; a lost server is called again at once."""
    found = Spoken()
    monkeypatch.setattr(client, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(client, "say", found.said.append)
    monkeypatch.setattr(client, "complain", found.complaints.append)
    return found


def visit(server: FakeServer, player: Scripted, spoken: Spoken, games: int = 1, **join: Any) -> None:
    """Play at a fake server until all is played."""
    given = {"type": "join", "name": "me", "room": "room"} | join
    attend(parse_url(server.url), Stay(player, given, games, spoken.said.append, spoken.complaints.append))


def test_games_on_one_connection(spoken: Spoken) -> None:
    joins = []

    def serve(call: Call) -> None:
        joins.append(call.welcome())
        play_game(call)
        play_game(call)

    player = Scripted()
    with FakeServer(serve) as server:
        visit(server, player, spoken, games=2, token="secret", dialect="mjai3p")
    assert joins == [
        {
            "type": "join", "name": "me", "room": "room", "token": "secret", "dialect": "mjai3p",
            "games": 2, "reply": "when_asked", "resume": True,
        }
    ]  # fmt: skip
    assert spoken.said == ["game 1: 2nd with 34,500 points (-5.5)", "game 2: 2nd with 34,500 points (-5.5)"]
    assert spoken.complaints == []
    assert [message["type"] for message in player.told[0]] == ["start_game", "start_kyoku", "tsumo"]
    assert player.told[0][0]["id"] == 0
    assert all("can_act" not in message for messages in player.told for message in messages)
    assert [message["type"] for message in player.told[2]] == ["end_kyoku", "end_game"]


def test_a_game_goes_on_after_a_lost_connection(spoken: Spoken) -> None:
    """The connection breaks once before the reply is sent, as far as the server knows, and once after it."""
    joins = []

    def before(call: Call) -> None:
        joins.append(call.welcome())
        call.send(START | {"resume": "s3cret"}, KYOKU, DRAW | ASKS)
        call.receive()

    def after(call: Call) -> None:
        joins.append(call.welcome())
        call.send(DRAW | ASKS)
        assert call.receive() == DISCARD
        call.send(DISCARD, {"type": "tsumo", "actor": 1, "pai": "?"})

    def rest(call: Call) -> None:
        joins.append(call.welcome())
        call.send({"type": "tsumo", "actor": 1, "pai": "?"})
        call.send({"type": "dahai", "actor": 1, "pai": "9p", "tsumogiri": True}, SECOND_DRAW | ASKS)
        assert call.receive() == DISCARD | {"pai": "E"}
        call.send({"type": "end_kyoku"}, END)

    player = Scripted()
    with FakeServer(before, after, rest) as server:
        visit(server, player, spoken)
    assert [join["resume"] for join in joins] == [True, "s3cret", "s3cret"]
    assert [join["seen"] for join in joins[1:]] == [2, 4]
    told = [message["type"] for messages in player.told for message in messages]
    assert told == ["start_game", "start_kyoku", "tsumo", "dahai", "tsumo", "dahai", "tsumo", "end_kyoku", "end_game"]
    assert spoken.said == ["game 1: 2nd with 34,500 points (-5.5)"]
    assert [line.split(": ")[1] for line in spoken.complaints] == [
        "the connection was closed; trying again in 0.01 s"
    ] * 2


def test_a_game_that_cannot_be_gone_on_with_is_left_and_another_is_joined(spoken: Spoken) -> None:
    joins = []

    def lose(call: Call) -> None:
        joins.append(call.welcome())
        call.send(START | {"resume": "s3cret"}, KYOKU)

    def refuse(call: Call) -> None:
        joins.append(call.welcome())
        call.send({"type": "error", "message": "no such game"})

    def serve(call: Call) -> None:
        joins.append(call.welcome())
        play_game(call)

    player = Scripted()
    with FakeServer(lose, refuse, serve) as server:
        visit(server, player, spoken, games=2)
    assert [join["resume"] for join in joins] == [True, "s3cret", True]
    assert [join["games"] for join in joins[::2]] == [2, 1]
    assert "game 1 cannot be gone on with (the server says: no such game)" in spoken.complaints[-1]
    assert [line.split(":")[0] for line in spoken.said] == ["game 2"]
    assert player.told[0][0]["type"] == "start_game"


def test_a_lost_game_counts_as_played(spoken: Spoken) -> None:
    def lose(call: Call) -> None:
        call.welcome()
        call.send(START | {"resume": "s3cret"}, KYOKU)

    def refuse(call: Call) -> None:
        call.welcome()
        call.send({"type": "error", "message": "10 faults: rule plays this seat"})

    with FakeServer(lose, refuse) as server, pytest.raises(Unreachable, match=r"game 1 cannot be .*faults"):
        visit(server, Scripted(), spoken)
    assert spoken.said == []


def test_a_lost_server_is_called_less_and_less_often(spoken: Spoken, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(client, "FIRST_WAIT", 1.0)
    monkeypatch.setattr(time, "sleep", waits.append)

    def hang_up(call: Call) -> None: ...

    def some_news(call: Call) -> None:
        call.welcome()
        call.send(START | {"resume": "s3cret"}, KYOKU)

    def serve(call: Call) -> None:
        call.welcome()
        play_game(call)

    with FakeServer(*[hang_up] * 7, some_news, hang_up, serve) as server:
        visit(server, Scripted(), spoken)
    assert waits == [1, 2, 4, 8, 16, 30, 30, 1, 2]


@pytest.mark.parametrize("early", [True, False])
def test_a_refusal_is_final(spoken: Spoken, early: bool) -> None:
    def refuse(call: Call) -> None:
        if not early:
            call.welcome()
        call.send({"type": "error", "message": "the token\nis not valid"})

    with FakeServer(refuse) as server, pytest.raises(Unreachable, match=r"^the server says: the token is not valid$"):
        visit(server, Scripted(), spoken)
    assert spoken.complaints == []


def test_a_refusal_that_may_pass_is_not(spoken: Spoken) -> None:
    """Neither for one who comes nor for one who comes back."""
    joins = []

    def stop(call: Call) -> None:
        call.welcome()
        call.send({"type": "error", "message": "the server stops", "retry": True})

    def full(call: Call) -> None:
        call.send({"type": "error", "message": "too many connections", "retry": True})

    def lose(call: Call) -> None:
        call.welcome()
        call.send(START | {"resume": "s3cret"}, KYOKU)

    def rest(call: Call) -> None:
        joins.append(call.welcome())
        call.send({"type": "resumed", "from": 0}, START, KYOKU, DRAW | ASKS)
        assert call.receive() == DISCARD
        call.send(END)

    player = Scripted()
    with FakeServer(full, stop, lose, full, stop, rest) as server:
        visit(server, player, spoken)
    assert joins[0]["resume"] == "s3cret"
    assert len(spoken.said) == 1
    assert len(spoken.complaints) == 5
    assert "the server says: too many connections; trying again in 0.01 s" in spoken.complaints[0]
    assert [message["type"] for message in player.told[0]] == ["start_game", "start_kyoku", "tsumo"]


def test_something_else_than_a_mjai_server(spoken: Spoken) -> None:
    def greet(call: Call) -> None:
        call.send({"type": "welcome"})

    with FakeServer(greet) as server, pytest.raises(Unreachable, match="no mjai server"):
        visit(server, Scripted(), spoken)


def test_nonsense_in_a_game_is_a_broken_connection(spoken: Spoken) -> None:
    def babble(call: Call) -> None:
        call.welcome()
        call.send(START | {"resume": "s3cret"}, {"type": "dahai"} | ASKS, {"type": "tsumo", "actor": 9})

    def serve(call: Call) -> None:
        call.welcome()
        call.send({"type": "error", "message": "no such game"})

    def serve_again(call: Call) -> None:
        call.welcome()
        play_game(call)

    with FakeServer(babble, serve, serve_again) as server:
        visit(server, Scripted(), spoken, games=2)
    assert "the server sent what is no mjai" in spoken.complaints[0]


def test_errors_in_a_game_are_passed_on(spoken: Spoken) -> None:
    def serve(call: Call) -> None:
        call.welcome()
        call.send(START, {"type": "error", "message": "may not discard 9m; legal: tsumogiri"})
        play_game(call)

    with FakeServer(serve) as server:
        visit(server, Scripted(), spoken)
    assert spoken.complaints == ["the server says: may not discard 9m; legal: tsumogiri"]


class Listless:
    """Stands for `agents.external.mjai_bot.AgentPlayer`: says what it was told, and discards the drawn tile."""

    def __init__(self, agent: Any) -> None:
        self.told: list[Message] = []

    def react(self, messages: list[Message]) -> Message:
        self.told = messages if messages[0]["type"] == "start_game" else self.told + messages
        assert self.told[0]["type"] == "start_game"
        return DISCARD | {"pai": messages[-1].get("pai")}


def test_a_player_that_fails_costs_its_seat_for_one_game(spoken: Spoken, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "AgentBot", Listless)

    def serve(call: Call) -> None:
        call.welcome()
        play_game(call)
        play_game(call)

    player = Scripted(fails_at=1)
    with FakeServer(serve) as server:
        visit(server, player, spoken, games=2)
    assert spoken.complaints == ["scripted: broke down; stderr: no idea; it sits out the rest of this game"]
    assert len(spoken.said) == 2
    assert len(player.told) == 4, "it plays the second game"


def test_another_dialect(spoken: Spoken) -> None:
    joins = []

    def serve(call: Call) -> None:
        joins.append(call.welcome())
        north = {"type": "kita", "actor": 1, "pai": "N"}
        call.send(START, KYOKU, DRAW | ASKS)
        call.receive()
        call.send(
            DISCARD, north, {"type": "hora", "actor": 1, "target": 0, "deltas": [-8000, 8000, 0], "ura_markers": []}
        )
        call.send({"type": "end_kyoku"}, {"type": "end_game"})

    player = Scripted()
    with FakeServer(serve) as server:
        visit(server, player, spoken, dialect="kita")
    assert joins[0]["dialect"] == "kita"
    assert player.told[1][1] == {"type": "nukidora", "actor": 1, "pai": "N"}
    assert spoken.said == ["game 1: 3rd with 27,000 points"]


# WebSocket -----------------------------------------------------------------------------------------------------------


@contextmanager
def websocket_server(answer: Callable[[ServerConnection], None], status: int = 0) -> Iterator[str]:
    """A WebSocket server in a thread; with `status` it refuses every handshake."""

    def refuse(connection: ServerConnection, request: Request) -> Response | None:
        return connection.respond(status, "no") if status else None

    with serve(answer, "127.0.0.1", 0, process_request=refuse) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}/mjai/room"
        server.shutdown()
    thread.join(5)


def test_a_game_over_websocket(spoken: Spoken) -> None:
    """The first connection is lost."""
    joins: list[Message] = []

    def answer(connection: ServerConnection) -> None:
        def tell(*messages: Message) -> None:
            for message in messages:
                connection.send(json.dumps(message))

        tell({"type": "hello"})
        joins.append(json.loads(connection.recv()))
        if len(joins) == 1:
            tell(START | {"resume": "s3cret"})
            return
        tell(START, KYOKU, DRAW | ASKS)
        assert json.loads(connection.recv()) == DISCARD
        tell({"type": "end_kyoku"}, END)
        with pytest.raises(ConnectionClosed):
            connection.recv()

    player = Scripted()
    with websocket_server(answer) as url:
        join = {"type": "join", "name": "me", "room": "room"}
        attend(parse_url(url), Stay(player, join, 1, spoken.said.append, spoken.complaints.append))
    assert [join["resume"] for join in joins] == [True, "s3cret"]
    assert spoken.said == ["game 1: 2nd with 34,500 points (-5.5)"]
    assert spoken.complaints == [f"{url}: the connection was closed; trying again in 0.01 s"]
    assert [message["type"] for message in player.told[0]] == ["start_game", "start_kyoku", "tsumo"]


def test_the_last_words_before_a_websocket_closes_are_read(spoken: Spoken) -> None:
    """The connection is closed while the player still thinks."""
    closed = Event()

    class Slow(Scripted):
        def react(self, messages: list[Message]) -> Message:
            assert closed.wait(5)
            return super().react(messages)

    def answer(connection: ServerConnection) -> None:
        connection.send(json.dumps({"type": "hello"}))
        connection.recv()
        ending = [{"type": "end_kyoku"}, END] if closed.is_set() else [{"type": "error", "message": "too slow"}]
        for message in [START | {"resume": "s3cret"}, KYOKU, DRAW | ASKS, *ending]:
            connection.send(json.dumps(message))
        connection.close()
        closed.set()

    with websocket_server(answer) as url:
        join = {"type": "join", "name": "me", "room": "room"}
        attend(parse_url(url), Stay(Slow(), join, 1, spoken.said.append, spoken.complaints.append))
    assert spoken.complaints[0] == "the server says: too slow"
    assert spoken.said == ["game 1: 2nd with 34,500 points (-5.5)"]


@pytest.mark.parametrize(
    ("status", "error", "what"),
    [
        (404, Unreachable, "no room at ws://.*/mjai/room: the server answered HTTP 404"),
        (503, ConnectionError, "the server answered HTTP 503"),
        (429, ConnectionError, "the server answered HTTP 429"),
    ],
)
def test_refused_handshakes(status: int, error: type[Exception], what: str) -> None:
    with websocket_server(lambda connection: None, status) as url, pytest.raises(error, match=what):
        connect(parse_url(url))
