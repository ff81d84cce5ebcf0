"""Honest bots in a process of their own, which measure how long the server lets each of them wait.

Each bot plays one game after another against two house bots, takes `THINKING` seconds for every reply, and measures
the time from its reply to the server's next message. So nobody is waited for but the server.
"""

from __future__ import annotations

import asyncio
import gc
import json
import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from time import perf_counter
from typing import cast

import uvloop

from tests.support.attacker import join
from tests.support.server_program import Ports
from tests.support.websocket_frames import CLOSE, PING, PONG, TEXT, frame, parse, upgrade_request

SPAWN = multiprocessing.get_context("spawn")
THINKING = 0.005  # seconds for a reply
ADDRESS = "127.0.0.9"  # of the honest bots; attackers have others
TRANSPORTS = ("tcp", "websocket", "tcp")
RECONNECT_DELAY = 0.2  # seconds
LATE = 0.1  # seconds of a wait from which on it is kept with its circumstances
LAG_EVERY = 0.005  # seconds between two looks at this process's own delays
NONE = b'{"type":"none"}'
NAME = "honest"


@dataclass(frozen=True)
class Late:
    """A wait of more than LATE seconds."""

    began: float  # perf_counter
    seconds: float
    after: bytes  # the message that the bot has replied to
    of: str  # which bot

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s of {self.of} after {self.after[:60].decode()}"


@dataclass
class Waits:
    """What the honest bots saw since the last look."""

    waits: list[float] = field(default_factory=list)  # seconds from a reply to the next message
    lags: list[float] = field(default_factory=list)  # seconds that this process itself came too late
    late: list[Late] = field(default_factory=list)  # the longer ones of these
    decisions: list[int] = field(default_factory=lambda: [0] * len(TRANSPORTS))  # of each bot
    games: int = 0  # finished
    errors: list[str] = field(default_factory=list)  # each a fault
    drops: list[str] = field(default_factory=list)  # bots that lost their connections

    def add_wait(self, began: float, after: bytes, of: str) -> None:
        """Count a wait that ends now."""
        seconds = perf_counter() - began
        self.waits.append(seconds)
        if seconds > LATE:
            self.late.append(Late(began, seconds, after, of))

    def add(self, more: Waits) -> None:
        """Add what was seen after this."""
        self.decisions = [before + then for before, then in zip(self.decisions, more.decisions, strict=True)]
        self.games += more.games
        for name in ("waits", "lags", "late", "errors", "drops"):
            getattr(self, name).extend(getattr(more, name))


class HonestBot:
    """A bot that discards what it draws."""

    def __init__(self, ports: Ports, number: int, transport: str, look: list[Waits], keys: dict[str, str]) -> None:
        """`look` holds one item: where to count. `keys`: more of the join message."""
        self.room = f"honest{number}+rule+rule"
        self.number = number
        self.last = b""  # message
        self.ports, self.transport, self.look = ports, transport, look
        self.waiting_since: float | None = None  # its last reply
        self.losing = False  # the connection; nothing is counted any more
        self._join = join(self.room, NAME, **keys)
        self._own_draw = b"-"  # how its own tsumo messages begin

    async def connect(self) -> None:
        """Connect, again and again until that is possible."""
        protocol = TcpClient if self.transport == "tcp" else WebSocketClient
        port = self.ports.mjai_port if self.transport == "tcp" else self.ports.port
        while True:
            try:
                await asyncio.get_running_loop().create_connection(
                    lambda: protocol(self), "127.0.0.1", port, local_addr=(ADDRESS, 0)
                )
                return
            except OSError:
                await asyncio.sleep(RECONNECT_DELAY)

    def received(self, client: Client, message: bytes) -> None:
        """A message has arrived: reply after a while."""
        look = self.look[0]
        if self.waiting_since is not None:
            look.add_wait(self.waiting_since, self.last, self.name)
            self.waiting_since = None
        self.last, reply = message, NONE
        if message.startswith(self._own_draw):
            look.decisions[self.number] += 1
            reply = b'{"type":"dahai","pai":"%b","tsumogiri":true}' % message.split(b'"', 10)[9]
        elif message.startswith(b'{"type":"start_game"'):
            self._own_draw = b'{"type":"tsumo","actor":%d,' % json.loads(message)["id"]
        elif message.startswith(b'{"type":"hello"'):
            reply = self._join
        elif message.startswith(b'{"type":"end_game"'):
            look.games += 1
        elif message.startswith(b'{"type":"error"'):
            look.errors.append(message.decode())
        elif message.startswith(b'{"type":"joined"'):
            return
        asyncio.get_running_loop().call_later(THINKING, self.reply, client, reply)

    @property
    def name(self) -> str:
        """Which bot it is."""
        return f"{self.room} over {self.transport}"

    def reply(self, client: Client, reply: bytes) -> None:
        """Send a reply; the wait for the next message begins."""
        if not client.lost:
            self.waiting_since = perf_counter()
            client.send(reply)

    def connection_lost(self) -> None:
        """Count, and connect again."""
        if not self.losing:
            self.look[0].drops.append(f"{self.name} after {self.last[:60].decode()}")
            self.waiting_since = None
            loop = asyncio.get_running_loop()
            loop.call_later(RECONNECT_DELAY, lambda: loop.create_task(self.connect()))


