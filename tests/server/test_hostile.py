"""Random and malformed messages: no exception escapes, other games go on, and each gets one printable error."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from engine.tiles import MJAI_NAMES
from server.running import Running
from tests.conftest import Scale
from tests.support.server_bots import Bot, serving

BATCH = 200
EXAMPLES = {"quick": 25, "long": 250}  # of each transport; at length 2 x 250 x 200 = 100,000 messages
LONGEST_ERROR = 1_000
CLIENT_LOG = logging.getLogger("hostile client")
CLIENT_LOG.disabled = True  # the client library logs an error if the server closes while it does
PATIENCE = 120.0  # seconds until all honest games have ended
BETWEEN_GAMES = 1.0  # seconds, so that honest games leave processor time for the hostile connections

# Hostile messages ----------------------------------------------------------------------------------------------------

TYPES = (
    "none", "dahai", "reach", "pon", "daiminkan", "kakan", "ankan", "nukidora", "kita", "hora", "ryukyoku", "join",
    "hello", "tsumo", "start_game", "end_game", "error", "resumed", "hint", "leave", "", "DAHAI", "dahai ",
)  # fmt: skip
KEYS = (
    "actor", "target", "pai", "consumed", "tsumogiri", "name", "room", "dialect", "token", "reply", "games", "resume",
    "seen", "ext_bot", "id",
)  # fmt: skip
values = st.one_of(
    st.sampled_from(MJAI_NAMES),
    st.integers(-3, 40),
    st.sampled_from([None, True, False, 10**30, -1.5, 1e400, "?", "", "\x00\x1b[2J", "＼", "a" * 300, [], {}, [[[]]]]),
    st.lists(st.sampled_from([*MJAI_NAMES, "?", "5z"]), max_size=5),
    st.dictionaries(st.sampled_from(KEYS), st.integers(0, 3), max_size=2),
)
objects = st.builds(
    lambda kind, fields: json.dumps({"type": kind, **fields}).encode(),
    st.sampled_from(TYPES),
    st.dictionaries(st.sampled_from(KEYS), values, max_size=4),
)
ODDITIES = (
    b"{", b"[]", b"null", b"0", b'"dahai"', b"NaN", b'{"type":NaN}', b'{"type":"dahai","pai":Infinity}', b"\xff\xfe{}",
    b"\x00", b"[" * 5_000, b'{"a":' * 2_000, b'{"type":"dahai","type":"hora"}', b'{"type":["dahai"]}',
    b'{"type":"none","ext_bot":"' + b"x" * 60_000 + b'"}', b"x" * 65_536, b"x" * 65_537, b"y" * 200_000,
    b'{"type":"none"', b'{"type":"\xed\xa0\x80"}', b'{"type":"\\ud800"}', b"GET / HTTP/1.1",
    b'{"type":"dahai","pai":1e999}',
)  # fmt: skip
cut = st.builds(lambda data, index: data[: index % (len(data) + 1)], objects, st.integers(0, 200))
messages = st.one_of(objects, objects, cut, st.sampled_from(ODDITIES), st.binary(max_size=30)).map(
    lambda data: data.replace(b"\n", b" ")
)
batches = st.lists(messages, min_size=BATCH, max_size=BATCH)
PLAYING = ("solo+rule+rule", "mixed")  # rooms where the messages arrive in the middle of a game
# Mostly one where all messages are parsed; None: no join message is sent.
rooms = st.sampled_from([*["solo+rule+rule"] * 8, "mixed", "waiting", None])


# The server ----------------------------------------------------------------------------------------------------------


class Target:
    """A server in a thread of its own, with honest bots that play game after game."""

    def __init__(self, data: Path) -> None:
        self.escaped: list[str] = []
        self.honest: list[Bot] = []
        self.server: Running
        self._data = data
        self._ready = threading.Event()
        self._stop: asyncio.Event
        self._loop: asyncio.AbstractEventLoop
        self.thread = threading.Thread(target=lambda: asyncio.run(self._run()))

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_exception_handler(lambda loop, context: self.escaped.append(repr(context)))
        limits = {"joins_per_minute": 10**6, "max_faults": 10**6, "resume_timeout": 0.0, "messages_per_second": 10**6}
        async with serving(self._data, timeout=600.0, **limits) as server:
            self.server = server
            async with asyncio.TaskGroup() as group:
                for transport in ("tcp", "websocket"):
                    for seat in range(3):
                        group.create_task(
                            self._play(Bot(server, f"{transport}{seat}", transport=transport, room=transport))
                        )
                for seat in range(2):
                    group.create_task(self._play(Bot(server, f"mixed{seat}", room="mixed", games=0)))
                self._ready.set()

    async def _play(self, bot: Bot) -> None:
        """Play game after game until the test ends."""
        self.honest.append(bot)
        while not self._stop.is_set():
            playing = asyncio.create_task(bot.play())
            stopping = asyncio.create_task(self._stop.wait())
            await asyncio.wait({playing, stopping}, return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            if bot.join.get("room") == "mixed":
                playing.cancel()
            with suppress(asyncio.CancelledError):
                await playing
            await asyncio.sleep(BETWEEN_GAMES)

    def wait_for_games(self, n: int) -> None:
        """Wait until every honest bot has come to the end of so many games."""
        deadline = time.monotonic() + PATIENCE
        while min(sum(game[-1]["type"] == "end_game" for game in bot.games) for bot in self.honest) < n:
            assert time.monotonic() < deadline, "honest games do not come to their ends"
            time.sleep(0.1)

    def __enter__(self) -> Target:
        self.thread.start()
        assert self._ready.wait(30)
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self.thread.join(60)


@contextmanager
def target(data: Path) -> Iterator[Target]:
    with Target(data) as running:
        yield running


def send_lines(server: Running, room: str | None, batch: list[bytes]) -> list[bytes]:
    """Send a batch over TCP, and read until the server closes the connection; returns what it sent."""
    with socket.create_connection(("127.0.0.1", server.mjai_port), timeout=20) as connection:
        if room is not None:
            connection.sendall(join(room) + b"\n")
        said = b""
        while room in PLAYING and b"start_game" not in said:
            said += connection.recv(1 << 16)
        with suppress(ConnectionError):
            connection.sendall(b"\n".join(batch) + b"\n")
            connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionError):
            while data := connection.recv(1 << 16):
                said += data
    return said.splitlines()


def send_frames(server: Running, room: str | None, batch: list[bytes]) -> list[bytes]:
    """Send a batch over a WebSocket, every other message as a binary frame, and close; returns what the server sent."""
    said: list[bytes] = []
    url = f"ws://127.0.0.1:{server.port}/mjai/{room or 'x'}"
    with connect(url, max_size=None, close_timeout=0.1, logger=CLIENT_LOG) as connection, suppress(ConnectionClosed):
        if room is not None:
            connection.send(join(room).decode())
        while room in PLAYING and not any(b"start_game" in data for data in said):
            said.append(str(connection.recv(timeout=20)).encode())
        for index, data in enumerate(batch):
            connection.send(data.decode("utf-8", "replace") if index % 2 else data)
        with suppress(TimeoutError):
            while True:
                said.append(str(connection.recv(timeout=0.05)).encode())
    return said


def join(room: str) -> bytes:
    return json.dumps({"type": "join", "name": "hostile", "room": room, "games": 0}).encode()


SEND = {"tcp": send_lines, "websocket": send_frames}


@pytest.mark.usefixtures("no_error_is_logged")
@pytest.mark.slow
@pytest.mark.parametrize("transport", SEND)
def test_hostile_messages_get_one_error_each_and_disturb_no_other_game(
    transport: str, scale: Scale, tmp_path: Path
) -> None:
    errors, examples = 0, EXAMPLES[scale]
    with target(tmp_path) as running:

        @settings(
            max_examples=examples,
            phases=(Phase.generate,),
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(rooms, batches)
        def send_batch(room: str | None, batch: list[bytes]) -> None:
            nonlocal errors
            with suppress(TimeoutError):
                for said in map(json.loads, SEND[transport](running.server, room, batch)):
                    if said["type"] == "error":
                        errors += 1
                        text = said["message"]
                        assert text.isprintable(), text
                        assert 5 < len(text) < LONGEST_ERROR, text
            assert running.thread.is_alive()

        send_batch()
        for _ in range(2):  # the bots that wait there need a third one, whatever rooms were drawn
            SEND[transport](running.server, "mixed", list(ODDITIES))
        running.wait_for_games(2)
    assert errors > examples
    assert running.escaped == []
    assert [bot.errors for bot in running.honest if bot.errors] == []
