"""How strong a network is: hanchan against a fixed bot on shared walls, and the curve of a run."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import NamedTuple

import numpy as np

from agents.base import Agent
from agents.registry import make
from agents.rl.rollouts import StoppedError
from agents.rl.situation import final_placements
from engine.common.student import NORMAL
from engine.seeds import derive_seed
from engine.table import N_SEATS
from engine.tables import PolicyFault, Tables


class Strength(NamedTuple):
    """A row of the curve: the network at one seat against two of `opponent`."""

    minutes: float  # of training so far
    iteration: int
    choices: int  # learned from so far
    opponent: str
    hanchan: int
    placement: float  # mean
    interval: float  # half of the 95 % confidence interval


def measure(bot: Agent, opponent: str, walls: int, threads: int = 1) -> tuple[float, float]:
    """Mean placement of `bot` as played, and half of its 95 % confidence interval (normal, walls are independent).

    The arena removes the luck of the walls by control variates and has narrower intervals.

    It plays `walls` walls, the same in every call, three times each, once at every seat, against two of `opponent`.
    `bot` must be one that several threads may use at once.
    """
    seeds = [derive_seed(0, "rl measure", wall) for wall in range(walls)]
    parts = [part for part in (seeds[i::threads] for i in range(threads)) if part]
    stop = Event()
    with ThreadPoolExecutor(threads) as pool:
        try:
            found = list(pool.map(lambda part: placements_of(bot, make(opponent, 1), part, stop), parts))
        finally:
            stop.set()
    placements = np.concatenate(found)
    interval = NORMAL * placements.std(ddof=1) / np.sqrt(walls) if walls > 1 else float("nan")
    return float(placements.mean()), float(interval)


def placements_of(bot: Agent, opponent: Agent, seeds: Sequence[int], stop: Event) -> np.ndarray:
    """Mean placement of `bot` on each wall, over its three seats: float64[walls].

    Raises ValueError soon after `stop` is set.
    """
    n = len(seeds)

    def act(views: np.ndarray) -> np.ndarray:
        if stop.is_set():
            raise StoppedError
        return bot.act(views)

    players = np.repeat(1 - np.eye(N_SEATS, dtype=np.int8), n, axis=0)
    tables = Tables(np.tile(np.array(seeds, dtype=np.uint64), N_SEATS))
    try:
        for _ in tables.play([act, opponent.act], players):
            pass
    except PolicyFault as fault:
        name = (bot, opponent)[fault.policy].name
        raise ValueError(f"measured against {opponent.name}: {name}, seat {fault.seat}: {fault.what}") from fault
    return final_placements(tables.records)[players == 0].reshape(N_SEATS, n).mean(axis=0)


def last_measured(path: Path) -> tuple[float, int] | None:
    """Minutes and iteration of the last row of the curve, None if there is none. Raises ValueError, OSError."""
    if not path.exists():
        return None
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    try:
        return (float(rows[-1]["minutes"]), int(rows[-1]["iteration"])) if rows else None
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
            rounded = {name: f"{getattr(row, name):.5g}" for name in ("placement", "interval")}
            writer.writerow({**row._asdict(), **rounded}.values())  # minutes are exact, to say which are measured
