"""Keys of wins and draws that a record lacks and the format to write needs, computed by the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.mjai.messages import Message
from engine.records.model import GameRecord

Needed = Mapping[str, tuple[str, ...]]  # ``hora`` and ``ryukyoku`` -> the keys that a format needs of them


def with_results(record: GameRecord, needed: Needed) -> GameRecord:
    """Return the record; a win or draw that lacks `needed` keys gets all that it lacks, if the rules agree so far."""
    lacking = {index for index, event in enumerate(record.events) if _lacking(event, needed)}
    if not lacking:
        return record
    from engine.records.replay import Replay  # imported late: needs numba

    replay = Replay(record)
    replay.check()
    filled = {index: replay.results.get(index, {}) | record.events[index] for index in lacking}
    return replace(record, events=[filled.get(index, event) for index, event in enumerate(record.events)])


def require_result(event: Message, needed: Needed) -> None:
    """Raise ValueError if an event, from `with_results`, still lacks a key."""
    if lacking := _lacking(event, needed):
        raise ValueError(f"a {event['type']} without {', '.join(lacking)}, that the rules do not tell either")


def _lacking(event: Message, needed: Needed) -> list[str]:
    return [key for key in needed.get(event["type"], ()) if key not in event]
