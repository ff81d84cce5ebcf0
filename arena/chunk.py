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

from arena.saving import Recorder
from arena.schedule import ROTATIONS, Bot, Settings, seating
from arena.statistics import N_COUNTS, SCORE, count_rounds
from engine.table import GAME_OVER, N_SEATS
from engine.tables import PolicyFault, Tables


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
    try:
        for ended in tables.play([bot.agent.act for bot in bots], players):
            count_rounds(tables.raw, ended, counts)
            if recorder is not None:
                recorder.add_rounds(ended)
            report(int(np.count_nonzero(tables.records["phase"] == GAME_OVER)))
    except PolicyFault as fault:
        raise GameError(describe(fault, bots, walls, seeds)) from fault
    counts[..., SCORE] = tables.records["seat"]["score"]
    if recorder is not None:
        recorder.write_games()
    return Chunk(walls, counts.reshape(len(walls), ROTATIONS, N_SEATS, N_COUNTS), tables.decisions)


def describe(fault: PolicyFault, bots: Sequence[Bot], walls: Sequence[int], seeds: np.ndarray) -> str:
    """Bot, game and seat of a failure, and what it was."""
    wall, rotation = walls[fault.table // ROTATIONS], fault.table % ROTATIONS
    game = f"game {wall * ROTATIONS + rotation} (wall seed {seeds[fault.table]:016x}, rotation {rotation})"
    return f"bot {bots[fault.policy].label}, {game}, seat {fault.seat}: {fault.what}"


def warm_up(settings: Settings, bots: Sequence[Bot]) -> None:
    """Play the first game until everything is compiled that playing needs: up to the second round that ends.

    A bot that fails does so again when that game is played in earnest, and is reported then.
    """
    tables = Tables(np.array(settings.wall_seeds([0]), dtype=np.uint64), settings.make_rules())
    counts = np.zeros((1, N_SEATS, N_COUNTS), dtype=np.int32)
    with suppress(PolicyFault):
        for ended in islice(tables.play([bot.agent.act for bot in bots], seating([0])[0, :1]), 2):
            count_rounds(tables.raw, ended, counts)
