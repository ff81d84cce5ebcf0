"""The client at a server over WebSocket."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from agents.client.address import parse_url
from agents.client.connect import connect
from agents.client.connection import FatalConnectionError
from agents.client.playing import play
from agents.client.session import ClientSession
from tests.support.client_output import Output, output
from tests.support.fake_server import CAN_ACT, DISCARD, DRAW, END, PATIENCE, START_GAME, START_KYOKU, Message
from tests.support.scripted_bot import ScriptedBot

__all__ = ["output"]


@contextmanager
def websocket_server(answer: Callable[[ServerConnection], None], status: int = 0) -> Iterator[str]:
    """A WebSocket server in a thread; with a `status` it rejects every handshake with that HTTP status."""

    def reject(connection: ServerConnection, request: Request) -> Response | None:
        return connection.respond(status, "no") if status else None

    with serve(answer, "127.0.0.1", 0, process_request=reject) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}/mjai/room"
        server.shutdown()
    thread.join(5)


def test_a_game_over_websocket(output: Output) -> None:
    """The first connection is lost, and the game is resumed over a second one."""
    joins: list[Message] = []

    def answer(connection: ServerConnection) -> None:
        def send(*messages: Message) -> None:
            for message in messages:
                connection.send(json.dumps(message))

        send({"type": "hello"})
        joins.append(json.loads(connection.recv()))
        if len(joins) == 1:
            send(START_GAME | {"resume": "s3cret"})
            return
        send(START_GAME, START_KYOKU, DRAW | CAN_ACT)
        assert json.loads(connection.recv()) == DISCARD
        send({"type": "end_kyoku"}, END)
        with pytest.raises(ConnectionClosed):
            connection.recv()

    bot = ScriptedBot()
    with websocket_server(answer) as url:
        join = {"type": "join", "name": "me", "room": "room"}
        play(parse_url(url), ClientSession(bot, join, 1, output.report, output.errors.append), wait=output.wait)
    assert [join["resume"] for join in joins] == [True, "s3cret"]
    assert output.results == ["game 1: 2nd with 34,500 points (-5.5)"]
    assert output.errors == [f"{url}: the connection was closed; trying again in 1 s"]
    assert [message["type"] for message in bot.batches[0]] == ["start_game", "start_kyoku", "tsumo"]


def test_messages_sent_before_a_websocket_closes_are_read(output: Output) -> None:
    """The server closes the connection while the bot is still deciding."""
    closed = Event()

    class SlowBot(ScriptedBot):
        def react(self, messages: list[Message]) -> Message:
            assert closed.wait(PATIENCE)
            return super().react(messages)

    def answer(connection: ServerConnection) -> None:
        connection.send(json.dumps({"type": "hello"}))
        connection.recv()
        ending = [{"type": "end_kyoku"}, END] if closed.is_set() else [{"type": "error", "message": "too slow"}]
        for message in [START_GAME | {"resume": "s3cret"}, START_KYOKU, DRAW | CAN_ACT, *ending]:
            connection.send(json.dumps(message))
        connection.close()
        closed.set()

    with websocket_server(answer) as url:
        join = {"type": "join", "name": "me", "room": "room"}
        play(parse_url(url), ClientSession(SlowBot(), join, 1, output.report, output.errors.append), wait=output.wait)
    assert output.errors[0] == "the server says: too slow"
    assert output.results == ["game 1: 2nd with 34,500 points (-5.5)"]


@pytest.mark.parametrize(
    ("status", "error", "what"),
    [
        (404, FatalConnectionError, "no room at ws://.*/mjai/room: the server answered HTTP 404"),
        (503, ConnectionError, "the server answered HTTP 503"),
        (429, ConnectionError, "the server answered HTTP 429"),
    ],
)
def test_rejected_handshakes(status: int, error: type[Exception], what: str) -> None:
    with websocket_server(lambda connection: None, status) as url, pytest.raises(error, match=what):
        connect(parse_url(url))


@pytest.mark.parametrize("place", ["{other}", "https://127.0.0.1:1/mjai/room", "/mjai/elsewhere"])
def test_no_redirect_is_followed(place: str) -> None:
    """The join, with its token, is for the server that the user has named."""
    reached = Event()

    def redirect(connection: ServerConnection, request: Request) -> Response:
        response = connection.respond(302, "there")
        response.headers["Location"] = place.format(other=other)
        return response

    with websocket_server(lambda connection: reached.set()) as other:
        with serve(lambda connection: None, "127.0.0.1", 0, process_request=redirect) as server:
            thread = Thread(target=server.serve_forever, daemon=True)
            thread.start()
            url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}/mjai/room"
            with pytest.raises(FatalConnectionError, match=f"^{url} redirects to another address"):
                connect(parse_url(url))
            server.shutdown()
        thread.join(5)
    assert not reached.is_set()
