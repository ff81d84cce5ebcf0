"""tenhou.net/6 JSON: a game as rows of draws and discards, the format of Tenhou's record viewer.

Every list of seats has four entries, of which the fourth is empty or 0. Rounds are read and written by `tenhou_rounds`,
their results by `tenhou_results`.
"""

from __future__ import annotations

import json
from typing import Any

from engine.common.error_text import error_text
from engine.mjai.kinds import read_scores
from engine.mjai.messages import RULES_KEYS, Message, complete, loads, make, rules_keys, rules_of, start_game
from engine.records.filling import with_results
from engine.records.model import (
    OF_MJAI,
    OF_TENHOU,
    GameRecord,
    RecordError,
    at_line,
    custom_rules,
    record_errors,
    round_name,
)
from engine.records.tenhou_results import NEEDED
from engine.records.tenhou_rounds import read_round, write_round
from engine.records.tenhou_rules import read_rules, rule_of
from engine.rules import Rules
from engine.table import N_SEATS
from engine.tiles import WINDS

_END_SCORES = "end_scores"  # under OF_MJAI: the scores of a game without final points, which ``sc`` needs
_LONGEST_WORD = len("false")  # of JSON; up to this much of it may be left at the end of a truncated file
_MODELLED = frozenset({"name", "log", "sc", OF_MJAI})
_IN_TENHOU = frozenset({"type", "names", *RULES_KEYS, OF_TENHOU})


def read(text: str, source: str) -> GameRecord:
    """Read the game in the `text` of a tenhou.net/6 file; `source`: file name, for messages. Raises RecordError."""
    return read_document(parse(text, source), source)


def read_document(document: Any, source: str) -> GameRecord:
    """The game in the JSON of a tenhou.net/6 file; see `read`."""
    with record_errors(source, "head"):
        if not document.get("log"):
            raise ValueError(error_text("no_log", 'no "log" with rounds: this is no tenhou.net/6 record'))
        of_mjai = dict(document.get(OF_MJAI, {}))
        scores = of_mjai.pop(_END_SCORES, None)
        rules, custom = read_rules(document)
        rules = rules_of(of_mjai) or rules
        names = document.get("name", [])[:N_SEATS]  # a fourth, such as "AI", is not a player: those have tiles
        start = start_game(names, rules)
        written = _defaults(rules)
        kept = {key: value for key, value in document.items() if key not in _MODELLED and value != written.get(key)}
        events = [of_mjai | start | ({OF_TENHOU: kept} if kept else {})]
        notes = custom_rules(custom)
    for number, log in enumerate(document["log"]):
        with record_errors(source, f"log[{number}]{_round_name(log)}"):
            events += read_round(log, notes)
    with record_errors(source, "sc"):
        events.append(_end_game(document.get("sc"), scores))
        return GameRecord(complete(events), rules, source, notes)


def parse(text: str, source: str) -> Any:
    """Parse the JSON of a file. Raises RecordError, which says whether it was cut off."""
    try:
        return loads(text)
    except json.JSONDecodeError as error:
        if len(text.rstrip()) - error.pos < _LONGEST_WORD or error.msg.startswith("Unterminated"):
            said = "incomplete JSON ({why}); the file was cut off, download it again"
            what = error_text("json_cut", said, why=error.msg)
        elif error.msg == "Extra data":
            said = "a second JSON document begins here: a file holds one game; write each line into a file of its own"
            what = error_text("json_second", said)
        else:
            said = "no JSON ({why}): the program that wrote the file, or changed it, is at fault"
            what = error_text("json_wrong", said, why=error.msg)
        raise RecordError(source, at_line(error.lineno, error.colno), what) from error


def write(record: GameRecord) -> str:
    """Return the game as one line of JSON. Raises RecordError if a round lacks required data, such as hands.

    Deltas and reasons of results that the record lacks are computed by the rules.
    """
    return json.dumps(document_of(record), ensure_ascii=False, separators=(",", ":")) + "\n"


def document_of(record: GameRecord) -> dict[str, Any]:
    """Return the game as the object that `write` writes. Raises RecordError as `write` does.

    Keys that were read from a tenhou.net/6 or mjlog record are restored; keys that only mjai has are kept under
    ``mjai``.
    """
    start, end = record.events[0], record.events[-1]
    kept = start.get(OF_TENHOU)
    document: dict[str, Any] = {"name": [*start.get("names", [""] * N_SEATS), ""], **_defaults(record.rules)}
    if isinstance(kept, dict):
        document |= {key: value for key, value in kept.items() if key not in _MODELLED}
    document["log"] = []
    of_mjai = {key: value for key, value in start.items() if key not in _IN_TENHOU}
    for events in with_results(record, NEEDED).rounds():
        with record_errors(record.source, round_name(events[0])):
            document["log"].append(write_round(events))
    with record_errors(record.source, "head"):
        if record.rules is not None and read_rules(document)[0] != record.rules:
            of_mjai |= rules_keys(record.rules)
    if end["type"] == "end_game" and "scores" in end:
        scores = end["scores"]
        points = end.get("points") or (record.rules and record.rules.final_points(scores))
        if points:
            pairs = zip(scores, points, strict=True)
            document["sc"] = [*(value for score, points in pairs for value in (score, _plain(points))), 0, 0]
        else:
            of_mjai[_END_SCORES] = scores
    if of_mjai:
        document[OF_MJAI] = of_mjai
    return document


def _defaults(rules: Rules | None) -> dict[str, Any]:
    """Return the default title and rule of a game."""
    return {"title": ["", ""], "rule": rule_of(rules)}


def _plain(points: float) -> int | float:
    """Return whole points without a decimal, as Tenhou writes them."""
    return int(points) if points == int(points) else points


def _end_game(finals: list[float] | None, scores: Any) -> Message:
    """``sc`` has score and final points of each seat in turn, and 0, 0 for the fourth; `scores` may be known alone."""
    if finals is None:
        return make("end_game", scores=read_scores("scores", scores))
    if len(finals) not in (2 * N_SEATS, 2 * N_SEATS + 2):
        what = "expected score and points of each seat, found {n} numbers"
        raise ValueError(error_text("finals", what, n=len(finals)))
    points = [float(value) for value in finals[1 : 2 * N_SEATS : 2]]
    return make("end_game", scores=[int(value) for value in finals[: 2 * N_SEATS : 2]], points=points)


def _round_name(log: Any) -> str:
    """Return the name of the round in brackets, or an empty text if its head cannot be read."""
    try:
        index, honba = log[0][:2]
        return f" ({WINDS[index // 4]}{index % 4 + 1} honba {honba})"
    except (TypeError, IndexError, ValueError, KeyError):
        return ""
