"""External bots by the words that name them on a command line.

``exec:COMMAND``             a bot in a child process that speaks mjai on stdin and stdout; words after plus signs say
                             how, as in ``exec+kita+array:COMMAND`` (see `agents.external.child` for the framings)
``mjsonp://HOST:PORT/ROOM``  a bot that is waited for there
"""

from __future__ import annotations

from agents.external.child import AUTO, FRAMINGS, Child
from agents.external.listener import Listener
from agents.external.mjai_bot import MjaiBot
from engine.mjai.dialects import DIALECTS


def is_external(spec: str) -> bool:
    """Whether `spec` names a foreign bot."""
    return spec.split(":")[0].split("+")[0] == "exec" or is_awaited(spec)


def is_awaited(spec: str) -> bool:
    """Whether `spec` names a bot that is to connect to us."""
    return "://" in spec and not spec.startswith("exec")


def make_external(spec: str, timeout: float) -> MjaiBot:
    """The foreign bot that `spec` names, with so many seconds for each answer. Raises ValueError."""
    if is_awaited(spec):
        return Listener(spec, timeout)
    head, _, command = spec.partition(":")
    dialect, framing = "mjai3p", AUTO
    for word in head.split("+")[1:]:
        if word in DIALECTS:
            dialect = word
        elif word in FRAMINGS:
            framing = word
        else:
            raise ValueError(f"{head}: {word!r} is none of {', '.join((*DIALECTS, *FRAMINGS))}")
    return Child(command, dialect, framing, timeout)
