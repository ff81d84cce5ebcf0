"""The interface of an engine in differential tests: the state before a round, menus, events, the state after it.

`Ours` is this engine, `tests.support.riichienv_side.Theirs` is RiichiEnv. Both use the numbers of `engine.actions`,
mjai names of tiles, and seats 0-2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from engine import actions, table_kernels
from engine.mjai.round_events import round_messages
from engine.rules import START_POINTS, TENHOU, Rules
from engine.table import GAME_OVER, ROUND_OVER, TABLE, packed_rules
from engine.tiles import NONE
from tests.support.players import Chooser

Menus = dict[int, frozenset[int]]
Answers = dict[int, int]
Event = tuple[Any, ...]

NOT_COMPARED = ("start_game", "end_kyoku", "end_game")


@dataclass(frozen=True)
class State:
    """Where a game stands between two rounds."""

    round_wind: int
    dealer: int
    honba: int
    sticks: int
    scores: tuple[int, ...]
    over: bool = False


FIRST_ROUND = State(0, 0, 0, 0, (START_POINTS,) * 3)


@dataclass
class Decision:
    """Seats asked at the same time, their menus and what they answered; `table` is our table then, where we led."""

    menus: Menus
    answers: Answers
    table: np.ndarray | None = None


@dataclass
class Round:
    """One round as its leader played it."""

    state: State
    wall: list[int]  # in the layout of its leader
    decisions: list[Decision] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    after: State | None = None


class Side(Protocol):
    """An engine at the beginning, in the middle and at the end of one round."""

    ended: bool

    def begin(self, state: State, wall: list[int]) -> None: ...
    def menus(self) -> Menus: ...
    def hand(self, seat: int) -> tuple[Sequence[int], int, int]: ...
    def act(self, answers: Answers) -> None: ...
    def events(self) -> list[Event]: ...
    def after(self) -> State: ...


def normal_event(message: dict[str, Any]) -> Event:
    """What every engine says in an event, in an order of its own."""
    name, actor = message["type"], message.get("actor")
    if name == "start_kyoku":
        keys = ("bakaze", "kyoku", "honba", "kyotaku", "oya", "dora_marker")
        hands = tuple(tuple(sorted(hand)) for hand in message["tehais"])
        return (name, *(message[key] for key in keys), tuple(message["scores"]), hands)
    if name in ("pon", "daiminkan"):
        return (name, actor, message["target"], message["pai"], tuple(sorted(message["consumed"])))
    if name == "ankan":
        return (name, actor, tuple(sorted(message["consumed"])))
    if name == "kakan":
        return (name, actor, message["pai"], tuple(sorted(message["consumed"])))
    if name == "dahai":
        return (name, actor, message["pai"], message["tsumogiri"])
    if name == "hora":
        return (name, actor, message["target"], tuple(message["deltas"]), tuple(message["uradora_markers"]))
    if name == "ryukyoku":
        return (name, message["reason"], tuple(message["deltas"]))
    if name == "dora":
        return (name, message["dora_marker"])
    return (name, actor, message["pai"]) if name == "tsumo" else (name, actor)


def normal_events(messages: Iterable[dict[str, Any]]) -> list[Event]:
    """The events of the first round in a list of messages."""
    found: list[Event] = []
    for message in messages:
        if message["type"] == "start_kyoku" and found:
            break
        if message["type"] not in NOT_COMPARED:
            found.append(normal_event(message))
    return found


class Ours:
    """This engine."""

    def __init__(self, rules: Rules = TENHOU) -> None:
        self.rules = rules
        self.raw = np.zeros(TABLE.itemsize, dtype=np.uint8)
        self._table = self.raw.view(TABLE)
        self._menu = np.zeros(actions.N_ACTIONS, dtype=np.int64)
        self.ended = False

    @property
    def table(self) -> np.record:
        return self._table[0]

    def begin(self, state: State, wall: list[int]) -> None:
        t = self.table
        self.raw[:] = 0
        self._table["rules"] = packed_rules(self.rules)
        self._table["seat"]["score"][0] = state.scores
        self._table["wall"][0] = wall
        t.viewer, t.wall_given = NONE, 1
        t.round_wind, t.dealer, t.honba, t.sticks = state.round_wind, state.dealer, state.honba, state.sticks
        table_kernels.start_round(self.raw, 0)
        self.ended = False

    def menus(self) -> Menus:
        asked = table_kernels.asked_seats(self.raw, 0)
        return {seat: self._legal(seat) for seat in range(3) if asked >> seat & 1}

    def _legal(self, seat: int) -> frozenset[int]:
        return frozenset(self._menu[: table_kernels.legal_actions(self.raw, 0, seat, self._menu)].tolist())

    def hand(self, seat: int) -> tuple[Sequence[int], int, int]:
        p = self._table["seat"][0, seat]
        return p["hand"], int(p["n_melds"]), int(self._table["drawn"][0])

    def act(self, answers: Answers) -> None:
        for seat, action in answers.items():
            self.ended = table_kernels.apply_action(self.raw, 0, seat, action) == ROUND_OVER

    def events(self) -> list[Event]:
        return normal_events(round_messages(self.table))

    def after(self) -> State:
        over = table_kernels.next_round(self.raw, 0) == GAME_OVER
        t = self.table
        scores = tuple(int(seat.score) for seat in t.seat)
        return State(int(t.round_wind), int(t.dealer), int(t.honba), int(t.sticks), scores, over)


def lead(side: Side, state: State, wall: list[int], choose: Chooser) -> Round:
    """Let `side` play a round from `state`, asking `choose` for every decision."""
    played = Round(state, wall)
    side.begin(state, wall)
    while not side.ended:
        menus = side.menus()
        answers = {seat: choose(*side.hand(seat), sorted(menu)) for seat, menu in menus.items()}
        table = side.raw.copy() if isinstance(side, Ours) else None
        played.decisions.append(Decision(menus, answers, table))
        side.act(answers)
    played.events = side.events()
    played.after = side.after()
    return played
