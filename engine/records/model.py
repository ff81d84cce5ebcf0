"""A recorded game as a list of canonical mjai events, the common model of all record formats.

The dialect is the three-player mjai of the Ruby server (mjai3p): three entries in every list of seats, ``nukidora`` for
a north, ``uradora_markers`` in ``hora``. The list goes from ``start_game`` to ``end_game``. **A missing key means
unknown**: readers add only what follows with certainty (scores from deltas, the winning tile) and never guess.

The order of events that are easily confused: ``ankan, dora, tsumo``; ``daiminkan|kakan, tsumo, dora, dahai``;
``reach, dahai, reach_accepted`` before whatever follows that discard; double ron is two ``hora`` in turn order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from typing import Literal

from engine.common.error_text import ErrorText, changed, error_text, line_of
from engine.common.options import printable
from engine.mjai.messages import RULES_KEYS, Message, order_keys, rules_keys
from engine.records.options import AUTO
from engine.rules import TARGET_POINTS, TENHOU, Rules, preset
from engine.tiles import WINDS, wind_text

# Keys that only one of mjai and tenhou.net/6 has (ranks, ratings, the lobby, the seed of the walls …) are kept together
# under one key: those of tenhou.net/6 in start_game, and those of start_game in tenhou.net/6.
OF_TENHOU, OF_MJAI = "tenhou", "mjai"
NAMED_BY = ("bakaze", "kyoku", "honba")  # keys of start_kyoku
_EAST_ENDS = (2, 4, 5)  # indices of the rounds in which an East-only game ends, but no hanchan that does not go bust
_SOUTH_3 = 6  # the last round of both
MAX_TEXT = 1000  # characters of a message about a record


def describe_source(text: str) -> str:
    """Return a message about a record, which may quote it, made printable and not too long; its code is the same."""
    return changed(text, lambda each: printable(each if len(each) <= MAX_TEXT else each[:MAX_TEXT] + "…"))


class RecordError(ValueError):
    """A record cannot be read or written. The message is one line: the file, the location in it, what is wrong."""

    def __init__(self, file: str, location: str, what: str) -> None:
        location, what = describe_source(location), describe_source(what)
        super().__init__(file, location, what)
        self.file, self.location, self.what = file, location, what

    @property
    def line(self) -> ErrorText:
        """The message."""
        text = "{file}: {location}: {what}"
        return error_text("record", text, file=printable(self.file), location=self.location, what=self.what)

    def __str__(self) -> str:
        return str(self.line)


class FourPlayersError(RecordError):
    """The record is that of a four-player game, which cannot be read."""


# Why a record is that of a four-player game.
FOUR_NAMED = error_text("four_named", "four players are named")
FOURTH_PLAYS = error_text("fourth_plays", "a fourth player has tiles")


class NotThreePlayersError(ValueError):
    """Raised by a parser that finds a four-player game; `record_errors` turns it into a `FourPlayersError`."""


def at_event(number: int) -> ErrorText:
    """The location of an event in a record, from 1."""
    return error_text("at_event", "event {n}", n=number)


def at_line(line: int, column: int | None = None) -> ErrorText:
    """A location in a text, both from 1."""
    if column is None:
        return error_text("at_line", "line {n}", n=line)
    return error_text("at_column", "line {n} column {column}", n=line, column=column)


def no_result(name: str) -> ErrorText:
    """What is wrong with the round of that name where the next one begins."""
    return error_text("no_result", "a round starts before {round} has a result", round=name)


def no_end_of_round(name: str) -> ErrorText:
    """What is wrong with a result of another game."""
    return error_text("no_end_of_round", "{result} cannot end a round of three players", result=name)


FILE, BEGINNING = error_text("at_file", "file"), error_text("at_beginning", "beginning")  # locations


@contextmanager
def record_errors(file: str, location: str) -> Iterator[None]:
    """Turn the exceptions that a parser raises on bad input into a RecordError at `location` of `file`."""
    try:
        yield
    except RecordError:
        raise
    except NotThreePlayersError as error:
        why = "{why}; only three-player games can be read"
        raise FourPlayersError(file, location, error_text("four_players", why, why=line_of(error))) from error
    except ValueError as error:
        what = line_of(error)
        if not isinstance(what, ErrorText):  # of Python, such as that of a text that is no number
            what = error_text("unread", "{error}", error=what)
        raise RecordError(file, location, what) from error
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        what = "garbled or incomplete ({error}); fetch or export the file again"
        line = error_text("garbled", what, error=f"{type(error).__name__}: {error}")
        raise RecordError(file, location, line) from error


def custom_rules(rules: list[str]) -> list[str]:
    """Return a note about the rules of a record's game that are not supported here; empty if there are none."""
    what = "it has rules that are not played here: {rules}"
    return [error_text("custom_rules", what, rules=", ".join(rules))] if rules else []


def unknown_yaku(where: str, names: list[str]) -> list[str]:
    """The note of a record about a win with yaku of unknown names."""
    what = "{place}: unknown yaku {names}; the yaku of this win are not compared"
    return [error_text("yaku_unknown", what, place=where, names=", ".join(names))]


@dataclass
class HandedOver:
    """A part of a game in which someone else plays for a seat's bot: events `first` to `end` - 1, counted from 0."""

    seat: int
    who: str
    first: int
    end: float = inf

    def as_json(self) -> Message:
        """Who plays, and the first and the last event of the part, from 1; ``last`` is None if it does not end."""
        last = None if self.end == inf else int(self.end)
        return {"who": describe_source(self.who), "first": self.first + 1, "last": last}

    def __str__(self) -> str:
        span = f"from event {self.first + 1} on" if self.end == inf else f"from event {self.first + 1} to {self.end}"
        return f"played by {self.who} {span}"


