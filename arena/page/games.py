"""The biggest games of a run, and where to see them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from heapq import nlargest
from pathlib import Path
from typing import Any
from urllib.parse import quote

from arena.recorder import file_name
from arena.results import Results
from arena.schedule import Game
from engine.common.program import program_name
from engine.mjai.messages import Message
from engine.records.files import read_records
from engine.records.model import RecordError, round_name
from engine.records.viewer import viewer_link

N_GAMES = 10


@dataclass(frozen=True, slots=True)
class BigGame:
    """A game. ``file``, ``address`` and ``command`` show its record, ``replay`` its biggest round, if it was saved."""

    wall_seed: str
    rotation: int
    result: list[tuple[str, int]]  # bot and score, best first
    file: str = ""
    address: str = ""
    command: str = ""
    biggest_round: str = ""
    replay: str = ""


def biggest_games(results: Results, page: Path, saved: Path | None) -> list[BigGame]:
    """The games with the highest scores. ``page``: where the page will be; ``saved``: the folder of saved games."""
    games = nlargest(N_GAMES, results.games(), key=lambda game: max(game["scores"]))
    return [BigGame(game["wall_seed"], game["rotation"], **describe_game(game, page, saved)) for game in games]


def describe_game(game: dict[str, Any], page: Path, saved: Path | None) -> dict[str, Any]:
    """The result of a game, and where its record is if it was saved."""
    by_place = sorted(zip(game["placements"], game["seats"], game["scores"], strict=True))
    return {"result": [(bot, score) for _, bot, score in by_place]} | record_of(game, page, saved)


def record_of(game: dict[str, Any], page: Path, saved: Path | None) -> dict[str, str]:
    """Where the record of a game is; nothing if it is not there."""
    if saved is None:
        return {}
    path = saved / file_name(Game(game["wall"], game["rotation"], int(game["wall_seed"], 16), []))
    try:
        record = read_records(path)
        number, events = max(enumerate(record.rounds(), 1), key=lambda numbered: points_won(numbered[1]))
        replay = {"biggest_round": round_name(events[0]), "replay": viewer_link(record, number)}
    except (OSError, RecordError):
        return {}
    relative = Path(os.path.relpath(path.absolute(), page.absolute().parent)).as_posix()
    return replay | {
        "file": path.name,
        "address": quote(relative),
        "command": f"{program_name('engine')} show {path} --round {number}",
    }


def points_won(events: list[Message]) -> int:
    """The value of the most valuable hand that was won in a round; 0 if none was."""
    return max((event.get("hora_points", 0) for event in events if event["type"] == "hora"), default=0)
