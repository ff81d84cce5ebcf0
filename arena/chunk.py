"""Playing one chunk of the schedule: some walls in all rotations.

The games are played on tables in lock step; with a foreign bot, which plays one at a time, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from agents.external.adapters import ExternalAgent
from agents.external.fallback import FallbackAgent
from arena.audience import Audience, Fault, audience_of
from arena.schedule import ROTATIONS, Bot, Game, Settings, games_of
from arena.statistics import N_COUNTS, SCORE, count_rounds
from engine.table import GAME_OVER, N_SEATS
from engine.tables import Policy, PolicyFault, Tables


class GameError(Exception):
    """A bot failed: the message names it, the game and the seat."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Finished games of `walls`: `counts` int32[walls, rotations, seats, N_COUNTS], and how many answers they took."""

    walls: list[int]
    counts: np.ndarray
    decisions: int
    faults: list[Fault] = field(default_factory=list)


def play_chunk(
    settings: Settings, bots: Sequence[Bot], walls: list[int], folder: Path | None, report: Callable[[int], None]
) -> Chunk:
    """Play those walls in all rotations, and write each game into `folder` unless it is None.

    `report` is told how many games are over whenever a round has ended. Raises GameError, or OSError from writing.
    """
    games, rules = games_of(settings, walls), settings.make_rules()
    counts = np.zeros((len(games), N_SEATS, N_COUNTS), dtype=np.int32)
    decisions = 0
    faults: list[Fault] = []
    step = 1 if settings.foreign else len(games)
    for first in range(0, len(games), step):
        part = slice(first, first + step)
        tables = Tables(np.array([game.seed for game in games[part]], dtype=np.uint64), rules)
        audience = audience_of(bots, games[part], tables, folder, faults)
        for over in play(tables, bots, games[part], audience, counts[part]):
            report(first + over)
        decisions += tables.decisions
    return Chunk(walls, counts.reshape(len(walls), ROTATIONS, N_SEATS, N_COUNTS), decisions, faults)


def play(
    tables: Tables, bots: Sequence[Bot], games: Sequence[Game], audience: Sequence[Audience], counts: np.ndarray
) -> Iterator[int]:
    """Play `games` on `tables` to the end, adding to `counts` int32[games, seats, N_COUNTS].

    Yields how many of them are over whenever a round has ended. Raises what `play_chunk` raises.
    """
    players = np.array([game.seats for game in games], dtype=np.int8)
    try:
        for ended in tables.play([bot.agent.act for bot in bots], players):
            count_rounds(tables.raw, ended, counts)
            for each in audience:
                each.add_rounds(ended)
            yield int(np.count_nonzero(tables.records["phase"] == GAME_OVER))
    except PolicyFault as fault:
        raise GameError(describe(fault, bots, games)) from fault
    counts[..., SCORE] = tables.records["seat"]["score"]
    for each in audience:
        each.finish()


def describe(fault: PolicyFault, bots: Sequence[Bot], games: Sequence[Game]) -> str:
    """Bot, game and seat of a failure, and what it was."""
    return f"bot {bots[fault.policy].label}, {games[fault.table].name}, seat {fault.seat}: {fault.what}"


def warm_up(settings: Settings, bots: Sequence[Bot]) -> None:
    """Play the first game until everything is compiled that playing needs: up to the second round that ends.

    A bot that fails does so again when that game is played in earnest, and is reported then.
    """
    game = games_of(settings, [0])[0]
    tables = Tables([game.seed], settings.make_rules())
    counts = np.zeros((1, N_SEATS, N_COUNTS), dtype=np.int32)
    agents = [FallbackAgent() if isinstance(bot.agent, ExternalAgent) else bot.agent for bot in bots]
    policies: list[Policy] = [agent.act for agent in agents]
    with suppress(PolicyFault):
        for ended in islice(tables.play(policies, np.array([game.seats], dtype=np.int8)), 2):
            count_rounds(tables.raw, ended, counts)
