"""The biggest games of a run, or from records, and where to see them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from pathlib import Path
from urllib.parse import quote

from arena.bot_games import SCORE
from arena.record_games import RecordedGame
from arena.recorder import file_name
from arena.results import Results
from arena.schedule import Game
from arena.statistic import MISSING
from engine.mjai.messages import Message
from engine.records.commands import show_command
from engine.records.files import read_records
from engine.records.model import RecordError, round_name
from engine.records.viewer import viewer_link

N_GAMES = 10


@dataclass(frozen=True, slots=True)
class BigGame:
    """A game. ``address`` and ``command`` show its record, ``replay`` its biggest round, as far as they can be read."""

    name: str
    result: list[tuple[str, int]]  # bot or player and score, best first
    address: str = ""
    command: str = ""
    biggest_round: str = ""
    replay: str = ""


def biggest_games(results: Results, page: Path, saved: Path | None) -> list[BigGame]:
    """The games with the highest scores. ``page``: where the page will be; ``saved``: the folder of saved games."""
    games = []
    for game in nlargest(N_GAMES, results.games(), key=lambda game: max(game["scores"])):
        name, seed = f"wall {game['wall_seed']}, rotation {game['rotation']}", int(game["wall_seed"], 16)
        path = None if saved is None else saved / file_name(Game(game["wall"], game["rotation"], seed, []))
        result = by_place(game["placements"], game["seats"], game["scores"])
        games.append(BigGame(name, result, **({} if path is None else record_at(path, page))))
    return games


def biggest_recorded_games(recorded: Iterable[RecordedGame], page: Path) -> list[BigGame]:
    """The games with the highest scores of those from records. ``page``: where the page will be."""
    games = []
    for game in nlargest(N_GAMES, recorded, key=lambda game: max(game.counts[:, SCORE])):
        names, scores = [name or MISSING for name in game.names], game.counts[:, SCORE].tolist()
        result = by_place(game.placements, names, scores)
        games.append(BigGame(game.record, result, **record_at(Path(game.record), page)))
    return games


def by_place(placements: Sequence[int], names: Sequence[str], scores: Sequence[int]) -> list[tuple[str, int]]:
    """Names and scores, best first."""
    return [(name, score) for _, name, score in sorted(zip(placements, names, scores, strict=True))]


def record_at(path: Path, page: Path) -> dict[str, str]:
    """How to see a record, of a file or in an archive; nothing if it is not there."""
    try:
        record = read_records(path)
        number, events = max(enumerate(record.rounds(), 1), key=lambda numbered: points_won(numbered[1]))
        replay = viewer_link(record, number)
    except (OSError, RecordError):
        return {}
    relative = Path(os.path.relpath(path.absolute(), page.absolute().parent)).as_posix()
    return {
        "address": quote(relative) if path.is_file() else "",
        "command": f"{show_command(path)} --round {number}",
        "biggest_round": round_name(events[0]),
        "replay": replay,
    }


def points_won(events: list[Message]) -> int:
    """The value of the most valuable hand that was won in a round; 0 if none was."""
    return max((event.get("hora_points", 0) for event in events if event["type"] == "hora"), default=0)
