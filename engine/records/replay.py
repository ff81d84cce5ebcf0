"""Replay a recorded game on the engine and check each recorded action and event against the rules.

replay = Replay(read_records(path))
for decision in replay:
    train(decision.view, decision.action)
print(replay.n_rounds, replay.mismatches)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import engine.text  # noqa: F401  # tables are shown as text
from engine import table_kernels
from engine.actions import (
    ACTION_NAMES,
    ACTIONS,
    DAIMINKAN,
    KYUSHU_KYUHAI,
    PASS,
    PON,
    PON_RED,
    RON,
    TSUMOGIRI,
    Action,
    actions_of,
)
from engine.common.error_text import ErrorText, error_text
from engine.common.options import printable
from engine.mjai.actions import action_of
from engine.mjai.messages import Message
from engine.mjai.round_events import RoundReader
from engine.records.compare import describe_event, differing_keys
from engine.records.contradictions import PLAYS_ON, find_denial, plays_on_after_tenpai
from engine.records.cut_off import with_open_end
from engine.records.model import NAMED_BY, GameRecord, assumed_rules, at_event, record_errors, round_name
from engine.records.wall import RecordedWalls, WallError
from engine.rules import MAJSOUL, TENHOU, Rules, rules_named
from engine.ryukyoku import UNKNOWN_MJAI
from engine.svg import table_svg
from engine.table import GAME_OVER, N_SEATS, RESPONSE, ROUND_OVER, TABLE, packed_rules, raw_bytes
from engine.tiles import MJAI_TILES, NONE, WINDS

_OWN_ACTIONS = frozenset({"dahai", "reach", "ankan", "kakan", "nukidora", "hora"})
_CALLS = frozenset({"pon", "daiminkan"})
_CONSEQUENCES = frozenset({"dora", "reach_accepted"})
_SHOWN = {"tsumo": "pai", "dora": "dora_marker"}  # events that show a tile of the wall -> the key of the tile
_CALL_BITS = 1 << PON | 1 << PON_RED | 1 << DAIMINKAN


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A difference between record and rules: file, round, number of the event from 1, and what each of them says."""

    source: str
    round: str
    number: int
    recorded: str
    rules: str

    @property
    def line(self) -> ErrorText:
        """The difference in one line."""
        return error_text(
            "mismatch",
            "{file}: {round}: event {n}: recorded {recorded}; the rules say {rules}",
            file=printable(self.source),
            round=self.round,
            n=self.number,
            recorded=self.recorded,
            rules=self.rules,
        )

    def __str__(self) -> str:
        return str(self.line)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A part of a record that contradicts other parts, which agree with the rules: an error of a converter."""

    source: str
    round: str
    number: int
    recorded: str
    elsewhere: str

    def __str__(self) -> str:
        where = f"{printable(self.source)}: {self.round}: event {self.number}"
        return f"{where}: the record contradicts itself: {self.recorded}, but {self.elsewhere}"


@dataclass(frozen=True, slots=True)
class Decision:
    """A recorded action, just before it is applied. The table is live: read it before the next decision."""

    raw: np.ndarray  # live buffer of the table, for engine.kernels: uint8[TABLE.itemsize]
    seat: int
    action: Action
    n_before: int  # the events so far are record.events[:n_before]

    @property
    def table(self) -> np.record:
        """The whole table, hidden tiles included: a live TABLE record, read-only."""
        return self.raw.view(TABLE)[0]

    @property
    def view(self) -> np.record:
        """A copy of the table with everything hidden from the seat blanked."""
        copied = np.zeros(1, dtype=TABLE)
        table_kernels.write_view(self.raw, 0, self.seat, raw_bytes(copied), 0)
        return copied[0]

    def _repr_svg_(self) -> str:
        """Return the view as a picture for notebooks."""
        return table_svg(self.view)

    @property
    def legal(self) -> list[int]:
        """The legal actions, each an `Action`, ascending; a single one if there was no choice."""
        return actions_of(*self.table.legal[self.seat].tolist())


class _Deviation(Exception):  # noqa: N818 - of the record, not an error of the program
    """The event at `index` in its round differs from the one that follows from the rules."""

    def __init__(self, index: int, recorded: str, rules: str) -> None:
        super().__init__(index, recorded, rules)
        self.index, self.recorded, self.rules = index, recorded, rules


def _is_unknown_end(event: Message) -> bool:
    return event["type"] == "ryukyoku" and event.get("reason") == UNKNOWN_MJAI


def _told(ours: Message, keys: list[str]) -> str:
    """Describe an event of ours; where the record's differs, without the tile, which is arbitrary in a filled wall."""
    if keys == ["type"] and ours["type"] in _SHOWN:
        hidden = {key: value for key, value in ours.items() if key != _SHOWN[ours["type"]]}
        text = "{event}, of a tile that the record does not have"
        return error_text("tile_not_recorded", text, event=describe_event(hidden))
    return describe_event(ours, keys)


