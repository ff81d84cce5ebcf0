"""A recorded game played again on the engine, each recorded action and event checked against the rules.

replay = Replay(read_records(path))
for decision in replay:
    learn(decision.view, decision.action)
print(replay.n_rounds, replay.mismatches)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine import kernels
from engine.actions import ACTION_NAMES, DAIMINKAN, KYUSHU_KYUHAI, PASS, PON, PON_RED, RON, actions_of
from engine.mjai.actions import action_of
from engine.mjai.messages import SEATS, WINDS, Event
from engine.mjai.round_events import RoundReader
from engine.records.compare import differing_keys, words
from engine.records.model import GameRecord, located, round_name
from engine.records.walls import WallError, lay_wall
from engine.rules import TENHOU, Rules
from engine.table import GAME_OVER, RESPONSE, ROUND_OVER, TABLE
from engine.tiles import NONE

_OWN_ACTIONS = frozenset({"dahai", "reach", "ankan", "kakan", "nukidora", "hora"})
_CALLS = frozenset({"pon", "daiminkan"})
_CONSEQUENCES = frozenset({"dora", "reach_accepted"})
_CALL_BITS = 1 << PON | 1 << PON_RED | 1 << DAIMINKAN


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where a record and the rules part: the file, the round, the event counted from 1, and what either says."""

    source: str
    round: str
    number: int
    recorded: str
    rules: str

    def __str__(self) -> str:
        return f"{self.source}: {self.round}: event {self.number}: recorded {self.recorded}; the rules say {self.rules}"


@dataclass(frozen=True, slots=True)
class Decision:
    """One recorded answer, just before it is given. The table moves on with the next decision: read it before that."""

    raw: np.ndarray  # the table as `engine.kernels` take it: uint8[TABLE.itemsize], live
    seat: int
    action: int  # a number of engine.actions
    n_before: int  # what has happened so far is record.events[:n_before]

    @property
    def table(self) -> np.record:
        """The whole table, hidden things and all: a live record, to be read only."""
        return self.raw.view(TABLE)[0]

    @property
    def view(self) -> np.record:
        """A copy of the table with everything hidden from the seat blanked."""
        copied = np.zeros(1, dtype=TABLE)
        kernels.see(self.raw, 0, self.seat, copied.view(np.uint8), 0)
        return copied[0]

    @property
    def legal(self) -> list[int]:
        """The legal actions, ascending; one alone where there was nothing to decide."""
        return actions_of(*self.table.legal[self.seat].tolist())


class _Departure(Exception):  # noqa: N818 - ends a round, is no error of ours
    """The event at `place` of its round is not what the rules say."""

    def __init__(self, place: int, recorded: str, rules: str) -> None:
        super().__init__(place, recorded, rules)
        self.place, self.recorded, self.rules = place, recorded, rules


