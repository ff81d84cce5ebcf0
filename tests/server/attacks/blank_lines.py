"""Lines without a message over TCP: empty ones, and ones of blanks."""

from __future__ import annotations

from tests.support.attacker import Attack, Attacker

EMPTY = b"\n" * 65_536
BLANK = b" \n" * 32_768
ALONE, WAITING = "lines+rule+rule", "lines"


def reconnecting(attacker: Attacker) -> None:
    """Send some before the server says anything, and come again."""
    opened = attacker.tcp()
    opened.sendall(EMPTY)
    attacker.pace(len(EMPTY))


ATTACKS = (
    Attack("empty lines, not joined", lambda a: a.flood(a.tcp(), EMPTY), short=True),
    Attack("empty lines, waiting", lambda a: a.flood(a.joined(WAITING), EMPTY)),
    Attack("empty lines, playing", lambda a: a.flood(a.joined(ALONE), EMPTY)),
    Attack("empty lines, reconnecting", reconnecting),
    Attack("blank lines, not joined", lambda a: a.flood(a.tcp(), BLANK)),
    Attack("blank lines, playing, 20 times", lambda a: a.flood(a.joined(ALONE), BLANK), loops=20, short=True),
)
