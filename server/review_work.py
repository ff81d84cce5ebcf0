"""Work on the bytes of records in worker processes: reading them, and letting bots review them.

The results are gzipped JSON, as they are sent to browsers.
"""

from __future__ import annotations

import gzip
from typing import Any

from pydantic_core import to_json

from agents.review.decisions import names_of, seat_decisions
from agents.review.opinions import cached_bot
from agents.review.review import make_review
from agents.review.totals import Totals
from engine.common.error_text import coded, error_text, line_of
from engine.records.compression import format_of
from engine.records.files import RecordError, parse_record
from engine.records.model import GameRecord
from engine.records.replay import Replay
from engine.records.wall import true_walls
from server.worker import Progress

MAX_RECORD = 4 << 20  # bytes of an unzipped record; a long game has less than 1 MB without annotations
MAX_ROUNDS, MAX_MESSAGES = 100, 20_000  # of a record; checked before anything is replayed
ROUNDS, MESSAGES = error_text("rounds", "rounds"), error_text("messages", "messages")  # what is counted
WHOLE = error_text("at_whole", "")  # location of what is wrong with a record as a whole
MAX_RESULT = 1 << 20  # bytes of a result
MAX_PROBLEMS = 20  # reported for one record

Records = list[tuple[str, bytes]]  # by their names: ids of games


def read(progress: Progress, *, data: bytes) -> bytes:
    """Return the messages of a record, its walls, and where it deviates from the rules.

    Raises RecordError, ValueError.
    """
    record = parse_upload(data, "record", allow_cut=True)
    replay = Replay(record)
    walls: list[dict[str, list[str]] | None] = []
    try:
        problems = [*record.notes, *filter(None, [record.cut]), *(mismatch.line for mismatch in replay.check())]
        walls = true_walls(record)
    except RecordError as error:
        problems = [line_of(error)]
    shown = problems[:MAX_PROBLEMS]
    codes = [coded(problem) for problem in shown]
    return gzip_json({"messages": record.events, "problems": shown, "problem_codes": codes, "walls": walls})


def review(progress: Progress, *, records: Records, bots: tuple[str, ...], seat: int, player: str) -> bytes:
    """The review of a seat of the one record, or of a player in all of them. Raises RecordError, ValueError."""
    if player:
        return review_player(progress, records, bots, player)
    ((source, data),) = records
    decisions = seat_decisions(parse_upload(data, source, allow_cut=True), seat)
    done, total = 0, len(bots) * len(decisions.decisions)
    progress(done, total)

    def advance(n: int) -> None:
        nonlocal done
        done += n
        progress(done, total)

    return gzip_json(make_review(decisions, {bot: cached_bot(bot) for bot in bots}, advance).as_json())


def review_player(progress: Progress, records: Records, bots: tuple[str, ...], player: str) -> bytes:
    """What the reviews of a player add up to; what cannot be read is left out and named. Raises ValueError."""
    totals, faults = Totals.of_none(len(bots)), list[str]()
    made = {bot: cached_bot(bot) for bot in bots}
    for done, (source, data) in enumerate(records):
        progress(done, len(records))
        try:
            record = parse_upload(data, source)
            names = names_of(record.events[0])
            of_seats = [seat_decisions(record, seat) for seat, name in enumerate(names) if name == player]
            if reviews := [make_review(each, made, lambda done: None) for each in of_seats if each.decisions]:
                totals.add(Totals.of_game(reviews, source))
        except RecordError as error:
            faults.append(line_of(error))
    progress(len(records), len(records))
    if not totals.games:
        raise ValueError(
            faults[0] if faults else error_text("no_decisions", "no decision of these games can be reviewed")
        )
    return gzip_json(totals.as_json(player, bots) | {"faults": faults[:MAX_PROBLEMS]})


def parse_upload(data: bytes, source: str, *, allow_cut: bool = False) -> GameRecord:
    """Read the game in a record, plain or gzipped; other compressions are refused here. Raises RecordError.

    `allow_cut`: as in `parse_record`.
    """
    compression = format_of(data)
    if compression is not None and compression.name != "gzip":
        what = error_text("compression_other", "records are read here as they are, or gzipped")
        raise RecordError(source, compression.name, what)
    record = parse_record(data, source, MAX_RECORD, allow_cut=allow_cut)
    rounds = sum(event["type"] == "start_kyoku" for event in record.events)
    for what, found, most in ((ROUNDS, rounds, MAX_ROUNDS), (MESSAGES, len(record.events), MAX_MESSAGES)):
        if found > most:
            text = "it has {n:,} {what}; records of at most {most:,} are read here"
            raise RecordError(source, WHOLE, error_text("record_many", text, n=found, what=what, most=most))
    return record


def gzip_json(value: Any) -> bytes:
    """Return a value as gzipped JSON. Raises ValueError if it is too long."""
    data = gzip.compress(to_json(value, inf_nan_mode="null"), mtime=0)
    if len(data) > MAX_RESULT:
        raise ValueError(error_text("result_long", "the result is longer than {n:,} bytes", n=MAX_RESULT))
    return data