class Replay:
    """Iterates over the decisions of a recorded game and checks all its events on the way.

    Every answer to a menu is a decision, passes included; only a pass that somebody's ron leaves unknown (the seat
    might have wanted to call the tile) is not. Where the record departs from the rules a mismatch is noted and the
    rest of that round skipped; the next one starts as recorded. Each iteration starts anew. Raises RecordError where
    the record itself is incomplete.
    """

    def __init__(self, record: GameRecord, rules: Rules | None = None) -> None:
        """`rules`: others than the record tells. Where neither tells them, Tenhou's."""
        self.record = record
        self.rules = rules or record.rules or TENHOU
        self.mismatches: list[Mismatch] = []
        self.n_rounds = 0
        self.n_decisions = 0
        self._raw = np.zeros(TABLE.itemsize, dtype=np.uint8)
        self._columns: Any = self._raw.view(TABLE)
        self._table: Any = self._columns[0]
        self._legal = self._columns["legal"][0]
        self._phase = GAME_OVER
        self._events: list[Event] = []  # of the present round; the engine's log runs beside it, event by event
        self._name = ""  # of the present round
        self._before = 0  # recorded events before this round
        self._n_agreed = 0  # events of this round found to agree
        self._round = RoundReader(self._table)

    def check(self) -> list[Mismatch]:
        """Replays the whole game and returns the mismatches."""
        for _ in self:
            pass
        return self.mismatches

    def __iter__(self) -> Iterator[Decision]:
        self.mismatches, self.n_rounds, self.n_decisions = [], 0, 0
        starts = [place for place, event in enumerate(self.record.events) if event["type"] == "start_kyoku"]
        agreed = False  # whether the table stands where the recorded round before has ended
        for before, events in zip(starts, self.record.rounds(), strict=True):
            self._before, self._events = before, events
            self.n_rounds += 1
            with located(self.record.source, f"event {before + 1}"):
                self._name = round_name(events[0])
            with located(self.record.source, self._name):
                try:
                    self._begin(follows=agreed)
                    yield from self._play()
                    agreed = True
                except _Departure as departure:
                    self._note(departure)
                    agreed = False
        if agreed:
            try:
                self._end_game(self.record.events[-1])
            except _Departure as departure:
                self._note(departure)

    def _begin(self, *, follows: bool) -> None:
        """Start the round as recorded; `follows`: the rules have a say in how it starts."""
        try:
            wall = lay_wall(self._events, self.rules)
        except WallError as error:
            raise self._departure(error.what, at=error.number) from error
        self._n_agreed = 0
        if follows:
            self._columns["wall"][0] = wall
            self._columns["wall_given"] = 1
            self._phase = kernels.proceed(self._raw, 0)
            self._round = RoundReader(self._table)
            try:
                if self._phase == GAME_OVER:
                    raise self._departure("end_game")
                self._compare()
                return
            except _Departure as departure:
                self._note(departure)
                self._n_agreed = 1  # the start is noted already
        self._start(self._events[0], wall)
        self._round = RoundReader(self._table)
        self._round.n_read = self._n_agreed
        self._compare()

    def _start(self, start: Event, wall: list[int]) -> None:
        """Set the table up for a round, whatever came before."""
        self._raw[:] = 0
        table = self._columns
        table["rules"] = self.rules.packed()
        table["viewer"] = NONE
        table["round_wind"] = WINDS.index(start["bakaze"])
        table["dealer"], table["honba"], table["sticks"] = start["oya"], start["honba"], start["kyotaku"]
        table["seat"]["score"] = start["scores"]
        table["wall"][0] = wall
        table["wall_given"] = 1
        kernels.start_at(self._raw, 0)
        self._phase = int(table["phase"][0])

    def _play(self) -> Iterator[Decision]:
        """Answer every menu as recorded until the round is over."""
        while self._phase < ROUND_OVER:
            yield from self._response() if self._phase == RESPONSE else self._turn()
            self._compare()

    def _turn(self) -> Iterator[Decision]:
        """The action of the seat on turn, which must be the next recorded event."""
        seat = int(self._table.turn)
        event = self._events[self._next_place()]
        if event.get("reason") == "kyushukyuhai":
            action = KYUSHU_KYUHAI
        elif event["type"] in _OWN_ACTIONS and event["actor"] == seat:
            action = action_of(self._table, seat, event)
        else:
            raise self._departure(f"seat {seat} is to act")
        return self._answer(seat, action)

    def _next_place(self) -> int:
        """Place of the next recorded event but those that come with an answer: indicators owed, a riichi accepted."""
        place = self._n_agreed
        while self._events[place]["type"] in _CONSEQUENCES:
            place += 1
        return place

    def _response(self) -> Iterator[Decision]:
        """The answers of all seats that may take the tile on offer: those recorded, else passes."""
        taking = self._taking()
        mask = kernels.asked_seats(self._raw, 0)
        asked = [seat for seat in range(SEATS) if mask >> seat & 1]
        for seat in taking.keys() - set(asked):
            raise self._departure(f"seat {seat} may not {ACTION_NAMES[taking[seat]]}")
        by_ron = RON in taking.values()
        for seat in asked:
            unknown = by_ron and seat not in taking and int(self._legal[seat, 0]) & _CALL_BITS
            yield from self._answer(seat, taking.get(seat, PASS), is_known=not unknown)

    def _taking(self) -> dict[int, int]:
        """Who is recorded to take the tile on offer, and by which action."""
        place = self._next_place()
        event = self._events[place]
        if event["type"] in _CALLS:
            return {event["actor"]: action_of(self._table, event["actor"], event)}
        winners = itertools.takewhile(lambda event: event["type"] == "hora", self._events[place:])
        return {event["actor"]: RON for event in winners}

    def _answer(self, seat: int, action: int, *, is_known: bool = True) -> Iterator[Decision]:
        """Give one answer, yielding the decision before."""
        low, high = self._legal[seat].tolist()
        if not (low | high << 64) >> action & 1:
            menu = ", ".join(ACTION_NAMES[legal] for legal in actions_of(low, high))
            raise self._departure(f"seat {seat} may not {ACTION_NAMES[action]}; legal: {menu}")
        if is_known:
            self.n_decisions += 1
            yield Decision(self._raw, seat, action, self._before + self._n_agreed)
        self._phase = kernels.answer(self._raw, 0, seat, action)

    def _compare(self) -> None:
        """Compare what has happened at the table since the last time with the recorded events."""
        for ours in self._round.read():
            recorded = self._events[self._n_agreed]
            if keys := differing_keys(recorded, ours):
                raise self._departure(words(ours, keys), words(recorded, keys))
            self._n_agreed += 1

    def _end_game(self, end: Event) -> None:
        """The game must be over after the last round, with these scores and points; if none are told it may go on."""
        if end["type"] != "end_game" or "scores" not in end:
            return
        self._phase = kernels.proceed(self._raw, 0)
        ours = (self._round if self._phase == GAME_OVER else RoundReader(self._table)).read()[0]
        ours["points"] = self.rules.final_points([int(seat.score) for seat in self._table.seat])
        if keys := differing_keys(end, ours):
            raise self._departure(words(ours, keys), words(end, keys))

    def _departure(self, rules: str, recorded: str = "", at: int | None = None) -> _Departure:
        """The next recorded event, or the one at place `at` of the round, is not what the rules say."""
        place = self._n_agreed if at is None else at
        return _Departure(place, recorded or words(self._events[place]), rules)

    def _note(self, departure: _Departure) -> None:
        number = self._before + departure.place + 1
        self.mismatches.append(Mismatch(self.record.source, self._name, number, departure.recorded, departure.rules))
