"""Writing the games of a chunk as mjai records, one gzipped file a game."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from arena.schedule import ROTATIONS
from engine import mjai
from engine.records import model
from engine.records.mjai import write
from engine.tables import Tables


class Recorder:
    """Records of tables in play: added round by round, as text, because a table forgets its rounds."""

    def __init__(self, folder: Path, tables: Tables, names: Sequence[list[str]]) -> None:
        """`names` tells who sits on each seat of each table, ROTATIONS tables to a wall seed."""
        self.folder = folder
        self.tables = tables
        self.seeds: list[int] = tables.records["seed"].tolist()
        self.texts: list[list[str]] = [[] for _ in names]
        for table, (seats, seed) in enumerate(zip(names, self.seeds, strict=True)):
            self._add(table, [model.start_game(seats, tables.rules) | {"wall_seed": seed}])

    def add_rounds(self, ended: np.ndarray) -> None:
        """Add the rounds that have just ended on those tables."""
        for table in ended.tolist():
            self._add(table, mjai.messages(self.tables.records[table]))

    def write_games(self) -> None:
        """Write every game, all of them over. The same game gives the same bytes. Raises OSError."""
        for table, record in enumerate(self.tables.records):
            end_game = mjai.messages(record)[-1]
            end_game["points"] = self.tables.rules.final_points(end_game["scores"])
            self._add(table, [end_game])
            data = gzip.compress("".join(self.texts[table]).encode(), mtime=0)
            path = self.folder / file_name(self.seeds[table], table % ROTATIONS)
            unfinished = path.with_suffix(".unfinished")
            unfinished.write_bytes(data)
            unfinished.replace(path)  # whenever the run is cut short, a record is whole or not there

    def _add(self, table: int, events: list[model.Event]) -> None:
        self.texts[table].append(write(model.GameRecord(events, self.tables.rules, "")))


def file_name(seed: int, rotation: int) -> str:
    """Name of a game's file: its wall seed in 16 hexadecimal digits, its rotation."""
    return f"{seed:016x}-{rotation}.mjson.gz"
