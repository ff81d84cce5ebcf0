"""A game as a list of canonical mjai events: what every record format is read into and written from.

The dialect is the three-player mjai of the Ruby server: three entries in every list of seats, ``nukidora`` for north,
``uradora_markers`` in ``hora``. A list goes from ``start_game`` to ``end_game``. **A key that is absent is unknown**:
readers fill in only what the file makes certain (scores after a delta, the tile a win took), never a guess.

Order where it is easily got wrong: ``ankan, dora, tsumo``; ``daiminkan|kakan, tsumo, dora, dahai``;
``reach, dahai, reach_accepted`` before whatever follows that discard; double ron is two ``hora`` in turn order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from engine.mjai.messages import WINDS, Event
from engine.rules import Rules


class RecordError(ValueError):
    """A record that cannot be read or written: one line with the file, the place in it, and what is wrong."""

    def __init__(self, file: str, place: str, what: str) -> None:
        super().__init__(file, place, what)
        self.file, self.place, self.what = file, place, what

    def __str__(self) -> str:
        return f"{self.file}: {self.place}: {self.what}"


@contextmanager
def located(file: str, place: str) -> Iterator[None]:
    """Turns what a parser stumbles over into a RecordError at `place` of `file`."""
    try:
        yield
    except RecordError:
        raise
    except ValueError as error:
        raise RecordError(file, place, str(error)) from error
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        what = f"garbled or incomplete ({type(error).__name__}: {error}); fetch or export the file again"
        raise RecordError(file, place, what) from error


@dataclass
class GameRecord:
    """One game. `rules` is None where the file does not tell them or no preset describes them."""

    events: list[Event]
    rules: Rules | None
    source: str  # file name for messages

    def rounds(self) -> list[list[Event]]:
        """The events of each round, ``start_kyoku`` to ``end_kyoku``. Raises RecordError where one is not closed."""
        rounds: list[list[Event]] = []
        current: list[Event] | None = None
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


def round_name(start_kyoku: Event) -> str:
    """A round in words, like ``"E3 honba 1"``."""
    return f"{start_kyoku['bakaze']}{start_kyoku['kyoku']} honba {start_kyoku['honba']}"


def round_index(start: Event) -> int:
    """The Tenhou index of a round: 4 per wind."""
    return 4 * WINDS.index(start["bakaze"]) + int(start["kyoku"]) - 1
