"""The results of a run: gathered chunk by chunk, and written as JSON."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from arena.audience import Fault
from arena.chunk import Chunk
from arena.schedule import ROTATIONS, Settings, seating
from arena.statistics import N_COUNTS, SCORE, BotStatistics, placements_of, statistics
from engine.table import N_SEATS


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast a sitting played the games of its finished chunks."""

    games: int
    seconds: float
    games_per_second: float
    decisions_per_second: float
    jobs: int


class Results:
    """Counts of every game finished so far. The order in which chunks come changes nothing that is told of them."""

    def __init__(self, settings: Settings, bots: list[str]) -> None:
        self.settings = settings
        self.bots = bots
        self._counts = np.zeros((settings.n_walls, ROTATIONS, N_SEATS, N_COUNTS), dtype=np.int32)
        self._finished = np.zeros(settings.n_walls, dtype=np.bool_)
        self._faults: list[Fault] = []

    def add(self, chunk: Chunk) -> None:
        """Take in finished games."""
        self._counts[chunk.walls] = chunk.counts
        self._finished[chunk.walls] = True
        self._faults += chunk.faults

    @property
    def finished(self) -> list[int]:
        """Walls played, ascending."""
        return np.flatnonzero(self._finished).tolist()

    @property
    def missing(self) -> list[int]:
        """Walls still to be played, ascending."""
        return np.flatnonzero(~self._finished).tolist()

    @property
    def faults(self) -> list[tuple[str, list[Fault]]]:
        """The foreign bots that have failed, each with its faults, at most one a game, in the order of the schedule."""
        ordered = sorted(self._faults, key=lambda fault: (fault.wall, fault.rotation))
        by_bot = [(label, [fault for fault in ordered if fault.bot == place]) for place, label in enumerate(self.bots)]
        return [(label, faults) for label, faults in by_bot if faults]

    def statistics(self) -> list[BotStatistics]:
        """Statistics of each bot over the games so far, at least one wall."""
        return statistics(self.bots, self.finished, self._counts[self._finished], self.settings.make_rules())

    def games(self) -> Iterator[dict[str, Any]]:
        """Every finished game, in the order of the schedule."""
        walls, rules = self.finished, self.settings.make_rules()
        scores = self._counts[self._finished][..., SCORE]
        placements, seats = placements_of(scores, rules), seating(walls)
        for row, (wall, seed) in enumerate(zip(walls, self.settings.wall_seeds(walls))):
            for rotation in range(ROTATIONS):
                yield {
                    "wall": wall,
                    "wall_seed": f"{seed:016x}",
                    "rotation": rotation,
                    "seats": [self.bots[place] for place in seats[row, rotation].tolist()],
                    "scores": scores[row, rotation].tolist(),
                    "placements": placements[row, rotation].tolist(),
                }

    def write_json(self, path: Path, speed: Speed) -> None:
        """Write everything to `path`. Only the part under ``speed`` differs from run to run. Raises OSError."""
        unfinished = path.with_name(path.name + ".unfinished")
        with unfinished.open("w", encoding="utf-8") as file:
            file.writelines(self._json_lines(speed))
        unfinished.replace(path)

    def _json_lines(self, speed: Speed) -> Iterator[str]:
        """The document, a line for each bot and each game."""
        yield "{\n"
        yield f'"version": {json.dumps(version())},\n'
        yield f'"settings": {json.dumps(asdict(self.settings))},\n'
        yield from _json_list("bots", (asdict(one) for one in self.statistics()))
        yield from _json_list("games", self.games())
        yield from _json_list("faults", (asdict(fault) | {"bot": bot} for bot, found in self.faults for fault in found))
        yield f'"speed": {json.dumps(asdict(speed))}\n'
        yield "}\n"


def _json_list(key: str, entries: Iterator[dict[str, Any]]) -> Iterator[str]:
    yield f'"{key}": [\n'
    separator = ""
    for entry in entries:
        yield separator + json.dumps(entry, ensure_ascii=False)
        separator = ",\n"
    yield "\n],\n"


def version() -> str | None:
    """Version of the installed package, None where it runs from its sources."""
    try:
        return importlib.metadata.version("nukidora")
    except importlib.metadata.PackageNotFoundError:
        return None
