"""Writing the games of a chunk as mjai records, one gzipped file a game."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from arena.schedule import Game
from engine.mjai.messages import Message
from engine.mjai.round_events import round_messages
from engine.records.mjai import write
from engine.records.model import GameRecord
from engine.rules import Rules
from engine.tables import Tables


class Recorder:
    """Records of tables in play: added round by round, as text, because a table forgets its rounds."""

    def __init__(self, folder: Path, games: Sequence[Game], starts: Sequence[Message], tables: Tables) -> None:
        """`starts` are the ``start_game`` of each game."""
        self.folder = folder
        self.games = games
        self.tables = tables
        self.texts: list[list[str]] = [[] for _ in games]
        for table, (game, start) in enumerate(zip(games, starts, strict=True)):
            self._add(table, [start | {"wall_seed": game.seed}])

    def add_rounds(self, ended: np.ndarray) -> None:
        """Add the rounds that have just ended on those tables."""
        for table in ended.tolist():
            self._add(table, round_messages(self.tables.records[table]))

    def finish(self) -> None:
        """Write every game, all of them over. The same game gives the same bytes. Raises OSError."""
        for table, game in enumerate(self.games):
            self._add(table, [end_game(self.tables.records[table], self.tables.rules)])
            data = gzip.compress("".join(self.texts[table]).encode(), mtime=0)
            path = self.folder / file_name(game)
            unfinished = path.with_suffix(".unfinished")
            unfinished.write_bytes(data)
            unfinished.replace(path)  # whenever the run is cut short, a record is whole or not there

    def _add(self, table: int, events: list[Message]) -> None:
        self.texts[table].append(write(GameRecord(events, self.tables.rules, "")))


def end_game(record: np.record, rules: Rules) -> Message:
    """The last message of a game that is over."""
    message = round_messages(record)[-1]
    return message | {"points": rules.final_points(message["scores"])}


def file_name(game: Game) -> str:
    """Name of a game's file: its wall seed in 16 hexadecimal digits, its rotation."""
    return f"{game.seed:016x}-{game.rotation}.mjson.gz"
