"""Records that are sent to be read or reviewed: parked, huge once unzipped, or many at once."""

from __future__ import annotations

import gzip
import socket
from functools import cache, partial
from pathlib import Path

from tests.server.attacks.parked_memory import park
from tests.server.attacks.requests import ask
from tests.support.attacker import PIECE, Attack, Attacker, address

LOOPS = 6
CONNECTIONS = 90
LONGEST = 262_144  # bytes of a body
RECORD = gzip.compress((Path(__file__).resolve().parents[2] / "data" / "records" / "phoenix_2014_1.xml").read_bytes())
# What is gzipped: a beginning, and what is repeated so many times.
BOMBS = {
    "zeros": (b"", b"\0", 100 << 20),
    "objects": (b'{"log":[', b"{},", 2_700_000),
    "nested lists": (b'{"log":', b"[", 8 << 20),
    "rounds": (b'{"type":"start_game","names":["a","b","c"]}\n', b'{"type":"end_kyoku"}\n', 390_000),
}
# Rounds that contradict the rules, as many as a body holds: each would be replayed.
CONTRADICTING = (
    b'{"type":"start_game","names":["a","b","c"]}\n'
    + (
        b'{"type":"start_kyoku","bakaze":"E","dora_marker":"1m","kyoku":1,"honba":0,"kyotaku":0,"oya":0,'
        b'"scores":[35000,35000,35000],"tehais":[["1m"],["1m"],["1m"]]}\n{"type":"end_kyoku"}\n'
    )
    * 12_000
)
REVIEW = "/api/reviews?bot=bert&bot=rule&seat=0"


def post(path: str, body: bytes) -> bytes:
    """A request with a body."""
    return b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (path.encode(), len(body), body)


@cache
def bomb(what: str) -> bytes:
    """A few kilobytes that are megabytes once they are unzipped."""
    beginning, repeated, times = BOMBS[what]
    return gzip.compress(beginning + repeated * times)


def send_bombs(path: str, what: str, attacker: Attacker) -> None:
    """Send one after another."""
    ask(post(path, bomb(what)), attacker)


def contradict(path: str, attacker: Attacker) -> None:
    """Send rounds that contradict the rules, from five addresses in turn."""
    for number in range(5):
        with attacker.http(address(number)) as opened:
            opened.sendall(post(path, gzip.compress(CONTRADICTING, 1)))
            opened.recv(PIECE)


def begun(path: str, attacker: Attacker, from_where: str) -> socket.socket:
    """Send all of a record but the last byte."""
    return park(attacker.http(from_where), post(path, b" " * LONGEST)[:-1])


def parked(path: str, attacker: Attacker) -> None:
    """Keep requests open that wait for the rest of their records."""
    attacker.keep_open(CONNECTIONS // LOOPS, lambda _: begun(path, attacker, "127.0.0.2"))


def parked_by_many(attacker: Attacker) -> None:
    """The same from many addresses."""
    attacker.keep_open(CONNECTIONS // LOOPS, lambda number: begun("/api/records", attacker, address(number)))


def unread(attacker: Attacker) -> None:
    """Do not read what comes back."""
    request = post("/api/records", RECORD)
    attacker.keep_open(CONNECTIONS // LOOPS, lambda number: park(attacker.http(address(number)), request), read=False)


ATTACKS = (
    *(Attack(f"bombs of {what} to read", partial(send_bombs, "/api/records", what)) for what in BOMBS),
    *(Attack(f"bombs of {what} to review, 6 loops", partial(send_bombs, REVIEW, what), LOOPS) for what in BOMBS),
    Attack("reviews, 6 loops", partial(ask, post(REVIEW, RECORD)), LOOPS, short=True),
    Attack("records to read, 6 loops", partial(ask, post("/api/records", RECORD)), LOOPS),
    Attack("contradicting rounds to read, 5 addresses", partial(contradict, "/api/records")),
    Attack("contradicting rounds to review, 5 addresses", partial(contradict, REVIEW)),
    Attack("unfinished records to read", partial(parked, "/api/records"), LOOPS),
    Attack("unfinished records to review", partial(parked, REVIEW), LOOPS),
    Attack("unfinished records of 90 addresses", parked_by_many, LOOPS),
    Attack("records whose messages are not read", unread, LOOPS),
)
