"""tenhou.net/6 JSON: a game as rows of draws and discards, the format of Tenhou's record viewer.

Every list of seats has four entries, of which the fourth is empty or 0. Rounds are read and written by `tenhou_rounds`,
their results by `tenhou_results`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Literal

from engine.mjai.messages import Message, complete, loads, make, start_game
from engine.records.model import GameRecord, NotThreePlayersError, RecordError, record_errors, round_name
from engine.records.tenhou_rounds import read_round, write_round
from engine.rules import MAJSOUL, TENHOU, Rules
from engine.table import N_SEATS
from engine.tiles import WINDS

# A rule text consists of the number of players, the room, the length and the rule switches: "三鳳南喰赤", "三銀の間赤".
_MAJSOUL_ROOM = "の間"
_DISPLAY = {TENHOU.name: "三{length}喰{reds}", MAJSOUL.name: "三の間{length}喰{reds}"}
_LENGTHS = {"east": "東", "hanchan": "南"}
_UNKNOWN_RULES = "三人麻雀"
REDS = ("aka51", "aka52", "aka53")
_FINAL_EAST_INDEX = 2
# Keys that one format has and the other has not (ranks, ratings, the lobby, the seed of the walls …) are kept together
# under one key: those of tenhou.net/6 in start_game, those of start_game in tenhou.net/6.
OF_TENHOU, OF_MJAI = "tenhou", "mjai"
_MODELLED = frozenset({"name", "log", "sc", OF_MJAI})
_IN_TENHOU = frozenset({"type", "names", "rules", "length", "aka_flag", OF_TENHOU})


def read(text: str, source: str) -> GameRecord:
    """The game in the `text` of a tenhou.net/6 file; `source`: file name, for messages. Raises RecordError."""
    try:
        document = loads(text)
    except json.JSONDecodeError as error:
        what = f"incomplete JSON ({error.msg}); the file was cut off or changed, download it again"
        raise RecordError(source, f"line {error.lineno} column {error.colno}", what) from error
    with record_errors(source, "head"):
        if not document.get("log"):
            raise ValueError('no "log" with rounds: this is no tenhou.net/6 record')
        names = document.get("name", [])
        if len(names) > N_SEATS and names[N_SEATS]:
            raise NotThreePlayersError("four players are named")
        rules = _read_rules(document)
        start = start_game(names[:N_SEATS], rules) if names else make("start_game")
        written = _defaults(rules)
        kept = {key: value for key, value in document.items() if key not in _MODELLED and value != written.get(key)}
        events = [document.get(OF_MJAI, {}) | start | ({OF_TENHOU: kept} if kept else {})]
    for number, log in enumerate(document["log"]):
        with record_errors(source, f"log[{number}]{_round_name(log)}"):
            events += read_round(log)
    with record_errors(source, "sc"):
        events.append(_end_game(document.get("sc")))
        return GameRecord(complete(events), rules, source)


def write(record: GameRecord) -> str:
    """The game as one line of JSON. Raises RecordError if a round lacks what the format needs (hands, deltas)."""
    return json.dumps(document_of(record), ensure_ascii=False, separators=(",", ":")) + "\n"


def document_of(record: GameRecord) -> dict[str, Any]:
    """The game as the object that `write` writes. Raises RecordError as that does.

    Keys that were read from a tenhou.net/6 or mjlog record come back; those that only mjai has are kept under
    ``mjai``.
    """
    start, end = record.events[0], record.events[-1]
    kept = start.get(OF_TENHOU)
    document: dict[str, Any] = {"name": [*start.get("names", [""] * N_SEATS), ""], **_defaults(record.rules)}
    if isinstance(kept, dict):
        document |= {key: value for key, value in kept.items() if key not in _MODELLED}
    document["log"] = []
    if of_mjai := {key: value for key, value in start.items() if key not in _IN_TENHOU}:
        document[OF_MJAI] = of_mjai
    for events in record.rounds():
        with record_errors(record.source, round_name(events[0])):
            document["log"].append(write_round(events))
    if end["type"] == "end_game" and "scores" in end and "points" in end:
        pairs = zip(end["scores"], end["points"], strict=True)
        document["sc"] = [*(value for score, points in pairs for value in (score, _plain(points))), 0, 0]
    return document


def _defaults(rules: Rules | None) -> dict[str, Any]:
    """The title and the rule of a game that has no others."""
    has_reds = int(rules is None or rules.red_fives)
    return {"title": ["", ""], "rule": {"disp": _display(rules), **dict.fromkeys(REDS, has_reds)}}


def _plain(points: float) -> int | float:
    """Whole points without a decimal, as Tenhou writes them."""
    return int(points) if points == int(points) else points


def _display(rules: Rules | None) -> str:
    if rules is None or rules.name not in _DISPLAY:
        return _UNKNOWN_RULES
    return _DISPLAY[rules.name].format(length=_LENGTHS[rules.length], reds="赤" if rules.red_fives else "")


def _end_game(finals: list[float] | None) -> Message:
    """``sc`` has score and final points of each seat in turn, and 0, 0 for the fourth."""
    if finals is None:
        return make("end_game")
    if len(finals) not in (2 * N_SEATS, 2 * N_SEATS + 2):
        raise ValueError(f"expected score and points of each seat, found {len(finals)} numbers")
    points = [float(value) for value in finals[1 : 2 * N_SEATS : 2]]
    return make("end_game", scores=[int(value) for value in finals[: 2 * N_SEATS : 2]], points=points)


def _read_rules(document: dict[str, Any]) -> Rules | None:
    """The rules by the rule text; None if there is no text, or it has no open tanyao, which all presets have."""
    rule = document.get("rule", {})
    display = str(rule.get("disp", ""))
    if "三" not in display:
        if display:
            raise NotThreePlayersError(f"rule {display!r} is no three-player game")
        return None
    reds = [rule[key] for key in ("aka", *REDS) if key in rule]
    has_reds = any(reds) if reds else "赤" in display
    if _MAJSOUL_ROOM in display:
        rules = MAJSOUL.with_length(_majsoul_length(display, document["log"]))
    elif "喰" in display and ("東" in display or "南" in display):
        rules = TENHOU.with_length("hanchan" if "南" in display else "east")
    else:
        return None
    return rules if has_reds else replace(rules, red_fives=False)


def _majsoul_length(display: str, log: list[Any]) -> Literal["east", "hanchan"]:
    """The length by the text, or by the end: only an East-only game ends in East 3 with nobody below zero."""
    if "南" in display or "東" in display:
        return "hanchan" if "南" in display else "east"
    last = log[-1]
    deltas = last[-1][1] if len(last[-1]) > 1 else []
    scores = [score + delta for score, delta in zip(last[1], deltas, strict=False)]
    return "east" if last[0][0] == _FINAL_EAST_INDEX and min(scores, default=0) >= 0 else "hanchan"


def _round_name(log: Any) -> str:
    """The name of the round in brackets, or nothing if its head cannot be read."""
    try:
        index, honba = log[0][:2]
        return f" ({WINDS[index // 4]}{index % 4 + 1} honba {honba})"
    except (TypeError, IndexError, ValueError, KeyError):
        return ""
