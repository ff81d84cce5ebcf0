"""Requests with a body of one-byte chunks that does not end."""

from __future__ import annotations

from functools import partial

from tests.support.attacker import Attack, Attacker

CHUNKS = b"1\r\nx\r\n" * 10_000
REQUESTS = {"GET": "/healthz", "HEAD": "/api/rooms", "DELETE": "/api/rooms/x", "POST": "/api/rooms"}


def send_chunks(method: str, attacker: Attacker) -> None:
    """Begin a request and send chunks."""
    opened = attacker.http()
    opened.sendall(f"{method} {REQUESTS[method]} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    attacker.flood(opened, CHUNKS)


ATTACKS = tuple(
    Attack(f"{method} with chunks of one byte", partial(send_chunks, method), short=method == "GET")
    for method in REQUESTS
)
