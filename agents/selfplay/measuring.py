"""How strong the network is: hanchan against fixed bots on shared walls, and the curve of a run."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.registry import make
from agents.selfplay.bot import SelfPlay
from agents.selfplay.network import Weights
from engine.rules import TENHOU
from engine.seeds import derived_seed
from engine.table import N_SEATS
from engine.tables import Tables

OPPONENTS = ("random", "tsumogiri", "efficiency", "rule")


class Strength(NamedTuple):
    """A row of the curve: the network at one seat against two of `opponent`."""

    minutes: float  # of training so far
    generation: int
    games: int  # of self-play so far
    steps: int
    opponent: str
    hanchan: int
    placement: float  # mean
    interval: float  # half of the 95 % confidence interval


def measure(weights: Weights, opponent: str, walls: int) -> tuple[float, float]:
    """Mean placement of the network's best actions and half of its 95 % confidence interval.

    It plays `walls` walls, the same in every call, three times each, once at every seat, against two of `opponent`.
    """
    seeds = [derived_seed(0, "selfplay measure", wall) for wall in range(walls)]
    bots = [SelfPlay(weights), make(opponent, 1)]
    players = np.repeat(1 - np.eye(N_SEATS, dtype=np.int8), walls, axis=0)
    tables = Tables(np.tile(np.array(seeds, dtype=np.uint64), N_SEATS))
    for _ in tables.play([bot.act for bot in bots], players):
        pass
    ranks = np.array([TENHOU.ranks(scores) for scores in tables.records["seat"]["score"].tolist()])
    placements = ranks[players == 0].reshape(N_SEATS, walls).mean(axis=0)  # of each wall
    interval = 1.96 * placements.std(ddof=1) / np.sqrt(walls) if walls > 1 else float("nan")
    return float(placements.mean()), float(interval)


def last_measured(path: Path) -> tuple[float, int] | None:
    """Minutes and generation of the last row of the curve, None if there is none. Raises ValueError, OSError."""
    if not path.exists():
        return None
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    try:
        return (float(rows[-1]["minutes"]), int(rows[-1]["generation"])) if rows else None
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{path}: damaged; delete it, or its last line, to go on") from None


def append(path: Path, rows: list[Strength]) -> None:
    """Add rows to the curve, a CSV file. Raises OSError."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(Strength._fields)
        for row in rows:
            writer.writerow([f"{value:.4g}" if isinstance(value, float) else value for value in row])
