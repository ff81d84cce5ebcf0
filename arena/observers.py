"""Observers of the games of a chunk: external bots, which need messages of every event, luck, and the recorder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from agents.external.external_agent import ExternalAgent
from agents.external.traffic import TrafficLog
from arena.luck import measure_luck
from arena.recorder import Recorder, end_game, log_name
from arena.schedule import Bot, Game, game_number
from engine.mjai.messages import Message, start_game
from engine.tables import Tables


class GameObserver(Protocol):
    """Is notified of the rounds played on some tables."""

    def rounds_ended(self, tables: np.ndarray) -> None:
        """A round has just ended on the tables with these indices, int64[m]."""
        ...

    def games_ended(self) -> None:
        """All games are over."""
        ...


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure of an external bot in a game. The rest of the game was played for it."""

    bot: int  # its index in the schedule
    wall: int
    rotation: int
    seat: int
    what: str

    def __str__(self) -> str:
        return f"game {game_number(self.wall, self.rotation)}, seat {self.seat}: {self.what}"


class ExternalBots:
    """The external bots at a table on which one game is played: a `GameObserver`."""

    def __init__(
        self,
        bots: Mapping[int, ExternalAgent],
        game: Game,
        start: Message,
        tables: Tables,
        faults: list[Fault],
        log: Path | None,
    ) -> None:
        """Begin the game with the message ``start``.

        ``bots``: the external bots by their index in the schedule. Their failures are appended to ``faults``, their
        traffic is written to a file in the folder ``log`` unless it is None.
        """
        named = {start["names"][game.seats.index(index)]: bot.bot for index, bot in bots.items()}
        self._log = None if log is None else TrafficLog(log / log_name(game), named)
        self._bots = bots
        self._game = game
        self._tables = tables
        self._faults = faults
        for index, bot in bots.items():
            bot.start_game(game.seats.index(index), start)

    def rounds_ended(self, tables: np.ndarray) -> None:
        """Send the bots what they have not seen of the round."""
        for bot in self._bots.values():
            bot.end_round(self._tables.records[0])

    def games_ended(self) -> None:
        """Send the bots the end of the game, collect their failures and close the log."""
        end = end_game(self._tables.records[0], self._tables.rules)
        for index, bot in self._bots.items():
            bot.end_game(end)
            if bot.fault:
                seat = self._game.seats.index(index)
                self._faults.append(Fault(index, self._game.wall, self._game.rotation, seat, bot.fault))
        if self._log is not None:
            self._log.close()


class LuckObserver:
    """A `GameObserver` that adds up what the walls give (`arena.luck`).

    ``factors``: the sums, float64[tables, seats, N_FACTORS].
    """

    def __init__(self, tables: Tables, factors: np.ndarray) -> None:
        self._tables = tables
        self._factors = factors

    def rounds_ended(self, tables: np.ndarray) -> None:
        """Add what the walls of these rounds gave."""
        measure_luck(self._tables.raw, tables, self._factors)

    def games_ended(self) -> None:
        """Do nothing: every round is counted."""


def make_observers(
    bots: Sequence[Bot],
    games: Sequence[Game],
    tables: Tables,
    folder: Path | None,
    faults: list[Fault],
    log: Path | None,
) -> list[GameObserver]:
    """The observers of ``games`` on ``tables``: external bots and, unless ``folder`` is None, the recorder.

    Failures of external bots are appended to ``faults``, their traffic is logged in ``log`` unless that is None.
    """
    starts = [start_game([bots[index].label for index in game.seats], tables.rules) for game in games]
    observers: list[GameObserver] = []
    external = {index: bot.agent for index, bot in enumerate(bots) if isinstance(bot.agent, ExternalAgent)}
    if external:
        observers.append(ExternalBots(external, games[0], starts[0], tables, faults, log))
    if folder is not None:
        observers.append(Recorder(folder, games, starts, tables, external))
    return observers
