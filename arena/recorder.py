"""Saves the games of a chunk as mjai records: one gzipped file for each game."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from agents.external.external_agent import ExternalAgent
from agents.external.stderr import without_file
from arena.schedule import Game
from engine.common.files import write_atomically
from engine.mjai.messages import Message, start_game
from engine.mjai.round_events import round_messages
from engine.records.mjai import write
from engine.records.model import OF_TENHOU, GameRecord
from engine.rules import Rules, Scores
from engine.tables import Tables

MAX_LINE = 1 << 20  # characters of the first lines of a saved game, which have some thousand


class Recorder:
    """Records the games on some tables: an `arena.observers.GameObserver`.

    Rounds are kept as text as soon as they end, because a table keeps the events of its current round only.
    """

    def __init__(
        self,
        folder: Path,
        games: Sequence[Game],
        starts: Sequence[Message],
        tables: Tables,
        external: Mapping[int, ExternalAgent],
    ) -> None:
        """``starts``: the ``start_game`` event of each game. ``external``: external bots by index in the schedule.

        Their failures become ``error`` lines at the point where they happened; they play one game at a time.
        """
        self.healthy = dict(external)  # that have not failed yet
        self.folder = folder
        self.games = games
        self.tables = tables
        self.texts: list[list[str]] = [[] for _ in games]
        for table, (game, start) in enumerate(zip(games, starts, strict=True)):
            self._add(table, [opening(game, start)])

    def rounds_ended(self, tables: np.ndarray) -> None:
        """Write these rounds as text, with the failures where they happened."""
        for table in tables.tolist():
            events = round_messages(self.tables.records[table])
            for fault_after, error in sorted(self._errors(), key=lambda found: -found[0]):
                events.insert(fault_after, error | {"played_by": "safe defaults"})
            self._add(table, events)

    def games_ended(self) -> None:
        """Write every game. The same game gives the same bytes. Raises OSError."""
        for table, game in enumerate(self.games):
            self._add(table, [error for _, error in self._errors()])
            self._add(table, [end_game(self.tables.records[table], self.tables.rules)])
            with write_atomically(self.folder / file_name(game)) as file:
                file.write(gzip.compress("".join(self.texts[table]).encode(), mtime=0))

    def _errors(self) -> Iterator[tuple[int, Message]]:
        """The new failures: after how many events of the round each happened, and its ``error``."""
        for index in [index for index, bot in self.healthy.items() if bot.fault]:
            bot = self.healthy.pop(index)
            error = {"type": "error", "actor": self.games[0].seats.index(index), "message": without_file(bot.fault)}
            yield bot.fault_after, error

    def _add(self, table: int, events: list[Message]) -> None:
        self.texts[table].append(write(GameRecord(events, self.tables.rules, "")))


def opening(game: Game, start: Message) -> Message:
    """The first message of a record, with the seed of its wall; ``start`` is the ``start_game`` of the game."""
    of_tenhou = {OF_TENHOU: {"seed": game.tenhou_seed}} if game.tenhou_seed else {}
    return start | {"wall_seed": str(game.seed)} | of_tenhou


def check_folder(folder: Path, games: Sequence[Game], bots: Sequence[str], rules: Rules, scores: Scores) -> None:
    """Raise ValueError if the first of ``games`` found in ``folder`` is a game of another run.

    Another run has other bots, rules or starting scores. ``bots``: labels, in the order of the schedule, as are
    ``scores``. Games on other walls have other names, and may stay there.
    """
    present = {path.name for path in folder.iterdir()}
    game = next((game for game in games if file_name(game) in present), None)
    if game is None:
        return
    path = folder / file_name(game)
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            first, round_start = (json.loads(file.readline(MAX_LINE)) for _ in range(2))
        first = first | {"wall_seed": str(first["wall_seed"])}  # earlier versions wrote an integer
        same = round_start["scores"] == [scores[index] for index in game.seats]
    except (OSError, ValueError, EOFError, LookupError, TypeError, RecursionError, zlib.error):
        same, first = False, {}
    if not same or first != opening(game, start_game([bots[index] for index in game.seats], rules)):
        raise ValueError(
            f"{path} is a game of another run on the same walls: name another --save folder, or delete these games"
        )


def end_game(record: np.record, rules: Rules) -> Message:
    """The ``end_game`` message of a finished game, with final points."""
    message = round_messages(record)[-1]
    return message | {"points": rules.final_points(message["scores"])}


def log_name(game: Game) -> str:
    """Name of the file with the traffic of external bots in a game."""
    return f"{file_name(game).partition('.')[0]}.log"


def file_name(game: Game) -> str:
    """Name of a game's file: its wall seed in 16 hexadecimal digits, and its rotation."""
    return f"{game.seed:016x}-{game.rotation}.mjson.gz"
