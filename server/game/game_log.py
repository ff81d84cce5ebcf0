"""The log of a game: the history that bots and spectators are sent, and the journal that the game is restored from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from engine.common.error_text import coded, decoded
from engine.mjai.keys import COUNT, SEAT, TEXT, BadValue
from engine.mjai.messages import Message
from server.game.history import History
from server.game.journal import Entry, Journal
from server.game.start import GameStart

STOPPED: Entry = {"stopped": True}  # the server has stopped and knows that the journal is complete up to here


def check_bank(value: Any) -> float:
    """Check of what is left of a time bank."""
    if type(value) not in (int, float) or not 0 <= value < inf:
        raise BadValue(value)
    return float(value)


@dataclass(frozen=True, slots=True)
class Decision:
    """A seat has decided."""

    seat: int
    action: int
    bank: float  # seconds left of its time bank


@dataclass(frozen=True, slots=True)
class Fault:
    """A seat has committed a fault."""

    seat: int


@dataclass(frozen=True, slots=True)
class HouseBotChange:
    """A house bot has taken a seat over; `bot` is "" where the connection plays again."""

    seat: int
    bot: str


@dataclass(frozen=True, slots=True)
class CutOff:
    """Whether the bot of a seat is kept from coming back: it has seen more of the game than the journal holds."""

    seat: int
    cut_off: bool


@dataclass(frozen=True, slots=True)
class Left:
    """The bot of a seat has left by request."""

    seat: int


class GameLog:
    """History and journal of one game. An entry is written to the journal before its messages are sent."""

    def __init__(self, journal: Journal, start: GameStart, max_annotations: int) -> None:
        """Log to an open journal, which is closed with the log; `max_annotations`: see `Limits`."""
        self.history = History()
        self._start = start
        self._journal = journal
        self._max_annotations = max_annotations
        self._annotations: dict[int, tuple[str, Any]] = {}  # by seat: type and ext_bot of the latest reply
        self._annotation_bytes = Counter[int]()  # by seat: of all replies so far

    @property
    def journal(self) -> Path:
        """The file of the journal."""
        return self._journal.path

    def begin(self) -> None:
        """Write how the game starts."""
        self._journal.append(self._start.entry())

    def annotate(self, seat: int, reply_type: str, annotation: Any) -> None:
        """Keep the annotation of a reply, for the decision and the message that follow from it.

        Those of one seat that exceed the limit are dropped: records are kept for ever.
        """
        self._annotations.pop(seat, None)
        self._annotation_bytes[seat] += len(to_json(annotation))
        if self._annotation_bytes[seat] <= self._max_annotations:
            self._annotations[seat] = (reply_type, annotation)

    def add_decision(self, seat: int, action: int, bank: float) -> None:
        """Write a decision, with the annotation of the reply."""
        entry: Entry = {"seat": seat, "action": action, "bank": round(bank, 3)}
        if seat in self._annotations:
            entry["annotation"] = self._annotations[seat]
        self._journal.append(entry)

    def add_fault(self, seat: int, text: str) -> None:
        """Write a fault. One without a text is counted, and leaves no line in the record, which is kept for ever."""
        self._journal.append({"seat": seat, "fault": text} | coded(text))
        self._show_fault(seat, text)

    def _show_fault(self, seat: int, text: str) -> None:
        if text:
            self.history.add_error(seat, text)

    def add_house_bot(self, seat: int, bot: str, text: str) -> None:
        """Write that a house bot takes a seat over, or with `bot` ``""`` that its connection is back, and why."""
        self._journal.append({"seat": seat, "house_bot": bot, "error": text} | coded(text))
        self.history.add_error(seat, text, bot)

    def add_cut_off(self, seat: int, cut_off: bool) -> None:
        """Write that a bot could not come back, or that it now has."""
        self._journal.append({"seat": seat, "cut_off": cut_off})

    def add_left(self, seat: int) -> None:
        """Write that a bot has left by request."""
        self._journal.append({"seat": seat, "left": True})

    def add_messages(self, messages: Sequence[Message]) -> int:
        """Add messages to the history, each with its annotation. Returns the number of rounds that they finish."""
        rounds = self.history.rounds
        for message in messages:
            self.history.add(message, self._annotation_of(message) if self._annotations else None)
        if messages:
            self._annotations.clear()
        return self.history.rounds - rounds

    def _annotation_of(self, message: Message) -> Any:
        """The annotation of the reply that became this message; an abortive draw names no actor."""
        for seat, (reply_type, annotation) in self._annotations.items():
            if reply_type == message["type"] and message.get("actor", seat) == seat:
                del self._annotations[seat]
                return annotation
        return None

    def restore(self, entry: Entry) -> Decision | Fault | HouseBotChange | CutOff | Left:
        """Take an entry read from the journal. Raises ValueError, TypeError or LookupError if it is none."""
        seat = SEAT.check(entry["seat"])
        if "action" in entry:
            if "annotation" in entry:
                kind, annotation = entry["annotation"]
                self.annotate(seat, TEXT.check(kind), annotation)
            return Decision(seat, COUNT.check(entry["action"]), check_bank(entry["bank"]))
        if "fault" in entry:
            self._show_fault(seat, decoded(TEXT.check(entry["fault"]), entry))
            return Fault(seat)
        if "cut_off" in entry:
            return CutOff(seat, entry["cut_off"] is True)
        if "left" in entry:
            return Left(seat)
        bot = TEXT.check(entry["house_bot"])
        self.history.add_error(seat, decoded(TEXT.check(entry["error"]), entry), bot)
        return HouseBotChange(seat, bot)

    def close(self, complete: bool) -> None:
        """Write nothing more, but that the journal is complete."""
        if complete:
            self._journal.append(STOPPED)
        self._journal.close()
