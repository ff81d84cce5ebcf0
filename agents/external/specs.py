"""From a bot spec, as it is written on a command line, to a bot.

``NAME``, ``NAME:ARGUMENT``  a bot in this process, see `agents.registry`
``exec:COMMAND``             a program that speaks mjai on stdin and stdout; dialect and framing may be given after plus
                             signs, as in ``exec+kita+array:COMMAND`` (see `agents.external.subprocess_bot`)
``mjsonp://HOST:PORT/ROOM``  a bot that connects to us there (see `agents.external.listener`)

A spec from outside (a room name at the server) goes to `agents.registry.make`, never here: it must not start programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents import registry
from agents.external.framing import AUTO, FRAMINGS, TIMEOUT
from agents.files import PROGRAM
from engine.mjai.connection import DIALECTS

if TYPE_CHECKING:
    from agents.base import Agent
    from agents.external.mjai_bot import MjaiBot


def connects_to_us(spec: str) -> bool:
    """Whether `spec` names a bot that connects to us."""
    return is_external(spec) and not spec.startswith(("exec:", "exec+"))


def is_external(spec: str) -> bool:
    """Whether `spec` names an external bot: a program, or one that connects to us."""
    return PROGRAM.match(spec) is not None


def check(spec: str) -> None:
    """Raise ValueError for a text that names no bot, as far as can be checked without loading one."""
    if not is_external(spec):
        registry.check(spec)


def make_external(spec: str, timeout: float) -> MjaiBot:
    """The external bot that `spec` names, with `timeout` seconds for each reply. Raises ValueError."""
    from agents.external.listener import Listener  # here: most runs have no external bot, and --help has no bots
    from agents.external.subprocess_bot import SubprocessBot

    if connects_to_us(spec):
        return Listener(spec, timeout)
    head, _, command = spec.partition(":")
    dialect, framing = "mjai3p", AUTO
    for option in head.split("+")[1:]:
        if option in DIALECTS:
            dialect = option
        elif option in FRAMINGS:
            framing = option
        else:
            raise ValueError(f"{head}: {option!r} is not one of {', '.join((*DIALECTS, *FRAMINGS))}")
    return SubprocessBot(command, dialect, framing, timeout)


def make_agent(spec: str, seed: int, timeout: float = TIMEOUT) -> Agent:
    """The bot that `spec` names, external or not, as an agent.

    `seed` is for bots in this process, `timeout` (seconds for each reply) for external ones. Raises ValueError.
    """
    if not is_external(spec):
        return registry.make(spec, seed)
    from agents.external.external_agent import ExternalAgent  # see above

    return ExternalAgent(make_external(spec, timeout))
