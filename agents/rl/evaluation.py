"""How strong a network is: hanchan against a fixed bot on shared walls, and the curve of a run."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from io import TextIOWrapper
from math import isnan
from pathlib import Path
from threading import Event
from typing import NamedTuple

import numpy as np

from agents.base import Agent
from agents.registry import make
from agents.rl.rollouts import StoppedError
from agents.rl.situation import final_placements
from engine.common.files import write_atomically
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
    interval: float  # half of the 95 % confidence interval; NaN for one wall

    def text(self) -> str:
        """Placement and interval, "–" for one that is not known."""
        return f"{self.placement:.3f} ± " + ("–" if isnan(self.interval) else f"{self.interval:.3f}")


COLUMNS = (float, int, int, str, int, float, float)  # the types of a row


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


def read_curve(path: Path) -> list[Strength]:
    """The rows of a curve; none without the file. Raises ValueError, OSError."""
    if not path.exists():
        return []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            header, *lines = [line for line in csv.reader(file) if line] or [list(Strength._fields)]
        if header != list(Strength._fields):
            raise ValueError
        return [Strength(*(read(text) for read, text in zip(COLUMNS, line, strict=True))) for line in lines]
    except (ValueError, csv.Error):
        raise ValueError(f"{path}: damaged; delete it, or its last line, to go on") from None


def write_curve(path: Path, rows: list[Strength]) -> None:
    """Write a curve, a CSV file. Raises OSError."""
    with write_atomically(path) as file, TextIOWrapper(file, encoding="utf-8", newline="") as text:
        writer = csv.writer(text)
        writer.writerow(Strength._fields)
        for row in rows:
            rounded = {name: f"{getattr(row, name):.5g}" for name in ("placement", "interval")}
            writer.writerow({**row._asdict(), **rounded}.values())  # minutes are exact, to say which are measured
