"""A server under attack while honest bots play: what they, the memory and the log saw."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from server.game.journal import SUFFIX
from tests.server.attacks.catalogue import attack_named
from tests.support.attacker import Attack, Sent, attacking, join
from tests.support.honest_bots import NAME, HonestBots, Waits, honest_bots
from tests.support.server_program import ServerProgram, add_token, server_program

DESCRIPTORS = 1_024  # of the server: what most systems give a program
NEWCOMER = "127.0.0.10"
NEWCOMER_TIMEOUT = 15.0  # seconds
DECISION_TIMEOUT = 15.0  # seconds until each honest bot has decided something since the attack began
RECOVERY_TIMEOUT = 60.0  # seconds until a server answers again after an attack
WARM_UP_TIMEOUT = 60.0
MEMORY = Path("/dev/shm")
MB = 1_000_000
GAME_END = re.compile(r"(?:seat taken over|game finished) .* game=(\w+)")


@dataclass(frozen=True)
class Limits:
    """What an attack may do at most."""

    worst: float  # seconds that an honest bot waits
    p99: float
    newcomer: float  # seconds until a new bot plays
    memory: int = 20 * MB  # that the server needs more


STRICT = Limits(worst=0.25, p99=0.03, newcomer=1.0)
LOOSE = Limits(worst=10.0, p99=10.0, newcomer=10.0)  # where other programs use the processor, and may stop all others


@dataclass(frozen=True)
class Outcome:
    """What an attack did."""

    attack: Attack
    seconds: float
    seen: Waits
    newcomer: float | str  # seconds until a new bot played, or why it did not
    memory: int  # bytes that the server needed more at most
    descriptors: int  # open after it
    cpu: float  # part of a processor that the server used
    log: list[str]  # lines
    earlier: frozenset[str]  # ids of the games with a journal when it began
    sent: Sent

    @property
    def worst(self) -> float:
        """The longest wait, in seconds."""
        return max(self.seen.waits, default=float("inf"))

    @property
    def p99(self) -> float:
        """What 99 % of the waits did not exceed, in seconds."""
        return quantile(self.seen.waits, 0.99)

    def of_earlier(self, line: str) -> bool:
        """Whether a line is not of this attack: a room that closes, or the end of a game that an earlier one left."""
        end = GAME_END.search(line)
        return "room closed" in line or (end is not None and end[1] in self.earlier)

    def complaints(self, limits: Limits) -> list[str]:
        """What was not harmless."""
        tracebacks = [line for line in self.log if "Traceback" in line or "[error" in line or "[critical" in line]
        lines = [line for line in self.log if not self.of_earlier(line)]
        allowed = self.attack.log_lines + 20 * (self.seconds + self.attack.aftermath)
        own = f"(the bots' own worst delay was {1000 * max(self.seen.lags, default=0):.0f} ms)"
        late = [str(wait) for wait in self.seen.late[:3]]
        found = {
            f"worst wait {1000 * self.worst:.0f} ms {own}: {late}": self.worst > limits.worst,
            f"p99 of waits {1000 * self.p99:.1f} ms {own}": self.p99 > limits.p99,
            f"faults or errors: {self.seen.errors[:3]}": bool(self.seen.errors),
            f"dropped: {self.seen.drops}": bool(self.seen.drops),
            f"decisions of the three: {self.seen.decisions}": min(self.seen.decisions) == 0,
            f"memory grew by {self.memory / MB:.0f} MB": self.memory > limits.memory,
            f"{len(lines)} lines in the log, such as {lines[-1:]}": len(lines) > allowed,
            f"errors in the log: {tracebacks[:3]}": bool(tracebacks),
            f"the attack opened {self.sent.connections} connections": self.sent.connections < self.attack.connections,
        }
        if not self.attack.full:
            kept_out = isinstance(self.newcomer, str) or self.newcomer > limits.newcomer
            found[f"a newcomer could not play: {self.newcomer}"] = kept_out
        return [text for text, holds in found.items() if holds]


def quantile(values: list[float], fraction: float) -> float:
    """The value that this fraction does not exceed; infinite where there are none."""
    ordered = sorted(values) or [float("inf")]
    return ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]


@dataclass
class Siege:
    """A server and its honest bots."""

    server: ServerProgram
    bots: HonestBots
    keys: dict[str, str]  # of the bots' join messages

    def strike(self, attack: Attack, seconds: float) -> Outcome:
        """Attack for that long; returns once the server answers again."""
        lines, memory, cpu = len(self.server.log_lines()), self.server.memory, self.server.cpu
        earlier = frozenset(path.stem for path in (self.server.log.parent / "data/journal").glob("*" + SUFFIX))
        self.bots.look()
        with self.server.peak_memory() as memories:
            with attacking(attack_named, attack.name, self.server.ports) as sent:
                started = time.monotonic()
                time.sleep(seconds)
                newcomer = self.newcomer()
                cpu = (self.server.cpu - cpu) / (time.monotonic() - started)
            self.wait_until_it_answers()
            time.sleep(attack.aftermath)
            seen = self.seen()
        log = self.server.log_lines()[lines:]
        needed, left = max(memories) - memory, self.server.descriptors
        return Outcome(attack, seconds, seen, newcomer, needed, left, cpu, log, earlier, sent)

    def seen(self) -> Waits:
        """What the honest bots saw since the last look, once each has decided something: none is kept out."""
        seen, end = self.bots.look(), time.monotonic() + DECISION_TIMEOUT
        while not all(seen.decisions) and time.monotonic() < end:
            time.sleep(0.05)
            seen.add(self.bots.look())
        return seen

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
def siege(games: int = 0, access: str = "auto") -> Iterator[Siege]:
    """A server that honest bots play on, at least so many `games` before the first attack.

    Its data is in memory, if the system has a file system for that: a disk may take a second for a write at times,
    attack or not. `access`: the setting; the honest bots have a token if it is ``token``.
    """
    memory = MEMORY if MEMORY.is_dir() else None
    with TemporaryDirectory(prefix="siege-", dir=memory) as folder, siege_in(Path(folder), access) as found:
        found.warm_up(games)
        yield found


@contextmanager
def siege_in(folder: Path, access: str) -> Iterator[Siege]:
    """The same in a folder, before any game."""
    keys = {"token": add_token(folder, NAME)} if access == "token" else {}
    with (
        server_program(folder, descriptors=DESCRIPTORS, access=access) as server,
        honest_bots(server.ports, **keys) as bots,
    ):
        yield Siege(server, bots, keys)
