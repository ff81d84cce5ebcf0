"""A server under attack while honest bots play: what they, the memory and the log saw."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.server.attacks.catalogue import attack_named
from tests.support.attacker import Attack, Sent, attacking, join
from tests.support.honest_bots import LATE, NAME, HonestBots, Late, Waits, honest_bots
from tests.support.server_program import ServerProgram, add_token, repeating, server_program

DESCRIPTORS = 1_024  # of the server: what most systems give a program
NEWCOMER = "127.0.0.10"
NEWCOMER_TIMEOUT = 5.0  # seconds
RECOVERY_TIMEOUT = 60.0  # seconds until a server answers again after an attack
WARM_UP_TIMEOUT = 60.0
WRITE_EVERY = 0.05  # seconds
MB = 1_000_000


@dataclass(frozen=True)
class Limits:
    """What an attack may do at most."""

    worst: float  # seconds that an honest bot waits
    p99: float
    newcomer: float  # seconds until a new bot plays
    memory: int = 20 * MB  # that the server needs more


STRICT = Limits(worst=0.25, p99=0.03, newcomer=1.0)
LOOSE = Limits(worst=2.0, p99=0.5, newcomer=3.0)  # where other programs use the processor too


@dataclass(frozen=True)
class Write:
    """When a byte was written to the disk, by perf_counter."""

    began: float
    ended: float


@dataclass(frozen=True)
class Outcome:
    """What an attack did."""

    attack: Attack
    seconds: float
    seen: Waits
    writes: list[Write]  # to the disk, beside the server's
    newcomer: float | str  # seconds until a new bot played, or why it did not
    memory: int  # bytes that the server needed more at most
    descriptors: int  # open after it
    cpu: float  # part of a processor that the server used
    log: list[str]  # lines
    sent: Sent

    @property
    def worst(self) -> float:
        """The longest wait, in seconds, without what the disk took where a game had to be stored first."""
        late = [wait.seconds - self.stored_within(wait) for wait in self.seen.late]
        return max([seconds for seconds in self.seen.waits if seconds <= LATE] + late, default=float("inf"))

    def stored_within(self, wait: Late) -> float:
        """The seconds of a wait in which the disk was as slow for a write of ours."""
        if not wait.ends_game:
            return 0.0
        ended = wait.began + wait.seconds
        return max([min(ended, write.ended) - max(wait.began, write.began) for write in self.writes] + [0.0])

    @property
    def disk(self) -> float:
        """Seconds of the longest write."""
        return max([write.ended - write.began for write in self.writes], default=0.0)

    @property
    def p99(self) -> float:
        """What 99 % of the waits did not exceed, in seconds."""
        return quantile(self.seen.waits, 0.99)

    def complaints(self, limits: Limits) -> list[str]:
        """What was not harmless."""
        tracebacks = [line for line in self.log if "Traceback" in line or "[error" in line or "[critical" in line]
        allowed = self.attack.log_lines + 20 * (self.seconds + self.attack.aftermath)
        own = (
            f"(the bots' own worst delay was {1000 * max(self.seen.lags, default=0):.0f} ms, "
            f"the disk's {1000 * self.disk:.0f} ms)"
        )
        late = [str(wait) for wait in self.seen.late[:3]]
        found = {
            f"worst wait {1000 * self.worst:.0f} ms {own}: {late}": self.worst > limits.worst,
            f"p99 of waits {1000 * self.p99:.1f} ms {own}": self.p99 > limits.p99,
            f"faults or errors: {self.seen.errors[:3]}": bool(self.seen.errors),
            f"dropped: {self.seen.drops}": bool(self.seen.drops),
            f"decisions of the three: {self.seen.decisions}": min(self.seen.decisions) == 0,
            f"memory grew by {self.memory / MB:.0f} MB": self.memory > limits.memory,
            f"{len(self.log)} lines in the log, such as {self.log[-1:]}": len(self.log) > allowed,
            f"errors in the log: {tracebacks[:3]}": bool(tracebacks),
            f"the attack opened {self.sent.connections} connections": self.sent.connections < self.attack.connections,
        }
        if not self.attack.full:
            late = isinstance(self.newcomer, str) or self.newcomer > limits.newcomer
            found[f"a newcomer could not play: {self.newcomer}"] = late
        return [text for text, holds in found.items() if holds]


def quantile(values: list[float], fraction: float) -> float:
    """The value that this fraction does not exceed; infinite where there are none."""
    ordered = sorted(values) or [float("inf")]
    return ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]


@contextmanager
def writing(folder: Path) -> Iterator[list[Write]]:
    """Write a byte to the disk again and again while the block runs; the list holds when.

    A game ends when it is stored, and some disks take a second for that at times, attack or not.
    """
    done = list[Write]()
    with (folder / "disk").open("wb", buffering=0) as file:

        def write() -> None:
            began = time.perf_counter()
            file.write(b"x")
            os.fsync(file.fileno())
            done.append(Write(began, time.perf_counter()))

        with repeating(write, WRITE_EVERY):
            yield done


@dataclass
class Siege:
    """A server and its honest bots."""

    server: ServerProgram
    bots: HonestBots
    keys: dict[str, str]  # of the bots' join messages

    def strike(self, attack: Attack, seconds: float) -> Outcome:
        """Attack for that long; returns once the server answers again."""
        lines, memory, cpu = len(self.server.log_lines()), self.server.memory, self.server.cpu
        self.bots.look()
        with self.server.peak_memory() as memories, writing(self.server.log.parent) as writes:
            with attacking(attack_named, attack.name, self.server.ports) as sent:
                started = time.monotonic()
                time.sleep(seconds)
                newcomer = self.newcomer()
                cpu = (self.server.cpu - cpu) / (time.monotonic() - started)
            self.wait_until_it_answers()
            time.sleep(attack.aftermath)
            seen = self.bots.look()
        log = self.server.log_lines()[lines:]
        needed, left = max(memories) - memory, self.server.descriptors
        return Outcome(attack, seconds, seen, writes, newcomer, needed, left, cpu, log, sent)

    def newcomer(self) -> float | str:
        """Seconds until a new bot of another address plays, and the server says that it is well; or why not."""
        started = time.monotonic()
        joining = join("newcomer+rule+rule", NAME, **self.keys) + b"\n"
        try:
            said = self.talk(self.server.ports.mjai_port, joining, b"start_game")
            if b"start_game" not in said:
                return f"mjai: {said[-200:]!r}"
            said = self.talk(self.server.ports.port, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b"\r\n\r\n")
            if not said.startswith(b"HTTP/1.1 200"):
                return f"HTTP: {said[:200]!r}"
        except OSError as error:
            return f"{type(error).__name__}: {error}"
        return time.monotonic() - started

    def talk(self, port: int, data: bytes, until: bytes) -> bytes:
        """Send that, and read until the server has said this."""
        said = b""
        with socket.create_connection(("127.0.0.1", port), NEWCOMER_TIMEOUT, (NEWCOMER, 0)) as connection:
            connection.sendall(data)
            while until not in said and (more := connection.recv(65_536)):
                said += more
        return said

    def wait_until_it_answers(self) -> None:
        """Wait for the end of what the attack has left behind: the honest bots' waits for it are counted too."""
        end = time.monotonic() + RECOVERY_TIMEOUT
        while time.monotonic() < end:
            assert self.server.process.poll() is None, "the server has died"
            started = time.monotonic()
            if not isinstance(self.newcomer(), str) and time.monotonic() - started < 0.5:
                return
            time.sleep(0.05)

    def warm_up(self, games: int = 0) -> None:
        """Let the honest bots play, until so many games are finished, and ask for everything once."""
        for path in ("/openapi.json", "/docs", "/metrics", "/api/games", "/api/players", "/api/rooms", "/no"):
            self.talk(self.server.ports.port, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), b"\r\n\r\n")
        self.newcomer()
        finished = decisions = 0
        end = time.monotonic() + WARM_UP_TIMEOUT
        while finished < games or decisions < 100:
            assert time.monotonic() < end, "the honest bots do not play"
            time.sleep(0.1)
            seen = self.bots.look()
            finished, decisions = finished + seen.games, decisions + sum(seen.decisions)


@contextmanager
def siege(folder: Path, games: int = 0, access: str = "auto") -> Iterator[Siege]:
    """A server that honest bots play on, at least so many `games` before the first attack.

    `access`: the setting; the honest bots have a token if it is ``token``.
    """
    keys = {"token": add_token(folder, NAME)} if access == "token" else {}
    with (
        server_program(folder, "--access", access, descriptors=DESCRIPTORS) as server,
        honest_bots(server.ports, **keys) as bots,
    ):
        found = Siege(server, bots, keys)
        found.warm_up(games)
        yield found
