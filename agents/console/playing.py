"""A game in the terminal: the bots, the screen, and what is printed and written when it is over."""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path

from agents.base import Agent
from agents.client.connection import FatalConnectionError
from agents.console.offline import OfflineTable
from agents.console.online import OnlineTable
from agents.console.screen import Screen
from agents.console.terminal import Left, Terminal
from agents.external.adapters import AgentBot
from agents.external.fallback import FallbackAgent
from agents.external.mjai_bot import BotError, one_line
from agents.registry import make
from engine.common.options import Parser, describe_error
from engine.common.program import FAILED, INTERRUPTED, OK
from engine.game import Game
from engine.records.files import write_record
from engine.records.model import GameRecord
from engine.rules import preset


def make_bots(parser: Parser, options: argparse.Namespace) -> list[Agent]:
    """The bots to play against, each of which has taken a first decision; [] at a server."""
    if options.seed is None:
        options.seed = secrets.randbits(32)
    try:
        agents = [make(spec, options.seed) for spec in options.bots or ()]
        for agent in (FallbackAgent(), *agents):  # the first compiles the rules where that is still to be done
            AgentBot(agent).prepare()
    except ValueError as error:
        parser.error(str(error))
    except BotError as error:
        parser.error(f"{agent.name} {error}")
    return agents


def play(options: argparse.Namespace, agents: list[Agent]) -> int:
    """Play on the terminal, then print the result; returns the exit code."""
    code, told = OK, ""
    online = options.url is not None
    at_quit = "A bot of the server plays on for you." if online else "The game ends here."
    terminal = Terminal()
    with terminal.taken():
        screen = Screen(terminal, clocked=online, at_quit=at_quit)
        table: OnlineTable | OfflineTable
        if online:
            table = OnlineTable(screen, options.url, options.name, options.token)
        else:
            rules = preset(options.rules, options.length)
            table = OfflineTable(screen, agents, rules, options.seed, options.pause)
        try:
            table.play()
        except Left:
            pass
        except KeyboardInterrupt:
            code = INTERRUPTED
        except FatalConnectionError as error:
            code, told = FAILED, str(error)
    for line in screen.results:
        print(one_line(line))
    if told:
        print(f"agents.console: {one_line(told)}", file=sys.stderr)
    if isinstance(table, OfflineTable):
        print(f"seed {options.seed}")
        if options.save is not None and table.game.over:
            return save(table.game, options.save)
    return code


def save(game: Game, path: Path) -> int:
    """Write the record of a game; returns the exit code."""
    try:
        write_record(GameRecord(game.messages, game.rules, str(path)), path)
    except (ValueError, OSError) as error:
        print(f"agents.console: {describe_error(error)}", file=sys.stderr)
        return FAILED
    print(f"wrote {path}")
    return OK
