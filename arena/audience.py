"""Who hears of what is played on some tables, besides those who count: foreign bots, and the writer of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from agents.external.adapters import ExternalAgent
from arena.saving import Recorder, end_game
from arena.schedule import Bot, Game, game_number
from engine.mjai.messages import Message, start_game
from engine.tables import Tables


class Audience(Protocol):
    """Who hears of the rounds played on some tables."""

    def add_rounds(self, ended: np.ndarray) -> None:
        """A round has just ended on those tables."""
        ...

    def finish(self) -> None:
        """All games are over."""
        ...


@dataclass(frozen=True, slots=True)
class Fault:
    """What a foreign bot did wrong in a game, the rest of which was played for it."""

    bot: int  # its place in the schedule
    wall: int
    rotation: int
    seat: int
    what: str

    def __str__(self) -> str:
        return f"game {game_number(self.wall, self.rotation)}, seat {self.seat}: {self.what}"


class ExternalSeats:
    """The foreign bots at a table on which one game is played: an `Audience`."""

    def __init__(
        self, bots: Mapping[int, ExternalAgent], game: Game, start: Message, tables: Tables, faults: list[Fault]
    ) -> None:
        """Begin the game with its ``start_game``. `bots` are by place in the schedule; their `faults` are added."""
        self._bots = bots
        self._game = game
        self._tables = tables
        self._faults = faults
        for place, bot in bots.items():
            bot.start_game(game.seats.index(place), start)

    def add_rounds(self, ended: np.ndarray) -> None:
        """A round has just ended."""
        for bot in self._bots.values():
            bot.end_round(self._tables.records[0])

    def finish(self) -> None:
        """The game is over."""
        end = end_game(self._tables.records[0], self._tables.rules)
        for place, bot in self._bots.items():
            bot.end_game(end)
            if bot.fault:
                seat = self._game.seats.index(place)
                self._faults.append(Fault(place, self._game.wall, self._game.rotation, seat, bot.fault))


def audience_of(
    bots: Sequence[Bot], games: Sequence[Game], tables: Tables, folder: Path | None, faults: list[Fault]
) -> list[Audience]:
    """The foreign bots, whose faults will be added to `faults`, and who writes the games down."""
    starts = [start_game([bots[place].label for place in game.seats], tables.rules) for game in games]
    audience: list[Audience] = []
    if foreign := {place: bot.agent for place, bot in enumerate(bots) if isinstance(bot.agent, ExternalAgent)}:
        audience.append(ExternalSeats(foreign, games[0], starts[0], tables, faults))
    if folder is not None:
        audience.append(Recorder(folder, games, starts, tables))
    return audience
