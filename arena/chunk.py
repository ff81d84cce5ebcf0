"""Playing one chunk of the schedule: some walls in all rotations, on tables in lock step.

Table k of a chunk plays rotation ``k % ROTATIONS`` of its wall ``k // ROTATIONS``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from arena.bot import Bot, BotError
from arena.saving import Recorder
from arena.schedule import ROTATIONS, Settings, seating
from arena.statistics import N_COUNTS, SCORE, count_rounds
from engine.table import GAME_OVER, N_SEATS
from engine.tables import Tables


class GameError(Exception):
    """A bot failed: the message names it, the game and the seat."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Finished games of `walls`: `counts` int32[walls, rotations, seats, N_COUNTS], and how many answers they took."""

    walls: list[int]
    counts: np.ndarray
    decisions: int


def play_chunk(
    settings: Settings, bots: Sequence[Bot], walls: list[int], folder: Path | None, report: Callable[[int], None]
) -> Chunk:
    """Play those walls in all rotations, and write each game into `folder` unless it is None.

    `report` is told how many games are over whenever a round has ended. Raises GameError, or OSError from writing.
    """
    players = seating(walls).reshape(-1, N_SEATS)
    seeds = np.repeat(np.array(settings.wall_seeds(walls), dtype=np.uint64), ROTATIONS)
    tables = Tables(seeds, settings.make_rules())
    counts = np.zeros((len(players), N_SEATS, N_COUNTS), dtype=np.int32)
    recorder = None if folder is None else Recorder(folder, tables, [[bots[i].label for i in row] for row in players])
    decided_before = sum(bot.decisions for bot in bots)
    try:
        for ended in tables.play(bots, players):
            count_rounds(tables.raw, ended, counts)
            if recorder is not None:
                recorder.add_rounds(ended)
            report(int(np.count_nonzero(tables.records["phase"] == GAME_OVER)))
    except BotError as error:
        raise GameError(f"bot {error.label}, {where(error, bots, tables, walls, players)}: {error}") from error
    counts[..., SCORE] = tables.records["seat"]["score"]
    if recorder is not None:
        recorder.write_games()
    decisions = sum(bot.decisions for bot in bots) - decided_before
    return Chunk(walls, counts.reshape(len(walls), ROTATIONS, N_SEATS, N_COUNTS), decisions)


def where(error: BotError, bots: Sequence[Bot], tables: Tables, walls: Sequence[int], players: np.ndarray) -> str:
    """Game and seat of a failure: `Tables` asks a bot about all its waiting seats, table by table."""
    player = [bot.label for bot in bots].index(error.label)
    waiting = (tables.records["legal"] != 0).any(axis=2) & (tables.records["answer"] < 0)
    table, seat = np.argwhere(waiting & (players == player))[error.index].tolist()
    wall, rotation = walls[table // ROTATIONS], table % ROTATIONS
    seed = int(tables.records["seed"][table])
    return f"game {wall * ROTATIONS + rotation} (wall seed {seed:016x}, rotation {rotation}), seat {seat}"


def warm_up(settings: Settings, bots: Sequence[Bot]) -> None:
    """Play the first game until everything is compiled that playing needs: up to the second round that ends.

    A bot that fails does so again when that game is played in earnest, and is reported then.
    """
    tables = Tables(np.array(settings.wall_seeds([0]), dtype=np.uint64), settings.make_rules())
    counts = np.zeros((1, N_SEATS, N_COUNTS), dtype=np.int32)
    with suppress(BotError):
        for ended in islice(tables.play(bots, seating([0])[0, :1]), 2):
            count_rounds(tables.raw, ended, counts)
