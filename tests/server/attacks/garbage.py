"""Bytes that are no message, no text and no request."""

from __future__ import annotations

import random
from functools import partial

from tests.server.attacks.control_frames import playing, unjoined
from tests.server.attacks.joins import WITH_LOG
from tests.support.attacker import Attack, Attacker
from tests.support.websocket_frames import BINARY, TEXT, frame

CHANCE = random.Random(1)
NOISE = CHANCE.randbytes(1 << 20)
LINES = b"".join(CHANCE.randbytes(30).replace(b"\n", b" ") + b"\n" for _ in range(10_000))


def send_frames(who: str, data: bytes, attacker: Attacker) -> None:
    """Send frames."""
    attacker.flood({"playing": playing, "not joined": unjoined}[who](attacker), data)


ATTACKS = (
    Attack("garbage as requests", lambda a: a.flood(a.http(), NOISE), 4, pause=0.0, short=True),
    Attack("bad requests", lambda a: a.flood(a.http(), b"GET\r\n\r\n" * 1_000), 4, pause=0.0),
    Attack("TLS on the HTTP port", lambda a: a.flood(a.http(), b"\x16\x03\x01\x02\x00" + NOISE), 4, pause=0.0),
    Attack("garbage as lines, not joined", lambda a: a.flood(a.tcp(), LINES), 4),
    Attack("garbage as lines, playing", lambda a: a.flood(a.joined("noise+rule+rule"), LINES), 4, log_lines=WITH_LOG),
    Attack("noise without lines", lambda a: a.flood(a.tcp(), b"x" * 65_536), 4),
    Attack(
        "noise without lines, playing", lambda a: a.flood(a.joined("noise+rule+rule"), b"x" * 65_536), 4, log_lines=300
    ),
    Attack("garbage as frames", lambda a: a.flood(a.websocket(), NOISE), 4),
    *(
        Attack(
            f"text that is not UTF-8, {who}", partial(send_frames, who, frame(TEXT, b"\xff{}") * 1_000), log_lines=300
        )
        for who in ("not joined", "playing")
    ),
    Attack(
        "binary frames of zeros, playing", partial(send_frames, "playing", frame(BINARY, bytes(60_000))), log_lines=300
    ),
)
