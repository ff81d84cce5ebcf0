"""An attacker: what attacks are made of, and the process that they run in."""

from __future__ import annotations

import json
import multiprocessing
import os
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any

from tests.support.server_program import Ports, may_open
from tests.support.websocket_frames import upgrade_request

SPAWN = multiprocessing.get_context("spawn")
ADDRESS = "127.0.0.2"
RATE = 8_000_000  # bytes a second that an attack sends at most: the processor is also the server's and the honest bots'
PIECE = 65_536  # bytes sent at once
TIMEOUT = 5.0  # seconds for a connection, a handshake, a response
BEGIN_TIMEOUT = 30.0  # seconds until an attack has opened its first connection
DESCRIPTORS = 8_192
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends RST, and no port is left in TIME_WAIT
NICENESS = 19


@dataclass
class Sent:
    """What an attack did, to see that it was one."""

    connections: int = 0
    bytes: int = 0
    closed: int = 0  # connections that the server closed


class Attacker:
    """Opens connections and sends. Methods raise OSError where the server closes or refuses a connection."""

    def __init__(self, ports: Ports, stop: threading.Event) -> None:
        self.ports = ports
        self.stop = stop
        self.sent = Sent()
        self._own = threading.local()  # sockets that a thread has opened
        self._lock = threading.Lock()
        self._next_at = 0.0

    @property
    def over(self) -> bool:
        """Whether to stop."""
        return self.stop.is_set()

    # Connections ------------------------------------------------------------------------------------------------------

    def connect(self, port: int, address: str = ADDRESS) -> socket.socket:
        """Connect from an address."""
        opened = socket.socket()
        opened.settimeout(TIMEOUT)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.opened.append(opened)
        opened.bind((address, 0))
        opened.connect(("127.0.0.1", port))
        self.sent.connections += 1
        return opened

    def tcp(self, address: str = ADDRESS) -> socket.socket:
        """A connection to the port of mjai over TCP."""
        return self.connect(self.ports.mjai_port, address)

    def http(self, address: str = ADDRESS) -> socket.socket:
        """A connection to the port of HTTP and WebSocket."""
        return self.connect(self.ports.port, address)

    def websocket(self, path: str = "/mjai/siege", address: str = ADDRESS, headers: str = "") -> socket.socket:
        """An open WebSocket; `headers` of the request, each with its line end."""
        opened = self.http(address)
        opened.sendall(upgrade_request(path, headers=headers))
        head = b""
        while b"\r\n\r\n" not in head:
            if not (data := opened.recv(4096)):
                break
            head += data
        if not head.startswith(b"HTTP/1.1 101 "):
            raise ConnectionRefusedError(head[:100])
        return opened

    def joined(self, room: str, address: str = ADDRESS, **keys: Any) -> socket.socket:
        """A TCP connection whose bot has joined a room, and plays where house bots fill it."""
        opened = self.tcp(address)
        opened.sendall(join(room, **keys) + b"\n")
        said = b""
        while "+" in room and b"start_game" not in said:
            if not (data := opened.recv(PIECE)):
                raise ConnectionResetError
            said += data
        return opened

    def first(self, path: str) -> str:
        """The id of the first item of a list of the API. Raises OSError where there is none, or none is given."""
        items = json.loads(self.get(path) or b"{}").get("items")
        if not items:
            raise ConnectionRefusedError(path)
        return str(items[0]["id"])

    def get(self, path: str, address: str = ADDRESS, headers: str = "") -> bytes:
        """The body of a response to a request with these `headers`, each with its line end."""
        with self.http(address) as opened:
            opened.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n{headers}Connection: close\r\n\r\n".encode())
            return b"".join(iter(lambda: opened.recv(PIECE), b"")).partition(b"\r\n\r\n")[2]

    @property
    def opened(self) -> list[socket.socket]:
        """The sockets that this thread has opened."""
        if not hasattr(self._own, "sockets"):
            self._own.sockets = []
        sockets: list[socket.socket] = self._own.sockets
        return sockets

    def close_all(self) -> None:
        """Close the sockets of this thread."""
        while self.opened:
            self.opened.pop().close()

    # What is done with them -------------------------------------------------------------------------------------------

    def pace(self, n_bytes: int) -> None:
        """Count sent bytes, and wait where they were too many."""
        with self._lock:
            self.sent.bytes += n_bytes
            self._next_at = max(monotonic(), self._next_at) + n_bytes / RATE
            left = self._next_at - monotonic()
        if left > 0:
            self.stop.wait(left)

    def flood(self, opened: socket.socket, data: bytes, read: bool = True) -> None:
        """Send the same again and again until the server closes the connection; its own is dropped or not read."""
        opened.setblocking(False)
        poll, position = select.poll(), 0
        poll.register(opened, select.POLLOUT | (select.POLLIN if read else 0))
        while not self.over:
            for _, happened in poll.poll(100):
                if happened & select.POLLIN and not opened.recv(PIECE):
                    self.sent.closed += 1
                    return
                if happened & (select.POLLERR | select.POLLHUP):
                    self.sent.closed += 1
                    return
                if happened & select.POLLOUT:
                    with suppress(BlockingIOError):
                        n_bytes = opened.send(data[position : position + PIECE])
                        position = (position + n_bytes) % len(data)
                        self.pace(n_bytes)

    def wait_closed(self, opened: socket.socket) -> None:
        """Read until the server closes the connection."""
        opened.settimeout(0.2)
        while not self.over:
            with suppress(TimeoutError):
                if not opened.recv(PIECE):
                    self.sent.closed += 1
                    return

    def keep_open(
        self, count: int, connect: Callable[[int], socket.socket], trickle: bytes = b"", read: bool = True
    ) -> None:
        """Keep that many connections open, which `connect` opens by their number; replace those that are closed.

        `trickle`: bytes of which each connection sends one a second.
        """
        poll, numbers, sockets = select.poll(), list(range(count)), dict[int, tuple[int, socket.socket]]()
        second, started = 0, monotonic()
        while not self.over:
            if numbers:
                try:
                    opened = connect(numbers[-1])
                    sockets[opened.fileno()] = numbers.pop(), opened
                    poll.register(opened, select.POLLRDHUP | (select.POLLIN if read else 0))
                except OSError:
                    self.close_unused(sockets)
                    self.stop.wait(0.01)
            for number, happened in poll.poll(0 if numbers else 100):
                with suppress(OSError):
                    if not happened & (select.POLLERR | select.POLLHUP | select.POLLRDHUP):
                        if sockets[number][1].recv(PIECE):
                            continue
                self._replace(number, sockets, numbers, poll)
            if trickle and monotonic() - started > second:
                byte = trickle[second % len(trickle) :][:1]
                second += 1
                for number in list(sockets):
                    try:
                        self.sent.bytes += sockets[number][1].send(byte)
                    except OSError:
                        self._replace(number, sockets, numbers, poll)

    def _replace(
        self, number: int, sockets: dict[int, tuple[int, socket.socket]], numbers: list[int], poll: select.poll
    ) -> None:
        """A connection is closed: its number is free."""
        free, closed = sockets.pop(number)
        poll.unregister(number)
        numbers.append(free)
        self.opened.remove(closed)
        closed.close()
        self.sent.closed += 1
        self.stop.wait(0.002)

    def close_unused(self, sockets: dict[int, tuple[int, socket.socket]]) -> None:
        """Close what failed while it was opened."""
        used = {opened for _, opened in sockets.values()}
        for opened in [opened for opened in self.opened if opened not in used]:
            self.opened.remove(opened)
            opened.close()