class Replay:
    """Iterable over the decisions of a recorded game, which checks all its events against the rules.

    Each time a seat is asked is a decision, passes included, except when another seat's ron leaves open whether the
    seat wanted to call the tile. If the record deviates from the rules, a mismatch is added to `mismatches` and the
    rest of the round is skipped; the next round starts as recorded. A result that the rest of the record contradicts is
    added to `contradictions` instead (see `engine.records.contradictions`), and nothing is skipped. Each iteration
    starts from the beginning. Raises RecordError if the record is incomplete, unless it was read as cut off.

    The wall is that of the record's seed if there is one that fits (`walls.n_true`); otherwise unseen tiles fill it in
    ascending order.

    >>> from engine.records.files import read_records
    >>> replay = Replay(read_records("examples/game.mjson"))
    >>> first = next(iter(replay))  # each decision: .seat, .action, .legal, .view, .table
    >>> first.seat, first.action, first.action in first.legal
    (0, <Action 42: nukidora>, True)
    >>> replay.check(), replay.n_rounds  # no mismatch between the record and the rules
    ([], 5)
    """

    def __init__(
        self,
        record: GameRecord,
        rules: Rules | str | None = None,
        round_over: Callable[[np.ndarray], object] | None = None,
    ) -> None:
        """`rules`: rules or the name of a preset, instead of those of the record; if it names none, Tenhou's.

        Their length is then the one that its end shows, see `engine.records.model.assumed_rules`. `round_over` is
        called with the live table, uint8[TABLE.itemsize], after each round that was replayed to the end.
        """
        if not isinstance(record, GameRecord):
            raise TypeError(f"Replay takes a GameRecord, such as read_records(FILE) returns, not {record!r}")
        self.record = record
        self.rules = rules_named(rules or assumed_rules(record))
        self._round_over = round_over
        self.mismatches: list[Mismatch] = []
        self.contradictions: list[Contradiction] = []
        self.results: dict[int, Message] = {}  # index of a win or draw -> the event by the rules, with all keys
        self.n_rounds = 0
        self.n_decisions = 0
        self.walls = RecordedWalls(record, self.rules)
        self._raw = np.zeros(TABLE.itemsize, dtype=np.uint8)
        self._columns: Any = self._raw.view(TABLE)
        self._table: Any = self._columns[0]
        self._legal = self._columns["legal"][0]
        self._phase = GAME_OVER
        self._events: list[Message] = []  # of the current round; compared with the engine's log event by event
        self._name = ""  # of the present round
        self._before = 0  # recorded events before this round
        self._n_agreed = 0  # events of this round that agree with the rules
        self._round = RoundReader(self._table)

    def check(self) -> list[Mismatch]:
        """Replay the whole game; returns the mismatches."""
        for _ in self:
            pass
        return self.mismatches

    def views_and_actions(self) -> tuple[np.ndarray, np.ndarray]:
        """Replay the whole game; returns the view of each decision, TABLE[n], and what was played, int64[n]."""
        views, actions = bytearray(), []
        for decision in self:
            views += decision.view.tobytes()
            actions.append(int(decision.action))
        return np.frombuffer(views, dtype=TABLE), np.array(actions, dtype=np.int64)

    def __iter__(self) -> Iterator[Decision]:
        self.mismatches, self.contradictions, self.n_rounds, self.n_decisions = [], [], 0, 0
        self.walls = RecordedWalls(self.record, self.rules)
        starts = [index for index, event in enumerate(self.record.events) if event["type"] == "start_kyoku"]
        agreed = False  # whether the previous round agreed, so that the table is in the state after it
        for before, events in zip(starts, self.record.rounds(), strict=True):
            self._before, self._events = before, with_open_end(events)
            self.n_rounds += 1
            with record_errors(self.record.source, at_event(before + 1)):
                self._name = round_name({key: events[0][key] for key in NAMED_BY})  # a KeyError if one is missing
            with record_errors(self.record.source, self._name):
                try:
                    self._begin(follows=agreed)
                    yield from self._play()
                    agreed = self._phase >= ROUND_OVER
                    if agreed and self._round_over is not None:
                        self._round_over(self._raw)
                except _Deviation as deviation:
                    self._note(deviation)
                    agreed = False
        if agreed:
            with record_errors(self.record.source, error_text("at_end", "end of the game")):
                try:
                    self._end_game(self.record.events[-1])
                except _Deviation as deviation:
                    self._note(deviation)

    def _begin(self, *, follows: bool) -> None:
        """Start the round as recorded; `follows`: check its start against the end of the previous round."""
        try:
            wall, differs = self.walls.next(self._events)
        except WallError as error:
            raise self._deviation(error.what, at=error.index) from error
        if differs is not None:
            self._contradict(differs.index, describe_event(self._events[differs.index]), f"its seed has {differs.what}")
        self._n_agreed = 0
        if follows:
            self._columns["wall"][0] = wall
            self._columns["wall_given"] = 1
            self._phase = table_kernels.next_round(self._raw, 0)
            self._round = RoundReader(self._table)
            try:
                if self._phase == GAME_OVER:
                    raise self._deviation("end_game")
                self._compare()
                return
            except _Deviation as deviation:
                earlier = self.record.events[: self._before]
                if self._phase == GAME_OVER and self.rules.name == TENHOU.name and plays_on_after_tenpai(earlier):
                    self._contradict(0, describe_event(self._events[0]), PLAYS_ON)
                else:
                    self._note(deviation)
                self._n_agreed = 1  # its start has already been reported
        self._start(self._events[0], wall)
        self._round = RoundReader(self._table)
        self._round.n_read = self._n_agreed
        self._compare()

    def _start(self, start: Message, wall: list[int]) -> None:
        """Set up the table for a round, independent of the previous one."""
        self._raw[:] = 0
        table = self._columns
        table["rules"] = packed_rules(self.rules)
        table["viewer"] = NONE
        table["round_wind"] = WINDS.index(start["bakaze"])
        table["dealer"], table["honba"], table["sticks"] = start["oya"], start["honba"], start["kyotaku"]
        table["seat"]["score"] = start["scores"]
        table["wall"][0] = wall
        table["wall_given"] = 1
        table_kernels.start_round(self._raw, 0)
        self._phase = int(table["phase"][0])

    def _play(self) -> Iterator[Decision]:
        """Apply the recorded actions until the round is over or the record does not say how it continues."""
        while self._phase < ROUND_OVER and not _is_unknown_end(self._events[self._next_index()]):
            yield from self._response() if self._phase == RESPONSE else self._turn()
            self._compare()

    def _turn(self) -> Iterator[Decision]:
        """Apply the action of the seat on turn, which must be the next recorded event."""
        seat = int(self._table.turn)
        index = self._next_index()
        event = self._events[index]
        if self._is_kyushu_kyuhai(seat, event):
            action = KYUSHU_KYUHAI
        elif event["type"] in _OWN_ACTIONS and event["actor"] == seat:
            action = action_of(self._table, seat, event)
            if not self._is_legal(seat, action) and self._is_as_dealt(seat, event):
                action = TSUMOGIRI
                self._events[index] = event | {"tsumogiri": True}
        else:
            raise self._deviation(error_text("seat_acts", "seat {seat} is to act", seat=seat))
        return self._answer(seat, action)

    def _is_kyushu_kyuhai(self, seat: int, event: Message) -> bool:
        """Whether an event declares kyushu kyuhai; libriichi3p has no reasons, but no other draw is an action."""
        if event["type"] != "ryukyoku":
            return False
        return event["reason"] == "kyushukyuhai" if "reason" in event else self._is_legal(seat, KYUSHU_KYUHAI)

    def _is_as_dealt(self, seat: int, event: Message) -> bool:
        """Whether this is the dealer's first discard in a Mahjong Soul game, of the drawn tile but recorded as tedashi.

        There the dealer is dealt 14 tiles, none of which counts as drawn; here the last one is drawn.
        """
        owner = self._table.seat[seat]
        if self.rules.name != MAJSOUL.name or seat != int(self._table.dealer) or owner.n_river:
            return False
        if owner.n_melds or owner.nukidora or event["type"] != "dahai" or event.get("tsumogiri") is not False:
            return False
        return MJAI_TILES.get(event["pai"]) == int(self._table.drawn)

    def _next_index(self) -> int:
        """Index of the next recorded event that is an action or a result: not a dora or reach_accepted."""
        index = self._n_agreed
        while self._events[index]["type"] in _CONSEQUENCES:
            index += 1
        return index

    def _response(self) -> Iterator[Decision]:
        """Apply the responses to the tile on offer: those recorded, and a pass of each other asked seat."""
        responses = self._responses()
        mask = table_kernels.asked_seats(self._raw, 0)
        asked = [seat for seat in range(N_SEATS) if mask >> seat & 1]
        for seat in responses.keys() - set(asked):
            name = ACTION_NAMES[responses[seat]]
            raise self._deviation(error_text("seat_asked", "seat {seat} may not {action}", seat=seat, action=name))
        by_ron = RON in responses.values()
        for seat in asked:
            unknown = by_ron and seat not in responses and int(self._legal[seat, 0]) & _CALL_BITS
            yield from self._answer(seat, responses.get(seat, PASS), is_known=not unknown)

    def _responses(self) -> dict[int, int]:
        """The recorded calls and wins on the tile on offer: seat -> action."""
        index = self._next_index()
        event = self._events[index]
        if event["type"] in _CALLS:
            return {event["actor"]: action_of(self._table, event["actor"], event)}
        winners = itertools.takewhile(lambda event: event["type"] == "hora", self._events[index:])
        return {event["actor"]: RON for event in winners}

    def _answer(self, seat: int, action: int, *, is_known: bool = True) -> Iterator[Decision]:
        """Apply one action, after yielding the decision."""
        if not self._is_legal(seat, action):
            menu = ", ".join(ACTION_NAMES[legal] for legal in actions_of(*self._legal[seat].tolist()))
            text, name = "seat {seat} may not {action}; legal: {legal}", ACTION_NAMES[action]
            raise self._deviation(error_text("seat_may_not", text, seat=seat, action=name, legal=menu))
        if is_known:
            self.n_decisions += 1
            yield Decision(self._raw, seat, ACTIONS[action], self._before + self._n_agreed)
        self._phase = table_kernels.apply_action(self._raw, 0, seat, action)

    def _is_legal(self, seat: int, action: int) -> bool:
        """Whether a seat may play an action now."""
        low, high = self._legal[seat].tolist()
        return bool((low | high << 64) >> action & 1)

    def _compare(self) -> None:
        """Compare the events at the table since the last call with the recorded ones."""
        for ours in self._round.read():
            recorded = self._events[self._n_agreed]
            if _is_unknown_end(recorded):
                return
            if keys := differing_keys(recorded, ours):
                denial = find_denial(recorded, ours, keys, self._scores_after())
                if denial is None:
                    raise self._deviation(_told(ours, keys), describe_event(recorded, keys))
                self._contradict(self._n_agreed, describe_event(recorded, denial.keys), denial.elsewhere)
            if ours["type"] in ("hora", "ryukyoku"):
                self.results[self._before + self._n_agreed] = ours
            self._n_agreed += 1

    def _scores_after(self) -> list[int] | None:
        """Return the scores after this round, if the record states them elsewhere and the rules agree."""
        after = self._before + len(self._events)
        event = self.record.events[after] if after < len(self.record.events) else {}
        scores: list[int] | None = event.get("scores")
        ours = [int(seat.score) for seat in self._table.seat]
        return scores if self._phase >= ROUND_OVER and scores == ours else None

    def _end_game(self, end: Message) -> None:
        """Check that the game is over after the last round, with the recorded scores and points; only with scores."""
        if end["type"] != "end_game" or "scores" not in end:
            return
        self._phase = table_kernels.next_round(self._raw, 0)
        ours = (self._round if self._phase == GAME_OVER else RoundReader(self._table)).read()[0]
        ours["points"] = self.rules.final_points([int(seat.score) for seat in self._table.seat])
        if keys := differing_keys(end, ours):
            raise self._deviation(describe_event(ours, keys), describe_event(end, keys))

    def _deviation(self, rules: str, recorded: str = "", at: int | None = None) -> _Deviation:
        """The deviation of the next recorded event, or of the one with index `at` in the round."""
        index = self._n_agreed if at is None else at
        return _Deviation(index, recorded or describe_event(self._events[index]), rules)

    def _contradict(self, index: int, recorded: str, elsewhere: str) -> None:
        """Note that the record contradicts the event at this index in the round."""
        number = self._before + index + 1
        self.contradictions.append(Contradiction(self.record.source, self._name, number, recorded, elsewhere))

    def _note(self, deviation: _Deviation) -> None:
        number = self._before + deviation.index + 1
        self.mismatches.append(Mismatch(self.record.source, self._name, number, deviation.recorded, deviation.rules))