@dataclass
class GameRecord:
    """One game. `rules` is None if the file does not name them, or they match no preset.

    `notes`: one line for each thing in the file that this record lacks because it was not understood or is not
    supported. `cut`: in words, where a game ends that was cut off (`engine.records.cut_off`); its last round may have
    no end. Such logs are only read on demand, see `parse_record`.
    """

    events: list[Message]
    rules: Rules | None
    source: str  # file name, for messages
    notes: list[str] = field(default_factory=list)
    handed_over: list[HandedOver] = field(default_factory=list)
    cut: ErrorText | None = None

    def describe_handover(self, seat: int) -> str:
        """Return in words when someone else plays for a seat's bot; ``""`` if never."""
        return describe_source("; ".join(map(str, self.handovers(seat))))

    def handovers(self, seat: int) -> list[HandedOver]:
        """The parts of the game in which someone else plays for a seat's bot."""
        return [each for each in self.handed_over if each.seat == seat]

    def is_handed_over(self, seat: int, n_before: int) -> bool:
        """Return whether someone else plays for a seat's bot after the first `n_before` events."""
        return any(each.seat == seat and each.first <= n_before < each.end for each in self.handed_over)

    def rounds(self) -> list[list[Message]]:
        """Return the events of each round, ``start_kyoku`` to ``end_kyoku``.

        Raises RecordError if one has no end, except the last one of a game that was cut off.
        """
        rounds: list[list[Message]] = []
        current: list[Message] | None = None
        for number, event in enumerate(self.events, 1):
            if event["type"] == "start_kyoku":
                if current is not None:
                    what = error_text("round_open", "a round starts before the last one's end_kyoku")
                    raise RecordError(self.source, at_event(number), what)
                current = []
            if current is not None:
                current.append(event)
            if event["type"] == "end_kyoku":
                if current is None:
                    what = error_text("round_unopened", "end_kyoku without a start_kyoku")
                    raise RecordError(self.source, at_event(number), what)
                rounds.append(current)
                current = None
        if current is not None and self.cut is not None:
            rounds.append(current)
        elif current is not None:
            what = error_text("round_cut", "the record ends without this round's end_kyoku")
            raise RecordError(self.source, round_name(current[0]), what)
        return rounds


def assumed_rules(record: GameRecord) -> Rules:
    """Return the rules of a record; if it names none, Tenhou's, with the length that its end shows.

    They are those of a hanchan if its last round does not say which it is, or the record was cut off.
    """
    last = next((event for event in reversed(record.events) if event["type"] == "start_kyoku"), {})
    if record.rules is not None or record.cut is not None or not {*NAMED_BY} <= last.keys():
        return record.rules or TENHOU
    # Those of the result come first: at the end of the game, the top seat gets the riichi sticks left.
    result = next((event for event in reversed(record.events) if event["type"] in ("hora", "ryukyoku")), {})
    scores = result.get("scores") or record.events[-1].get("scores", [])
    return TENHOU.with_length(length_by_end(round_index(last), scores))


def length_by_end(index: int, scores: list[int]) -> Literal["east", "hanchan"]:
    """Return the length of a game that ends with these scores after the round with this index of Tenhou's.

    Only an East-only game ends with nobody below zero in East 3, South 1 or South 2, or in South 3 with nobody at
    40,000. Games that end otherwise are over by the rules of either length if they are so by one.
    """
    if min(scores, default=0) < 0:
        return "hanchan"
    is_below = bool(scores) and max(scores) < TARGET_POINTS
    return "east" if index in _EAST_ENDS or (index == _SOUTH_3 and is_below) else "hanchan"


def with_rules_of(record: GameRecord, name: str) -> GameRecord:
    """Return the record with the rules of preset `name`, but its own length and red fives; unchanged for AUTO."""
    if name == AUTO:
        return record
    recorded = assumed_rules(record)
    rules = replace(preset(name, recorded.length), red_fives=recorded.red_fives)
    start = {key: value for key, value in record.events[0].items() if key not in RULES_KEYS}
    return replace(record, events=[order_keys(start | rules_keys(rules)), *record.events[1:]], rules=rules)


def round_name(start_kyoku: Message) -> str:
    """Return the name of a round, like ``"E3 honba 1"``, with ``?`` for missing data; in errors pages translate it."""
    wind, number, honba = (str(start_kyoku.get(key, "?")) for key in NAMED_BY)
    name = error_text(
        "round_name",
        "{wind}{number} honba {honba}",
        wind=wind_text(wind) if wind in (*WINDS,) else wind,
        number=number,
        honba=honba,
    )
    return describe_source(name)


def round_index(start: Message) -> int:
    """Return Tenhou's index of a round, with four per wind: E1-E3 are 0-2, S1-S3 4-6, W1-W3 8-10."""
    return 4 * WINDS.index(start["bakaze"]) + int(start["kyoku"]) - 1


def written_index(start: Message) -> int:
    """Return the index of a round for Tenhou's formats, which have no other dealer. Raises ValueError for another."""
    if start["oya"] != start["kyoku"] - 1:
        raise ValueError(f"seat {start['oya']} deals: in Tenhou's formats, seat 0 deals first; write .mjson")
    return round_index(start)
