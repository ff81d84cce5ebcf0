"""From the text of a bot to a bot that runs in this process.

`make` accepts:

``NAME``, ``NAME:ARGUMENT``
    a built-in bot, or one that another package registers as an entry point of the group ``nukidora.agents``: a factory
    ``(argument, seed) -> Agent`` (see `agents.base.Factory`).

``FILE.py:NAME``, ``FILE.py:NAME:ARGUMENT``
    a bot in a file; no package is needed. NAME is a class or a function of the file that makes the bot:

    * It is called without arguments, but a parameter that is named ``seed`` gets the seed (an integer of 64 bits), and
      one that is named ``argument`` gets ARGUMENT (None without one). So ``class Eager: def __init__(self)``,
      ``def __init__(self, seed)`` and a factory ``make(argument, seed)``, compiled ones included, are all fine.
    * The bot needs a method ``act(views)``, or ``__call__(view)`` as a tactic (see `agents.tactics`); tables show its
      ``name``, or that of its class if it has none.
    * A relative path begins at the working directory, and ``~`` is the home directory.
    * The file may import modules in its folder. Its folder is searched last, so that it hides no other module:
      where two have the same name, the installed one is imported.
    * Each process executes the file once; the workers of the arena and of training are separate processes.
    * A file whose path contains a comma is put in double quotes where bots are separated by commas.

``BOT@-300``
    any of these, weaker by 300 points, if it has been calibrated (see `agents.strength`).

Bots that are programs or connections: see `agents.external.specs`. A file runs with all rights of the process: text
that comes from other people must be one of `names`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from agents.built_in import BUILT_IN
from agents.files import PROGRAM, call_factory, check_agent, is_file, make_from_file, split_file_spec, where_raised
from agents.strength.spec import split_strength
from engine.checks import check_seed
from engine.seeds import derive_seed

if TYPE_CHECKING:
    from agents.base import Agent, Factory

__all__ = ["GROUP", "check", "check_agent", "is_built_in", "is_file", "make", "make_bots", "names"]

GROUP = "nukidora.agents"
PLAIN = re.compile(r"[\w-]{1,64}")  # the name of a file that may have been meant


def _find(name: str) -> EntryPoint | None:
    """The entry point of a bot, without importing it. Other packages cannot replace a built-in bot."""
    if name in BUILT_IN:
        return EntryPoint(name, BUILT_IN[name].factory, GROUP)
    return next((found for found in entry_points(group=GROUP) if found.name == name), None)


def names() -> list[str]:
    """The names `make` accepts: the built-in ones, then those of other packages."""
    return [*BUILT_IN, *sorted({found.name for found in entry_points(group=GROUP)} - BUILT_IN.keys())]


def is_built_in(spec: str) -> bool:
    """Whether `spec` is a built-in bot without an argument, such as ``rule`` or ``rule@-300``.

    Making it runs and reads nothing that the text names, so that the text may come from other people. Raises ValueError
    for an invalid strength.
    """
    return split_strength(spec)[0] in BUILT_IN


def check(spec: str) -> None:
    """Raise ValueError, in one line, for a text that names no bot, as far as can be checked without loading one.

    Programs call this before they import what their bots need, so that a mistake is reported at once.
    """
    bot, _ = split_strength(spec)
    if _registered(bot) is None:
        split_file_spec(bot)


def make(spec: str, seed: int = 0) -> Agent:
    """The bot that `spec` names; see above for what it may be.

    Raises ValueError, in one line, for an unknown name (the message lists the known ones), a file or an entry point
    that cannot be loaded, a seed beyond 64 bits, and if the bot rejects its argument. Raises TypeError for a seed that
    is not an integer.
    """
    seed = check_seed(seed)
    if not isinstance(spec, str):
        raise TypeError(f"a bot is named by a text such as 'rule', not {spec!r}")
    bot, strength = split_strength(spec)
    if strength is not None:
        agent = make(bot, seed)
        from agents.strength.scale import at_strength  # the dial is compiled

        return at_strength(agent, bot, strength, seed)
    found = _registered(spec)
    if found is None:
        return make_from_file(spec, seed)
    name, colon, argument = spec.partition(":")
    if name in BUILT_IN:
        built_in: Agent = found.load()(argument if colon else None, seed)
        return built_in
    factory = _load(found)
    return call_factory(lambda seed: factory(argument if colon else None, seed), seed, f"the bot {name}")


def make_bots(specs: Iterable[str], seed: int) -> list[Agent]:
    """The bots of `specs`, each with its own seed. Raises ValueError."""
    return [make(spec, derive_seed(seed, "bot", index)) for index, spec in enumerate(specs)]


def _registered(spec: str) -> EntryPoint | None:
    """The entry point of the bot that `spec`, without a strength, names; None for one in a file. Raises ValueError."""
    found = _find(spec.partition(":")[0])
    if found is None and not is_file(spec):
        raise ValueError(_unknown(spec))
    return found


def _load(found: EntryPoint) -> Factory:
    """The factory of another package. Raises ValueError."""
    try:
        factory: Factory = found.load()
    except Exception as error:
        package = f" of {found.dist.name}" if found.dist else ""
        raise ValueError(
            f"the bot {found.name}{package} cannot be loaded from {found.value}: {where_raised(error)}"
        ) from error
    return factory


def _unknown(spec: str) -> str:
    """What is wrong with a spec that names no bot."""
    if PROGRAM.match(spec):
        return f"{spec!r} is no bot of this process: only the arena plays it, and the client a program with --exec"
    name = spec.partition(":")[0]
    if "?" in name and name.partition("?")[0] in names():
        return f"unknown bot {name!r}: options follow a colon, as in bert:?temperature=1 and search:n=5"
    told = f"unknown bot {name!r}: choose one of {', '.join(names())}"
    is_here = PLAIN.fullmatch(name) is not None and Path(f"{name}.py").is_file()
    return told + (f"; or {name}.py:CLASS, which is a file here" if is_here else ", or FILE.py:CLASS")