class Client(asyncio.Protocol):
    """A connection of an honest bot."""

    def __init__(self, bot: HonestBot) -> None:
        self.bot = bot
        self.lost = False
        self.rest = b""
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self.transport = cast(asyncio.Transport, transport)

    def connection_lost(self, error: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self.lost = True
        self.bot.connection_lost()

    def send(self, message: bytes) -> None:
        """Send one message."""
        raise NotImplementedError


class TcpClient(Client):
    """mjai over TCP."""

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.bot.received(self, line)

    def send(self, message: bytes) -> None:
        """See `Client`."""
        self.transport.write(message + b"\n")


class WebSocketClient(Client):
    """mjai over a WebSocket: as much of it as the server's own frames need, so that it costs next to nothing."""

    upgraded = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        self.transport.write(upgrade_request(f"/mjai/{self.bot.room.replace('+', '%2B')}"))

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        self.rest += data
        if not self.upgraded:
            head, end, rest = self.rest.partition(b"\r\n\r\n")
            if not end:
                return
            if b" 101 " not in head.partition(b"\r\n")[0]:
                self.transport.abort()
                return
            self.upgraded, self.rest = True, rest
        while (parsed := parse(self.rest)) is not None:
            kind, payload, self.rest = parsed
            if kind == TEXT:
                self.bot.received(self, payload)
            elif kind == PING:
                self.transport.write(frame(PONG, payload))
            elif kind == CLOSE:
                self.transport.abort()

    def send(self, message: bytes) -> None:
        """See `Client`."""
        self.transport.write(frame(TEXT, message))


# The process ----------------------------------------------------------------------------------------------------------


def play(ports: Ports, pipe: Connection, keys: dict[str, str]) -> None:
    """Play until told to stop; whenever asked, send what was seen since the last time."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_play(ports, pipe, keys))


async def _play(ports: Ports, pipe: Connection, keys: dict[str, str]) -> None:
    loop, stop, look = asyncio.get_running_loop(), asyncio.Event(), [Waits()]
    bots = [HonestBot(ports, number, transport, look, keys) for number, transport in enumerate(TRANSPORTS)]

    def asked() -> None:
        try:
            told = pipe.recv()
        except (EOFError, OSError):
            told = "stop"
        if told == "stop":
            stop.set()
            return
        seen = look[0]
        for bot in bots:
            if bot.waiting_since is not None:
                seen.add_wait(bot.waiting_since, bot.last, bot.name)
        look[0] = Waits()
        os.set_blocking(pipe.fileno(), True)  # uvloop has made it non-blocking, but this may be longer than its buffer
        pipe.send(seen)

    async def watch_lag() -> None:
        while True:
            due = perf_counter() + LAG_EVERY
            await asyncio.sleep(LAG_EVERY)
            look[0].lags.append(max(0.0, perf_counter() - due))

    loop.add_reader(pipe.fileno(), asked)
    for bot in bots:
        await bot.connect()
    watching = loop.create_task(watch_lag())
    gc.collect()
    gc.freeze()
    await stop.wait()
    watching.cancel()
    for bot in bots:
        bot.losing = True


class HonestBots:
    """The process seen from outside."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def look(self) -> Waits:
        """What the bots saw since the last look; waits that have not ended yet are counted as they are."""
        self._pipe.send("look")
        assert self._pipe.poll(30), "the honest bots' process does not answer"
        seen = self._pipe.recv()
        assert isinstance(seen, Waits)
        return seen


@contextmanager
def honest_bots(ports: Ports, **keys: str) -> Iterator[HonestBots]:
    """Let honest bots of the name NAME play while the block runs; `keys`: more of their join messages."""
    ours, theirs = SPAWN.Pipe()
    process = SPAWN.Process(target=play, args=(ports, theirs, keys), daemon=True)
    process.start()
    theirs.close()
    try:
        yield HonestBots(ours)
    finally:
        ours.send("stop")
        process.join(10)
        if process.is_alive():
            process.kill()
            process.join()
        ours.close()
