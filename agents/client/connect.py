"""Connects to a mjai server by TCP or WebSocket, as its address says."""

from __future__ import annotations

import socket

from agents.client.address import Address
from agents.client.connection import CONNECT_TIMEOUT, TcpTransport, Transport


def connect(address: Address) -> Transport:
    """Connect to a server. Raises OSError if a retry may help, else FatalConnectionError."""
    if address.scheme == "mjsonp":
        return TcpTransport(socket.create_connection((address.host, address.port), CONNECT_TIMEOUT))
    from agents.client.websocket import connect_websocket  # imported late: TCP needs no websockets

    return connect_websocket(address.url)