def join(room: str, name: str = "attacker", **keys: Any) -> bytes:
    """A join message."""
    return json.dumps({"type": "join", "name": name, "room": room, "games": 0} | keys).encode()


def address(number: int) -> str:
    """One of many addresses."""
    return f"127.{1 + number // 62_500}.{number // 250 % 250}.{1 + number % 250}"


# The process ----------------------------------------------------------------------------------------------------------

Act = Callable[[Attacker], None]


@dataclass(frozen=True)
class Attack:
    """An attack: something that is done again and again, in one loop or several at a time."""

    name: str
    act: Act  # returns once its connections are closed; is then called again
    loops: int = 1
    short: bool = False  # whether it is run by `make test` too
    log_lines: int = 100  # that the server may write in a short time because of it
    connections: int = 1  # that it must open to be an attack
    full: bool = False  # whether it may fill the server, so that nobody else can connect
    pause: float = 0.01  # seconds between two calls
    aftermath: float = 0.0  # seconds that the honest bots are watched after it: what it left behind


def run_loop(attack: Attack, attacker: Attacker) -> None:
    """Attack until told to stop."""
    while not attacker.over:
        with suppress(OSError):
            attack.act(attacker)
        attacker.close_all()
        attacker.stop.wait(attack.pause)


def run(find: Callable[[str], Attack], name: str, ports: Ports, pipe: Connection) -> None:
    """Attack until told to stop; then say what was sent."""
    os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
    may_open(DESCRIPTORS)
    attack, attacker = find(name), Attacker(ports, threading.Event())
    loops = [threading.Thread(target=run_loop, args=(attack, attacker)) for _ in range(attack.loops)]
    for loop in loops:
        loop.start()
    begun_by = monotonic() + BEGIN_TIMEOUT
    while not attacker.sent.connections and monotonic() < begun_by:  # the lowest priority may wait for its turn
        attacker.stop.wait(0.01)
    pipe.send("ready")
    with suppress(EOFError):
        pipe.recv()
    attacker.stop.set()
    for loop in loops:
        loop.join(2 * TIMEOUT)
    pipe.send(attacker.sent)


@contextmanager
def attacking(find: Callable[[str], Attack], name: str, ports: Ports) -> Iterator[Sent]:
    """Run the attack that `find` finds by its name while the block runs; what it sent is known after it."""
    ours, theirs = SPAWN.Pipe()
    process = SPAWN.Process(target=run, args=(find, name, ports, theirs), daemon=True)
    process.start()
    theirs.close()
    sent = Sent()
    try:
        assert ours.poll(60)
        assert ours.recv() == "ready"
        yield sent
        ours.send("stop")
        assert ours.poll(3 * TIMEOUT), f"{name}: the attacker does not stop"
        counted = ours.recv()
        sent.connections, sent.bytes, sent.closed = counted.connections, counted.bytes, counted.closed
    finally:
        process.join(1)
        if process.is_alive():
            process.kill()
            process.join()
        ours.close()
