"""The last lines of a command of ``python -m agents.bert``: what it wrote, and commands to type next."""

from __future__ import annotations

import shlex
from itertools import chain, count
from pathlib import Path

from agents.bert.families import family_of
from engine.common.program import program_name

OPPONENTS = ("rule", "random")  # in the suggested arena command: a first network plays better than one of them
ARENA_GAMES = 300


def print_outcome(outcome: str, *commands: str) -> None:
    """Print what was written and where, then each command on a separate line, to be copied."""
    print("\n  ".join([f"{outcome}; next:", *commands]))


def command(program: str, *words: object) -> str:
    """A command line to type, quoted for the shell: ``command("agents.bert export", folder)``."""
    return f"{program_name(program)} {shlex.join(map(str, words))}"


def arena_command(network: Path) -> str:
    """The command that plays a network."""
    bots = ",".join(f'"{bot}"' if "," in bot else bot for bot in (f"{family_of(network).name}:{network}", *OPPONENTS))
    return command("arena", "--games", ARENA_GAMES, "--bots", bots)


def new_run() -> Path:
    """The folder to suggest for a run: ``runs/first``, or the first of ``runs/2``, ``runs/3`` … that does not exist."""
    folders = chain(["first"], map(str, count(2)))
    return next(folder for folder in (Path("runs") / name for name in folders) if not folder.exists())
