"""Logs of games that were cut off, as when a server died: where they end, and how their last round is replayed."""

from __future__ import annotations

from itertools import dropwhile

from engine.common.error_text import ErrorText, error_text
from engine.mjai.messages import Message, loads
from engine.records.model import round_name
from engine.ryukyoku import UNKNOWN_MJAI

_END: Message = {"type": "end_kyoku"}
_OPEN_END: Message = {"type": "ryukyoku", "reason": UNKNOWN_MJAI}


def without_half_line(text: str) -> str:
    """Return a log without its last line if that, not the first, is no JSON: its program died while it wrote it.

    After ``end_game`` nothing was left to write: there the line stays, for the reader to refuse.
    """
    whole, _, last = text.rpartition("\n")
    if last.strip() and '"end_game"' in whole.rstrip().rpartition("\n")[2]:
        return text
    try:
        loads(last)
    except ValueError:
        return whole or text
    return text


def describe_cut(events: list[Message]) -> ErrorText | None:
    """Return in words where a game ends that was cut off; None for a whole one, and one without a round."""
    starts = [index for index, event in enumerate(events) if event["type"] == "start_kyoku"]
    if not starts or events[-1]["type"] == "end_game":
        return None
    name = round_name(events[starts[-1]])
    if events[-1]["type"] == "end_kyoku":
        return error_text("cut_after_round", "the record ends after {round}, without end_game", round=name)
    text = "the record ends in {round}, after {n} events of that round"
    return error_text("cut_in_round", text, round=name, n=len(events) - starts[-1])


def with_open_end(events: list[Message]) -> list[Message]:
    """Return the events of a round for the replay: if the round has no end, one that says that it is not known.

    One ron at the cut is left out, as a second may have followed. After a win by tsumo and after two, none can.
    """
    if events[-1]["type"] == "end_kyoku":
        return events
    before = [*dropwhile(lambda event: event["type"] == "hora", reversed(events))][::-1]
    wins = events[len(before) :]
    if len(wins) > 1 or any(win["actor"] == win.get("target") for win in wins):
        return [*events, _END]
    return [*before, _OPEN_END]
