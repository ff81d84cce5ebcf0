"""What worker processes do with the bytes of records: read them, and let bots review them.

The results are gzipped JSON, as they are sent to browsers.
"""

from __future__ import annotations

import gzip
from functools import cache, partial
from typing import Any

from pydantic_core import to_json

from agents.base import Agent
from agents.registry import make
from agents.review.decisions import seat_decisions
from agents.review.review import make_review
from engine.records.files import RecordError, parse_record
from engine.records.replay import Replay
from server.worker import Progress

MAX_RECORD = 8 << 20  # bytes of a record once it is unzipped
MAX_RESULT = 1 << 20  # bytes of a result
MAX_PROBLEMS = 20  # that are told of one record

the_bot = cache(partial[Agent](make))  # each bot is made once in a process


def read(progress: Progress, *, data: bytes) -> bytes:
    """The messages of a record, and where it departs from the rules. Raises RecordError, ValueError."""
    record = parse_record(data, "record", MAX_RECORD)
    replay = Replay(record)
    try:
        problems = [str(mismatch) for mismatch in replay.check()]
    except RecordError as error:
        problems = [str(error)]
    return zipped({"messages": record.events, "problems": problems[:MAX_PROBLEMS]})


def review(progress: Progress, *, data: bytes, source: str, bots: tuple[str, ...], seat: int) -> bytes:
    """The review of a seat. Raises RecordError, ValueError."""
    decisions = seat_decisions(parse_record(data, source, MAX_RECORD), seat)
    done, total = 0, len(bots) * len(decisions.decisions)
    progress(done, total)

    def advance(n: int) -> None:
        nonlocal done
        done += n
        progress(done, total)

    return zipped(make_review(decisions, {bot: the_bot(bot) for bot in bots}, advance).as_json())


def zipped(value: Any) -> bytes:
    """A value as gzipped JSON. Raises ValueError if it is too long."""
    data = gzip.compress(to_json(value, inf_nan_mode="null"), mtime=0)
    if len(data) > MAX_RESULT:
        raise ValueError(f"the result is longer than {MAX_RESULT:,} bytes")
    return data
