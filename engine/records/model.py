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

from engine.common.options import printable
from engine.mjai.messages import RULES_KEYS, Message, order_keys, rules_keys
from engine.records.options import AUTO
from engine.rules import TENHOU, Rules, preset
from engine.tiles import WINDS

NAMED_BY = ("bakaze", "kyoku", "honba")  # keys of start_kyoku
MAX_TEXT = 1000  # characters of a message about a record


def describe_source(text: str) -> str:
    """Return a message about a record, which may quote it, made printable and not too long."""
    return printable(text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "…")


class RecordError(ValueError):
    """A record cannot be read or written. The message is one line: the file, the location in it, what is wrong."""

    def __init__(self, file: str, location: str, what: str) -> None:
        location, what = describe_source(location), describe_source(what)
        super().__init__(file, location, what)
        self.file, self.location, self.what = file, location, what

    def __str__(self) -> str:
        return f"{printable(self.file)}: {self.location}: {self.what}"


class FourPlayersError(RecordError):
    """The record is that of a four-player game, which cannot be read."""


class NotThreePlayersError(ValueError):
    """Raised by a parser that finds a four-player game; `record_errors` turns it into a `FourPlayersError`."""


@contextmanager
def record_errors(file: str, location: str) -> Iterator[None]:
    """Turn the exceptions that a parser raises on bad input into a RecordError at `location` of `file`."""
    try:
        yield
    except RecordError:
        raise
    except NotThreePlayersError as error:
        raise FourPlayersError(file, location, f"{error}; only three-player games can be read") from error
    except ValueError as error:
        raise RecordError(file, location, str(error)) from error
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        what = f"garbled or incomplete ({type(error).__name__}: {error}); fetch or export the file again"
        raise RecordError(file, location, what) from error


def custom_rules(rules: list[str]) -> list[str]:
    """Return a note about the rules of a record's game that are not supported here; empty if there are none."""
    return [f"it has rules that are not played here: {', '.join(rules)}"] if rules else []


def unknown_yaku(where: str, names: list[str]) -> list[str]:
    """The note of a record about a win with yaku of unknown names."""
    return [f"{where}: unknown yaku {', '.join(names)}; the yaku of this win are not compared"]


@dataclass
class HandedOver:
    """A part of a game in which someone else plays for a seat's bot: events `first` to `end` - 1, counted from 0."""

    seat: int
    who: str
    first: int
    end: float = inf

    def __str__(self) -> str:
        span = f"from event {self.first + 1} on" if self.end == inf else f"from event {self.first + 1} to {self.end}"
        return f"played by {self.who} {span}"


@dataclass
class GameRecord:
    """One game. `rules` is None if the file does not name them, or they match no preset.

    `notes`: one line for each thing in the file that this record lacks because it was not understood or is not
    supported.
    """

    events: list[Message]
    rules: Rules | None
    source: str  # file name, for messages
    notes: list[str] = field(default_factory=list)
    handed_over: list[HandedOver] = field(default_factory=list)

    def describe_handover(self, seat: int) -> str:
        """Return in words when someone else plays for a seat's bot; ``""`` if never."""
        return describe_source("; ".join(str(each) for each in self.handed_over if each.seat == seat))

    def is_handed_over(self, seat: int, n_before: int) -> bool:
        """Return whether someone else plays for a seat's bot after the first `n_before` events."""
        return any(each.seat == seat and each.first <= n_before < each.end for each in self.handed_over)

    def rounds(self) -> list[list[Message]]:
        """Return the events of each round, ``start_kyoku`` to ``end_kyoku``. Raises RecordError if one has no end."""
        rounds: list[list[Message]] = []
        current: list[Message] | None = None
        for number, event in enumerate(self.events, 1):
            if event["type"] == "start_kyoku":
                if current is not None:
                    raise RecordError(self.source, f"event {number}", "a round starts before the last one's end_kyoku")
                current = []
            if current is not None:
                current.append(event)
            if event["type"] == "end_kyoku":
                if current is None:
                    raise RecordError(self.source, f"event {number}", "end_kyoku without a start_kyoku")
                rounds.append(current)
                current = None
        if current is not None:
            raise RecordError(self.source, round_name(current[0]), "the record ends without this round's end_kyoku")
        return rounds


def with_rules_of(record: GameRecord, name: str) -> GameRecord:
    """Return the record with the rules of preset `name`, but its own length and red fives; unchanged for AUTO."""
    if name == AUTO:
        return record
    recorded = record.rules or TENHOU
    rules = replace(preset(name, recorded.length), red_fives=recorded.red_fives)
    start = {key: value for key, value in record.events[0].items() if key not in RULES_KEYS}
    return replace(record, events=[order_keys(start | rules_keys(rules)), *record.events[1:]], rules=rules)


def round_name(start_kyoku: Message) -> str:
    """Return the name of a round, like ``"E3 honba 1"``, with ``?`` for missing data."""
    wind, number, honba = (start_kyoku.get(key, "?") for key in NAMED_BY)
    return describe_source(f"{wind}{number} honba {honba}")


def round_index(start: Message) -> int:
    """Return Tenhou's index of a round, with four per wind: E1-E3 are 0-2, S1-S3 4-6, W1-W3 8-10."""
    return 4 * WINDS.index(start["bakaze"]) + int(start["kyoku"]) - 1
