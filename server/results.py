"""What is kept of a game that is over."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime

from pydantic_core import to_json

from server.sitting import Sitting
from server.store import FinishedGame, SeatResult


def finished_game(sitting: Sitting) -> FinishedGame:
    """The result and the record of a game that is over."""
    start, game = sitting.start, sitting.game
    ranks, points = game.ranks, game.final_points
    first, second, third = (
        SeatResult(
            name=seat.player.name,
            house_bot=bool(seat.player.house),
            score=game.scores[seat.index],
            rank=ranks[seat.index],
            points=points[seat.index],
            penalty=seat.faults * start.settings.fault_penalty,
            faults=seat.faults,
            taken_over=seat.taken_over,
        )
        for seat in sitting.seats
    )
    return FinishedGame(
        id=start.id,
        room=start.room,
        rules=start.settings.rules,
        length=start.settings.length,
        started=start.started,
        finished=datetime.now(UTC),
        rounds=sitting.history.rounds,
        decisions=sum(seat.decisions for seat in sitting.seats),
        seats=(first, second, third),
        record=record_of(sitting),
    )


def record_of(sitting: Sitting) -> bytes:
    """The record as .mjson.gz: canonical mjai, with faults as ``error`` lines and what bots remarked as ``ext_bot``."""
    first, *others = sitting.history.lines()
    start_game = json.loads(first) | {"wall_seed": sitting.start.seed}
    lines = [to_json(start_game), *others, to_json(sitting.end_game), b""]
    return gzip.compress(b"\n".join(lines), mtime=0)
