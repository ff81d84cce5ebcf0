"""The results of a run: collected chunk by chunk, and written as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agents.external.stderr import without_file
from arena.bot_games import N_COUNTS, SCORE, BotGames, by_bot, compare_all, fair, of_bots, placements_of
from arena.chunk import ChunkResult
from arena.columns import as_json, comparison_as_json
from arena.observers import Fault
from arena.schedule import RunSettings
from arena.tallies.counts import N_TALLIES
from arena.tallies.observer import pack, unpack
from engine.common.files import write_json
from engine.common.program import installed_version
from engine.contests.seating import ROTATIONS, seating
from engine.table import N_SEATS


def run_id(document: dict[str, Any]) -> str:
    """A hash that only documents of the same run share: its settings, the sources and the bots' files."""
    identity = {key: document[key] for key in ("settings", "sources", "bot_files")}
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast a process played the games of its finished chunks."""

    games: int
    seconds: float
    games_per_second: float
    decisions_per_second: float
    jobs: int
    decision_times: list[dict[str, Any]] = field(default_factory=list)  # see `arena.tallies.times.decision_times`


class Results:
    """Counts of all finished games. They do not depend on the order in which chunks are added."""

    def __init__(self, settings: RunSettings, bots: list[str]) -> None:
        """``bots``: labels, in the order of the schedule."""
        self.settings = settings
        self.bots = bots
        self._counts = np.zeros((settings.n_walls, ROTATIONS, N_SEATS, N_COUNTS), dtype=np.int32)
        self._luck = np.zeros((settings.n_walls, ROTATIONS, N_SEATS, 2)) if settings.control_variates else None
        self._finished = np.zeros(settings.n_walls, dtype=np.bool_)
        self._faults: list[Fault] = []
        self._tallies = np.zeros((N_SEATS, N_TALLIES), dtype=np.int64)
        # If the run may stop at any wall: the walls of each chunk, and their tallies, packed.
        self._of_chunks: list[tuple[list[int], str]] = []

    def add(self, chunk: ChunkResult) -> None:
        """Add the games of a finished chunk."""
        self._counts[chunk.walls] = chunk.counts
        self._finished[chunk.walls] = True
        self._faults += chunk.faults
        if self._luck is not None and chunk.luck is not None:
            self._luck[chunk.walls] = chunk.luck
        if chunk.tallies is not None:
            self._tallies += chunk.tallies.sum(axis=0)
            if self.settings.stop is not None:
                self._of_chunks.append((chunk.walls, pack(chunk.tallies)))

    def drop_after(self, n_walls: int) -> None:
        """Forget the walls after the first ``n_walls``, where the run stops."""
        self._finished[n_walls:] = False
        self._faults = [fault for fault in self._faults if fault.wall < n_walls]
        self._tallies = np.zeros_like(self._tallies)
        for walls, text in self._of_chunks:
            self._tallies += unpack(text)[self._finished[walls]].sum(axis=0)

    @property
    def n_first(self) -> int:
        """The number of finished walls before the first that is missing."""
        return int(np.argmin(self._finished)) if not self._finished.all() else len(self._finished)

    @property
    def finished(self) -> list[int]:
        """Indices of the walls that are finished, ascending."""
        return np.flatnonzero(self._finished).tolist()

    @property
    def missing(self) -> list[int]:
        """Indices of the other walls, ascending."""
        return np.flatnonzero(~self._finished).tolist()

    @property
    def faults(self) -> list[tuple[str, list[Fault]]]:
        """The external bots that failed, each with its faults, at most one a game, in the order of the schedule."""
        ordered = sorted(self._faults, key=lambda fault: (fault.wall, fault.rotation))
        faults = [[fault for fault in ordered if fault.bot == index] for index in range(len(self.bots))]
        return [(label, of_bot) for label, of_bot in zip(self.bots, faults) if of_bot]

    @property
    def always_failed(self) -> list[str]:
        """The external bots that failed in every finished game."""
        n_games = ROTATIONS * len(self.finished)
        return [label for label, faults in self.faults if len(faults) == n_games]

    def by_bot(self) -> list[BotGames]:
        """The finished games of each bot; at least one wall must be finished."""
        luck = None if self._luck is None else self._luck[self._finished]
        rules = self.settings.make_rules()
        return by_bot(self.bots, self.finished, self._counts[self._finished], rules, luck, self._tallies.copy())

    def first_placements(self) -> np.ndarray:
        """The mean placements on the first walls, up to the first that is missing: float64[bots, walls]."""
        n = self.n_first
        played = of_bots(range(n), placements_of(self._counts[:n, ..., SCORE]))
        luck = None if self._luck is None else of_bots(range(n), self._luck[:n])
        return np.array(
            [fair(played[:, :, bot], None if luck is None else luck[:, :, bot], 0) for bot in range(N_SEATS)]
        )

    def games(self) -> Iterator[dict[str, Any]]:
        """The result of every finished game, in the order of the schedule."""
        walls = self.finished
        scores = self._counts[self._finished][..., SCORE]
        placements, seats = placements_of(scores), seating(walls)
        for row, (wall, seed) in enumerate(zip(walls, self.settings.wall_seeds(walls))):
            for rotation in range(ROTATIONS):
                yield {
                    "wall": wall,
                    "wall_seed": f"{seed:016x}",
                    "rotation": rotation,
                    "seats": [self.bots[index] for index in seats[row, rotation].tolist()],
                    "scores": scores[row, rotation].tolist(),
                    "placements": placements[row, rotation].tolist(),
                }

    def document(self, identity: dict[str, Any], speed: Speed) -> dict[str, Any]:
        """Return all results except those of single games; at least one wall must be finished.

        ``identity``: of the run, see `arena.checkpoint.run_identity`.
        """
        bots = self.by_bot()
        return {
            "version": installed_version(),
            "settings": asdict(self.settings),
            "sources": identity["sources"],
            "bot_files": identity["bot_files"],
            "bots": [as_json(bot) for bot in bots],
            "comparisons": [comparison_as_json(pair) for pair in compare_all(bots)],
            "stop": self._stop(),
            "faults": [
                asdict(fault) | {"bot": bot, "what": without_file(fault.what)}
                for bot, faults in self.faults
                for fault in faults
            ],
            "speed": asdict(speed),
        }

    def _stop(self) -> dict[str, Any] | None:
        """Return the verdict of the stopping rule, or None if there is none."""
        if (rule := self.settings.stop) is None:
            return None
        placements = self.first_placements()
        return {
            "outcome": rule.outcome(placements),
            "status": rule.status(placements),
            "games": ROTATIONS * self.n_first,
        }

    def write_json(self, path: Path, document: dict[str, Any]) -> None:
        """Write the ``document`` of these results, and all games, to ``path``. Raises OSError.

        Between runs of the same settings only ``speed`` differs.
        """
        without_speed = {key: value for key, value in document.items() if key != "speed"}
        write_json(path, without_speed | {"games": self.games(), "speed": document["speed"]})
