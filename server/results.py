"""The result and the record of a finished game, as they are stored."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime

from pydantic_core import to_json

from server.counting import count_rounds
from server.game.live_game import LiveGame
from server.store import FinishedGame, SeatResult

LEVEL = 6  # of gzip: faster than its default of 9, and hardly larger


def make_finished_game(game: LiveGame) -> FinishedGame:
    """The result and the record of a game that is over."""
    start, engine = game.start, game.engine
    ranks, points = engine.ranks, engine.final_points
    first, second, third = (
        SeatResult(
            name=seat.player.name,
            house_bot=bool(seat.player.house),
            start_score=seat.player.score,
            score=engine.scores[seat.index],
            rank=ranks[seat.index],
            points=points[seat.index],
            penalty=seat.faults * start.settings.fault_penalty,
            faults=seat.faults,
            taken_over=seat.taken_over,
            absent=seat.player.absent,
            cut_off=seat.cut_off,
        )
        for seat in game.seats
    )
    return FinishedGame(
        id=start.id,
        room=start.room,
        rules=start.settings.rules,
        length=start.settings.length,
        started=start.started,
        casual=game.casual,
        finished=datetime.now(UTC),
        rounds=game.history.rounds,
        decisions=sum(seat.decisions for seat in game.seats),
        seats=(first, second, third),
        record=record_of(game),
        plays=count_rounds(game.rounds),
        seeded=start.settings.seed is not None,
    )


def record_of(game: LiveGame) -> bytes:
    """The record as .mjson.gz: canonical mjai, faults as ``error`` lines, annotations of bots as ``ext_bot``."""
    first, *others = game.history.lines()
    start_game = json.loads(first) | {"wall_seed": str(game.start.seed)}
    lines = [to_json(start_game), *others, to_json(game.turns.end_game), b""]
    return gzip.compress(b"\n".join(lines), LEVEL, mtime=0)
