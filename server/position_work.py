"""What a worker process does with a position that is sent: bots evaluate its actions, and its hand is looked at."""

from __future__ import annotations

from agents.analyse.analysis import analyse
from agents.review.opinions import cached_bot
from engine.positions.position import Position
from server.review_work import gzip_json
from server.worker import Progress


def analysed(progress: Progress, *, position: Position, bots: tuple[str, ...]) -> bytes:
    """The analysis of a position as gzipped JSON. Raises ValueError, which names the field."""
    return gzip_json(analyse(position, {bot: cached_bot(bot) for bot in bots}).as_json())
