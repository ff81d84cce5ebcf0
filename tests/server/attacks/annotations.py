"""Annotations as large as a message may be, with every decision of many games."""

from __future__ import annotations

import json
import secrets
from contextlib import suppress
from typing import Any

from tests.support.attacker import PIECE, Attack, Attacker

SIZE = 60_000  # bytes of one, which do not compress


def reply_to(message: dict[str, Any]) -> bytes:
    """The first action that is possible, with an annotation, or none."""
    possible = message.get("possible_actions")
    if not possible:
        return b'{"type":"none"}\n'
    return json.dumps(possible[0] | {"ext_bot": secrets.token_hex(SIZE // 2)}).encode() + b"\n"


def play(attacker: Attacker) -> None:
    """Play a game against house bots."""
    opened = attacker.joined("annotated+tsumogiri+tsumogiri")
    left = b""
    with suppress(TimeoutError):
        opened.sendall(b'{"type":"none"}\n')  # to start_game
        while not attacker.over and (data := opened.recv(PIECE)):
            *lines, left = (left + data).split(b"\n")
            for message in map(json.loads, lines):
                if message["type"] == "end_game":
                    return
                opened.sendall(reply_to(message))


ATTACKS = (Attack("annotations of 60 kB with every decision", play, 4, log_lines=1_000),)
