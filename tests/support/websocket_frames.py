"""Raw WebSocket frames of a client (RFC 6455)."""

from __future__ import annotations

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
FINAL = 0x80
MASKED = 0x80
KEY = bytes(4)  # a masking key of zeros leaves the payload as it is


def frame(kind: int, payload: bytes = b"", *, final: bool = True, length: int | None = None) -> bytes:
    """A frame; `length`: of the payload as the head claims it, where less than that follows."""
    length = len(payload) if length is None else length
    if length < 126:
        size = bytes([MASKED | length])
    elif length < 65_536:
        size = bytes([MASKED | 126]) + length.to_bytes(2, "big")
    else:
        size = bytes([MASKED | 127]) + length.to_bytes(8, "big")
    return bytes([kind | FINAL * final]) + size + KEY + payload


def parse(data: bytes) -> tuple[int, bytes, bytes] | None:
    """The kind and payload of a server's first frame, and what follows it; None if the frame is not complete."""
    if len(data) < 2:
        return None
    size = {126: 2, 127: 8}.get(data[1], 0)  # bytes of the length, where it does not fit into seven bits
    if len(data) < 2 + size:
        return None
    start = 2 + size
    end = start + (int.from_bytes(data[2:start], "big") if size else data[1])
    return None if len(data) < end else (data[0] & 15, data[start:end], data[end:])


def upgrade_request(path: str, method: str = "GET", host: str = "127.0.0.1", headers: str = "") -> bytes:
    """The request that opens a WebSocket; `headers`: more of them, each with its line end."""
    return (
        f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Upgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    ).encode()
