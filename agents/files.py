"""Bots in a user's file: ``FILE.py:NAME`` and ``FILE.py:NAME:ARGUMENT``; the rules are in `agents.registry`."""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from agents.options import read_path
from engine.common.options import printable

if TYPE_CHECKING:
    from agents.base import Agent

SPEC = re.compile(r"(?P<file>.*?\.py)(?::(?P<name>[^:]*)(?::(?P<argument>.*))?)?", re.DOTALL)
PROGRAM = re.compile(r"exec[:+]|\w+://")
# Frames of a traceback that do not help the author of a bot: Python's and our own; those of packages help little.
PYTHON = ("<frozen", __file__, str(Path(__file__).with_name("registry.py")), sysconfig.get_path("stdlib"))
PACKAGES = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))


def is_file(spec: str) -> bool:
    """Return whether `spec` names a bot in a file, judging by its text. Programs and connections do not."""
    return SPEC.fullmatch(spec) is not None and not PROGRAM.match(spec)


def make_from_file(spec: str, seed: int) -> Agent:
    """The bot that ``FILE.py:NAME`` or ``FILE.py:NAME:ARGUMENT`` names. Raises ValueError."""
    path, name, argument = split_file_spec(spec)
    factory = getattr(_load(path), name, None)
    if not callable(factory):
        bots = _bots_in(path)
        classes = f"; bots in it: {', '.join(bots)}" if bots else ", and no class with a method act or __call__"
        raise ValueError(f"{path} has no class or function {name!r}{classes}")
    return _call(factory, f"{path}:{name}", argument, seed)


def split_file_spec(spec: str) -> tuple[Path, str, str | None]:
    """The path, the name in the file, and the argument of ``FILE.py:NAME:ARGUMENT``. Nothing is loaded.

    Raises ValueError where there is no such file, or no name is given.
    """
    match = SPEC.fullmatch(spec)
    assert match is not None
    path = read_path(match["file"])
    try:
        found = path.is_file()
    except OSError as error:  # a path that is too long or not allowed
        raise ValueError(f"{path}: {error.strerror}") from error
    if not found:
        raise ValueError(f"{spec}: there is no file {path.absolute()}")
    if not match["name"]:
        example = f"{match['file']}:{next(iter(_bots_in(path)), 'CLASS')}"
        program = f'"exec:python {match["file"]}"'
        raise ValueError(
            f"{match['file']} is a file: name the class in it, as in {example}; a program that speaks mjai is {program}"
        )
    return path, match["name"], match["argument"]


def _call(factory: Callable[..., Any], what: str, argument: str | None, seed: int) -> Agent:
    """Call the class or function `factory` with `argument` and `seed`, if it has parameters of these names."""
    try:
        signature = inspect.signature(factory)
    except ValueError:  # built into Python or an extension
        signature = inspect.Signature()
    given = {key: value for key, value in (("argument", argument), ("seed", seed)) if key in signature.parameters}
    if argument is not None and "argument" not in given:
        raise ValueError(f"{what} takes no argument, but got {argument!r}")
    try:
        signature.bind(**given)
    except TypeError as error:
        raise ValueError(f"{what}: {error}; only parameters named seed and argument are given") from None
    return call_factory(lambda seed: factory(**given | ({"seed": seed} if "seed" in given else {})), seed, what)


def agent_of(bot: Any) -> Agent:
    """The bot of an object: an agent, a tactic (any callable that takes a view), or a class of either.

    Raises ValueError for anything else.
    """
    if isinstance(bot, type):
        return _call(bot, bot.__name__, None, 0)
    return call_factory(partial(_itself, bot), 0, repr(bot))


def _itself(bot: Any, seed: int) -> Any:
    """Return the bot, whatever the seed; a module-level function, so that environments can be pickled."""
    return bot


def call_factory(make: Callable[[int], Any], seed: int, what: str) -> Agent:
    """Return the bot that `make` returns for a seed, which may be a tactic; messages call it `what`.

    Raises ValueError if `make` raises, or returns no bot; see `check_agent`.
    """
    try:
        bot = make(seed)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{what} cannot be made: {where_raised(error)}") from error
    if callable(bot) and not isinstance(bot, type) and not callable(getattr(bot, "act", None)):
        from agents.tactics import TacticAgent

        if not callable(getattr(bot, "observe", make)):
            raise ValueError(f"{what} has an observe that is not a method")
        bot = TacticAgent(make, seed, getattr(bot, "name", type(bot).__name__))
    return check_agent(bot, what)


def check_agent(bot: Any, what: str) -> Agent:
    """`bot`, if it has what an agent needs; one without a name is named by its class. Raises ValueError."""
    if not callable(getattr(bot, "act", None)):
        raise ValueError(
            f"{what} is not a bot: {printable(type(bot).__name__)} has no method act(views), nor __call__(view)"
        )
    if not hasattr(bot, "name"):
        try:
            bot.name = type(bot).__name__
        except AttributeError:
            raise ValueError(f"{what} has no name, and none can be set: define name in its class") from None
    if not isinstance(bot.name, str) or not bot.name or not bot.name.isprintable():  # tables show it
        raise ValueError(f"{what}: its name is {bot.name!r}, not a text that can be printed")
    agent: Agent = bot
    return agent


def where_raised(error: BaseException) -> str:
    """Describe an exception in a user's code in one line: file, line, type and message."""
    text = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    if isinstance(error, SyntaxError):
        place = f"{error.filename}, line {error.lineno}" if error.filename else ""
    else:
        files = [each for each in traceback.extract_tb(error.__traceback__) if not each.filename.startswith(PYTHON)]
        frames = [each for each in files if not each.filename.startswith(PACKAGES)] or files
        place = f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else ""
    return printable(": ".join(filter(None, (place, type(error).__name__, text))))


def _load(path: Path) -> ModuleType:
    """The module of a file, executed once in each process. Raises ValueError."""
    path = path.resolve()
    # A name that no import statement uses, so that nothing is shadowed; without dots, see `engine.compiling`.
    name = f"bot_file_{path.stem.replace('.', '_')}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    found = spec_from_file_location(name, path)
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, Exception | SystemExit):
            raise ValueError(f"{path.name} cannot be loaded: {where_raised(error)}") from error
        raise
    return module


def _bots_in(path: Path) -> list[str]:
    """The names of the classes in a file that define ``act`` or ``__call__``, or inherit it there.

    The file is read, not executed.
    """
    try:
        statements = ast.parse(path.read_bytes(), str(path)).body
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"{path.name} cannot be loaded: {where_raised(error)}") from error
    found: list[str] = []
    for statement in statements:
        if isinstance(statement, ast.ClassDef):
            methods = {each.name for each in statement.body if isinstance(each, ast.FunctionDef)}
            bases = {base.id for base in statement.bases if isinstance(base, ast.Name)}
            if methods & {"act", "__call__"} or bases & set(found):
                found.append(statement.name)
    return found
