"""What a bot imports and opens while it is made and plays a round, in a process that has done nothing else.

For that reason this module imports the standard library alone: what is imported before `trace` is called is not seen.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Trace:
    """What a bot has imported and opened: ``modules`` by name, with their files; absolute paths of files."""

    modules: dict[str, Path] = field(default_factory=dict)
    opened: set[Path] = field(default_factory=set)
    written: set[Path] = field(default_factory=set)  # those of ``opened`` that were opened for writing, too


def trace(spec: str) -> Trace:
    """Make the bot, let it reply to messages, and play a round. Raises ValueError if it fails."""
    found = Trace()

    def record(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | os.PathLike):
            path, mode, flags = Path(arguments[0]).resolve(), arguments[1] or "", arguments[2]
            found.opened.add(path)
            if set(mode) & set("wax+") or flags & (os.O_WRONLY | os.O_RDWR):
                found.written.add(path)

    sys.addaudithook(record)
    play(spec)
    files = {name: getattr(module, "__file__", None) for name, module in [*sys.modules.items()]}
    found.modules.update({name: Path(file).resolve() for name, file in files.items() if file})
    return found


def play(spec: str) -> None:
    """Play a round on a table, and a decision by messages. Raises ValueError if the bot fails."""
    import numpy as np

    from agents.external.adapters import AgentBot
    from agents.external.fallback import FallbackAgent
    from agents.external.mjai_bot import OPENING, BotError
    from agents.registry import make
    from engine.tables import Tables

    bot = make(spec)
    try:
        AgentBot(bot).react(list(OPENING))
        Tables([0]).play_round([bot.act, FallbackAgent().act], np.array([[0, 1, 1]]))
    except (BotError, ValueError) as error:
        raise ValueError(f"{spec}: {error}") from None
