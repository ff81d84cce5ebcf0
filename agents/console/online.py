"""A game of the person at a server: the messages, and the keys, at the same time."""

from __future__ import annotations

import math
from queue import Queue
from threading import Thread

from agents.client.address import Address
from agents.client.connect import connect
from agents.client.connection import Transport
from agents.client.playing import play
from agents.client.session import ClientSession
from agents.console.person import Person
from agents.console.screen import Screen
from engine.mjai.messages import Message

MAX_WAITING = 64  # messages that are read ahead
LOST = "connection lost, reconnecting …"


class WatchedTransport:
    """A `Transport` whose messages a thread reads, so that the screen is served while one is awaited."""

    def __init__(self, transport: Transport, screen: Screen) -> None:
        self._transport = transport
        self._screen = screen
        self._waiting: Queue[Message | Exception] = Queue(MAX_WAITING)  # an exception is the last, and stays
        self.send = transport.send
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        """Read until the connection is closed."""
        message: Message | Exception = {}
        while not isinstance(message, Exception):
            try:
                message = self._transport.receive()
            except Exception as error:
                message = error
            self._waiting.put(message)
            self._screen.wake()

    def receive(self, timeout: float | None = None) -> Message:
        """Serve the screen until the thread has read a message, and return it."""
        if not self._screen.serve(lambda: not self._waiting.empty(), math.inf if timeout is None else timeout):
            raise TimeoutError("timed out")
        message: Message | Exception = self._waiting.queue[0]
        if isinstance(message, Exception):
            raise message
        self._waiting.get()
        self._screen.trouble = ""
        return message

    @property
    def has_news(self) -> bool:
        """Return whether the pending question is out of date; raise the error of a lost connection.

        A dora indicator after a kan leaves the question about the kan pending.
        """
        for message in list(self._waiting.queue):
            if isinstance(message, Exception):
                raise message
            if message["type"] != "dora":
                return True
        return False

    def close(self) -> None:
        """Close the connection, which ends the thread."""
        self._transport.close()


class OnlineTable:
    """A table at a server."""

    def __init__(self, screen: Screen, url: Address, name: str, token: str | None) -> None:
        self._screen = screen
        self._url = url
        self._line: WatchedTransport | None = None
        person = Person(name, screen, self._too_late)
        join: Message = {"type": "join", "name": name, "room": url.room, "dialect": url.dialect}
        join |= {"token": token} if token else {}
        self.session = ClientSession(person, join, 1, screen.say, screen.say, url)

    def play(self) -> None:
        """Play one game. Raises what `agents.client.playing.play` raises, and `Left`."""
        self._screen.say(f"connecting to {self._url.full}")
        play(self._url, self.session, self._connect, self._wait)
        if self.session.record:
            self._screen.results.append(f"record: {self.session.record}")
        self._screen.serve(lambda: not self._screen.covered)

    def _connect(self, url: Address) -> Transport:
        self._line = WatchedTransport(self._screen.during(lambda: connect(url)), self._screen)
        if self.session.greeted:
            self._screen.say("connected again")
        return self._line

    def _wait(self, told: str, seconds: float) -> None:
        self._screen.trouble = LOST if self.session.greeted else "no connection, trying again …"
        self._screen.say(told)
        self._screen.serve(lambda: False, seconds)

    def _too_late(self) -> bool:
        return self._line is not None and self._line.has_news
