"""What may be wrong with an address that does not answer as a mjai server, in one line."""

from __future__ import annotations

import socket
from contextlib import suppress

from agents.client.address import Address
from engine.mjai.connection import DEFAULT_PORT

FIRST_CONNECTION = 15.0  # seconds to reach a server at all
PROBE_TIMEOUT = 2.0  # seconds a port has to show what it speaks
ANSWER_TIMEOUT = 2.0  # seconds it then has to answer our request
REQUEST = b"GET / HTTP/1.0\r\n\r\n"


def protocol_of(host: str, port: int) -> str:
    """Return what a port speaks: "mjai" over TCP, "HTTP", or "" for anything else. Connects once."""
    with suppress(OSError), socket.create_connection((host, port), PROBE_TIMEOUT) as connected:
        with suppress(TimeoutError):
            return "mjai" if connected.recv(1024).lstrip().startswith(b"{") else ""
        connected.settimeout(ANSWER_TIMEOUT)
        connected.sendall(REQUEST)
        return "HTTP" if connected.recv(1024).startswith(b"HTTP/") else ""
    return ""


def other_protocol(address: Address) -> str:
    """Return what to do about a port that speaks another protocol than the address says; "" if unknown."""
    where = f"{address.host}:{address.port}"
    speaks = protocol_of(address.host, address.port)
    if address.scheme == "mjsonp" and speaks == "HTTP":
        return (
            f"{where} speaks HTTP: use ws://{where}/mjai/{address.room}, or the server's port of mjai over TCP"
            f" ({DEFAULT_PORT} by default)"
        )
    if address.scheme != "mjsonp" and speaks == "mjai":
        return f"{where} speaks mjai over TCP: use mjsonp://{where}/{address.room}"
    if address.scheme == "wss" and speaks == "HTTP":
        return f"{where} speaks HTTP without TLS: use ws://{where}/mjai/{address.room}"
    return ""


def unreachable(address: Address, error: OSError) -> str:
    """What to check if no server could be reached."""
    where = f"{address.host}:{address.port}"
    if isinstance(error, ConnectionRefusedError):
        return f"nobody listens at {where}: is the server running, and is this its address?"
    return f"no mjai server can be reached at {where} ({error.strerror or error}): is this its address?"
