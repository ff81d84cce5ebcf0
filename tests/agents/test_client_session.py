"""The client at a server: games, reconnection, rejections, and bots that fail."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from agents.client import playing as client
from agents.client import session
from agents.client.address import parse_url
from agents.client.connection import FatalConnectionError
from agents.client.playing import play
from agents.client.session import ClientSession
from agents.external.mjai_bot import NONE
from tests.support.client_output import Output, output
from tests.support.fake_server import (
    CAN_ACT,
    CLASSIC_START_GAME,
    DISCARD,
    DRAW,
    END,
    SECOND_DRAW,
    START_GAME,
    START_KYOKU,
    Connection,
    FakeServer,
    Message,
    loses,
    play_game,
    says,
    serves,
)
from tests.support.scripted_bot import ScriptedBot

__all__ = ["output"]


def run_client(server: FakeServer, bot: ScriptedBot, output: Output, games: int = 1, **join: Any) -> ClientSession:
    """Play `games` games at a fake server."""
    keys = {"type": "join", "name": "me", "room": "room"} | join
    played = ClientSession(bot, keys, games, output.report, output.errors.append)
    play(parse_url(server.url), played, wait=output.wait)
    return played


ESCAPES = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e\ud800\n"


def test_nothing_that_a_server_sends_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    def serve(connection: Connection) -> None:
        connection.handshake()
        place = {"resume": "secret", "game": ESCAPES, "http_port": 11600}
        play_game(connection, START_GAME | {"names": ["me", ESCAPES, "b\nc"]} | place)
        connection.send({"type": "error", "message": f"{ESCAPES}{'x' * 10_000}"})

    with FakeServer(serve) as server:
        address = parse_url(server.url)
        keys = {"type": "join", "name": "me", "room": "room"}
        played = ClientSession(ScriptedBot(), keys, 2, client.report, client.log, address)
        with pytest.raises(FatalConnectionError) as rejected:
            play(address, played)
        client.log(str(rejected.value))
    out, err = capsys.readouterr()
    escaped = r"\x1b]0;title\x07\x1b[2J\x9b31m\u202e\ud800"
    assert out.splitlines() == [f"game 1: against {escaped} and b c", "game 1: 2nd with 34,500 points (-5.5)"]
    assert err.startswith(f"agents.client: the server says: {escaped} xxx")
    assert err.isascii() is False
    assert len(err) < 600
    assert all(line.isprintable() for line in (out + err).splitlines())


@pytest.mark.parametrize(
    ("game", "port", "place"),
    [
        ("g1", 8000, {"game": "g1", "http_port": 8000}),
        ("../../x", 8000, {"http_port": 8000}),
        ("g1 x", "80@elsewhere.example/", {}),
        (["g1"], True, {}),
        ("g1", 0, {"game": "g1"}),
        ("g" * 65, 65_536, {}),
        (None, None, {}),
    ],
)
def test_what_would_lead_to_another_address_is_left_out(game: Any, port: Any, place: Message) -> None:
    assert session.read_place({"game": game, "http_port": port}) == place


def test_games_on_one_connection(output: Output) -> None:
    bot = ScriptedBot()
    with FakeServer(partial(serves, games=2)) as server:
        run_client(server, bot, output, games=2, token="secret", dialect="mjai3p")
    assert server.joins == [
        {
            "type": "join", "name": "me", "room": "room", "token": "secret", "dialect": "mjai3p",
            "games": 2, "reply": "when_asked", "joined": True, "resume": True,
        }
    ]  # fmt: skip
    assert output.starts == ["game 1: against 1 and 2", "game 2: against 1 and 2"]
    assert output.results == ["game 1: 2nd with 34,500 points (-5.5)", "game 2: 2nd with 34,500 points (-5.5)"]
    assert output.errors == []
    assert [message["type"] for message in bot.batches[0]] == ["start_game", "start_kyoku", "tsumo"]
    assert bot.batches[0][0]["id"] == 0
    assert all("can_act" not in message for messages in bot.batches for message in messages)
    assert [message["type"] for message in bot.batches[2]] == ["end_kyoku", "end_game"]


class HangingUp:
    """A server that sends a whole game, and does not wait for the reply to its last message."""

    def __init__(self) -> None:
        game = [START_GAME, START_KYOKU, DRAW | CAN_ACT, DISCARD, {"type": "end_kyoku"}, END | CAN_ACT]
        self.messages: list[Message] = [{"type": "hello"}, *game]

    def receive(self, timeout: float | None = None) -> Message:
        if not self.messages:
            raise ConnectionError("the connection was closed")
        return self.messages.pop(0).copy()

    def send(self, message: Message) -> None:
        if not self.messages:
            raise BrokenPipeError


@pytest.mark.parametrize("games", [1, 2])
def test_a_game_counts_although_the_reply_to_its_end_meets_a_closed_connection(output: Output, games: int) -> None:
    join = {"type": "join", "name": "me", "room": "room"}
    played = ClientSession(ScriptedBot(), join, games, output.report, output.errors.append)
    if games == 1:
        played.run(HangingUp())
    else:
        with pytest.raises(ConnectionError, match="was closed"):
            played.run(HangingUp())
    assert (played.finished, played.games_played) == (games == 1, 1)
    assert output.results == ["game 1: 2nd with 34,500 points (-5.5)"]


def test_a_classic_server_gets_a_reply_to_every_message(output: Output) -> None:
    """It knows `name` and `room` alone, sends one message at a time, and names no scores where a round starts."""
    start_kyoku = {key: value for key, value in START_KYOKU.items() if key != "scores"}
    scores = [35000, 43000, 27000]
    won = {"type": "hora", "actor": 1, "target": 2, "pai": "9p", "deltas": [0, 8000, -8000], "scores": scores}
    script = [
        ({"type": "start_game", "id": 0, "names": CLASSIC_START_GAME["names"]}, NONE), (start_kyoku, NONE),
        (DRAW | {"possible_actions": []}, DISCARD), (DISCARD | {"possible_actions": []}, NONE),
        ({"type": "error", "message": "the chat is down"}, NONE), ({"type": "tsumo", "actor": 1, "pai": "?"}, NONE),
        ({"type": "dahai", "actor": 1, "pai": "E", "tsumogiri": True}, NONE), (won, NONE),
        ({"type": "end_kyoku"}, NONE), (start_kyoku | {"kyoku": 2, "oya": 1}, NONE), ({"type": "end_kyoku"}, NONE),
        ({"type": "end_game", "scores": scores}, NONE),
    ]  # fmt: skip

    def serve(connection: Connection) -> None:
        join = connection.handshake()
        assert (join["name"], join["room"]) == ("me", "room")
        for message, reply in script:
            connection.send(message)
            assert connection.receive() == reply, message

    bot = ScriptedBot()
    with FakeServer(serve) as server:
        run_client(server, bot, output)
    assert output.results == ["game 1: 2nd with 35,000 points"]
    assert output.errors == ["the server says: the chat is down"]
    sent = [message for messages in bot.batches for message in messages]
    of_game = [message["type"] for message, _ in script if message["type"] != "error"]
    assert [message["type"] for message in sent] == of_game
    assert [message["scores"] for message in sent if message["type"] == "start_kyoku"] == [[35000] * 3, scores]
    # The bot is asked where it decides alone: a program may be silent elsewhere.
    assert [messages[-1]["type"] for messages in bot.batches] == ["tsumo", "end_game"]


def test_a_game_is_resumed_after_a_lost_connection(output: Output) -> None:
    """The connection is lost once before the server has received the reply, and once after it."""

    def before(connection: Connection) -> None:
        loses(connection)
        connection.send(DRAW | CAN_ACT)
        connection.receive()

    def after(connection: Connection) -> None:
        connection.handshake()
        connection.send(DRAW | CAN_ACT)
        assert connection.receive() == DISCARD
        connection.send(DISCARD, {"type": "tsumo", "actor": 1, "pai": "?"})

    def rest(connection: Connection) -> None:
        connection.handshake()
        connection.send({"type": "tsumo", "actor": 1, "pai": "?"})
        connection.send({"type": "dahai", "actor": 1, "pai": "9p", "tsumogiri": True}, SECOND_DRAW | CAN_ACT)
        assert connection.receive() == DISCARD | {"pai": "E"}
        connection.send({"type": "end_kyoku"}, END)

    bot = ScriptedBot()
    with FakeServer(before, after, rest) as server:
        run_client(server, bot, output)
    assert [join["resume"] for join in server.joins] == [True, "s3cret", "s3cret"]
    assert [join["seen"] for join in server.joins[1:]] == [2, 4]
    types = [message["type"] for messages in bot.batches for message in messages]
    assert types == ["start_game", "start_kyoku", "tsumo", "dahai", "tsumo", "dahai", "tsumo", "end_kyoku", "end_game"]
    assert output.results == ["game 1: 2nd with 34,500 points (-5.5)"]
    assert [line.split(": ")[1] for line in output.errors] == ["the connection was closed; trying again in 1 s"] * 2


def test_where_games_cannot_be_resumed_another_is_joined(output: Output) -> None:
    def loses_for_good(connection: Connection) -> None:
        connection.handshake()
        connection.send(START_GAME, START_KYOKU)

    with FakeServer(loses_for_good, serves) as server:
        run_client(server, ScriptedBot(), output)
    assert [join["resume"] for join in server.joins] == [True, True]
    assert len(output.results) == 1


def test_a_game_that_cannot_be_resumed_is_given_up_and_another_is_joined(output: Output) -> None:
    bot = ScriptedBot()
    with FakeServer(loses, says("no such game"), serves) as server:
        run_client(server, bot, output, games=2)
    assert [join["resume"] for join in server.joins] == [True, "s3cret", True]
    assert [join["games"] for join in server.joins[::2]] == [2, 1]
    assert "game 1 cannot be resumed (the server says: no such game)" in output.errors[-1]
    assert [line.split(":")[0] for line in output.results] == ["game 2"]
    assert bot.batches[0][0]["type"] == "start_game"


def test_a_lost_game_counts_as_played(output: Output) -> None:
    with (
        FakeServer(loses, says("10 faults: rule plays this seat")) as server,
        pytest.raises(FatalConnectionError, match=r"game 1 cannot be resumed .*faults"),
    ):
        run_client(server, ScriptedBot(), output)
    assert output.results == []


def test_reconnection_backs_off_exponentially(output: Output) -> None:
    """And anew after a message of a game."""
    with FakeServer(*[Connection.handshake] * 7, loses, Connection.handshake, serves) as server:
        run_client(server, ScriptedBot(), output)
    assert output.waits == [1, 2, 4, 8, 16, 30, 30, 1, 2]


@pytest.mark.parametrize("early", [True, False])
def test_a_rejection_is_final(output: Output, early: bool) -> None:
    with (
        FakeServer(says("the room\nis closed", early=early)) as server,
        pytest.raises(FatalConnectionError, match=r"^the server says: the room is closed$"),
    ):
        run_client(server, ScriptedBot(), output)
    assert output.errors == []


def test_a_rejection_with_retry_is_not_final(output: Output) -> None:
    """Neither when a game is joined nor when one is resumed."""

    def rest(connection: Connection) -> None:
        connection.handshake()
        connection.send({"type": "resumed", "from": 0}, START_GAME, START_KYOKU, DRAW | CAN_ACT)
        assert connection.receive() == DISCARD
        connection.send(END)

    stops, full = says("the server stops", retry=True), says("too many connections", early=True, retry=True)
    bot = ScriptedBot()
    with FakeServer(full, stops, loses, full, stops, rest) as server:
        run_client(server, bot, output)
    assert server.joins[-1]["resume"] == "s3cret"
    assert len(output.results) == 1
    assert len(output.errors) == 5
    assert "the server says: too many connections; trying again in 1 s" in output.errors[0]
    assert [message["type"] for message in bot.batches[0]] == ["start_game", "start_kyoku", "tsumo"]


def test_a_server_of_another_protocol_is_reported(output: Output) -> None:
    with (
        FakeServer(lambda connection: connection.send({"type": "welcome"})) as server,
        pytest.raises(FatalConnectionError, match="not a mjai server"),
    ):
        run_client(server, ScriptedBot(), output)


def test_an_invalid_message_in_a_game_closes_the_connection(output: Output) -> None:
    def send_garbage(connection: Connection) -> None:
        loses(connection)
        connection.send({"type": "dahai"} | CAN_ACT, {"type": "tsumo", "actor": 9})

    with FakeServer(send_garbage, says("no such game"), serves) as server:
        run_client(server, ScriptedBot(), output, games=2)
    assert "the server sent an invalid message" in output.errors[0]


class FallbackBot:
    """Stands in for the fallback bot: it plays tsumogiri, and must be sent every game from its start."""

    def __init__(self, agent: Any) -> None:
        self.messages: list[Message] = []

    def react(self, messages: list[Message]) -> Message:
        self.messages = messages if messages[0]["type"] == "start_game" else self.messages + messages
        assert self.messages[0]["type"] == "start_game"
        return DISCARD | {"pai": messages[-1].get("pai")}


def test_the_fallback_finishes_a_game_in_which_the_bot_fails(output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "AgentBot", FallbackBot)
    bot = ScriptedBot(fails_at=1)
    with FakeServer(partial(serves, games=2)) as server:
        run_client(server, bot, output, games=2)
    assert output.errors == [
        "scripted: broke down; stderr: no idea; safe defaults are played for it until the end of this game"
    ]
    assert output.results == [
        "game 1: 2nd with 34,500 points (-5.5), earned by safe defaults from event 3 on",
        "game 2: 2nd with 34,500 points (-5.5)",
    ]
    assert len(bot.batches) == 4, "the bot must play the second game"


@pytest.mark.parametrize("asked", [True, False])
def test_what_a_house_bot_earned_is_said_to_be_its(output: Output, asked: bool) -> None:
    """It had the seat when the game was resumed; a bot that is asked again has it back."""

    def rest(connection: Connection) -> None:
        connection.handshake()
        connection.send({"type": "resumed", "from": 2, "taken_over": True}, DRAW | ({"can_act": True} if asked else {}))
        assert not asked or connection.receive() == DISCARD
        connection.send({"type": "end_kyoku"}, END)

    with FakeServer(loses, rest) as server:
        told = run_client(server, ScriptedBot(), output).summary()
    earned = "" if asked else ", earned by a house bot of the server"
    assert output.results == [f"game 1: 2nd with 34,500 points (-5.5){earned}"]
    assert told.endswith("1 x 2nd, 0 x 3rd" + ("" if asked else " (1 of them earned by others)"))


def test_messages_of_another_dialect_are_translated(output: Output) -> None:
    def serve(connection: Connection) -> None:
        connection.handshake()
        north = {"type": "kita", "actor": 1, "pai": "N"}
        connection.send(START_GAME, START_KYOKU, DRAW | CAN_ACT)
        connection.receive()
        connection.send(
            DISCARD, north, {"type": "hora", "actor": 1, "target": 0, "deltas": [-8000, 8000, 0], "ura_markers": []}
        )
        connection.send({"type": "end_kyoku"}, {"type": "end_game"})

    bot = ScriptedBot()
    with FakeServer(serve) as server:
        run_client(server, bot, output, dialect="kita")
    assert server.joins[0]["dialect"] == "kita"
    assert bot.batches[1][1] == {"type": "nukidora", "actor": 1, "pai": "N"}
    assert output.results == ["game 1: 3rd with 27,000 points"]


def test_a_game_without_end_is_given_up(output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else its messages would fill the memory."""
    monkeypatch.setattr(session, "MAX_GAME", 100_000)

    def serve(connection: Connection) -> None:
        connection.handshake()
        connection.send(START_GAME | {"resume": "secret"})
        connection.send(*[{"type": "dora", "dora_marker": "1m", "unknown": "x" * 1000}] * 100)
        with pytest.raises(ConnectionError):
            connection.receive()

    with FakeServer(serve) as server, pytest.raises(FatalConnectionError, match="a game without end"):
        run_client(server, ScriptedBot(), output)
