"""This engine and RiichiEnv (0.4.11) as two sides that can play the same round: one leads, the other follows.

A round is dealt from a wall, played by the leading side, and played again by the following one with the wall laid out
its way. Menus are compared at each decision, events and the state after the round at its end. Both sides speak our
language: actions of `engine.actions`, mjai names of tiles, and seats 0-2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from riichienv import Action3P, ActionType, GameRule, RiichiEnv

from engine import actions, entries, mjai
from engine.rules import START_POINTS, TENHOU
from engine.table import DEALT, DORA_AT, GAME_OVER, LAST_REPLACEMENT, ROUND_OVER, TABLE, URA_AT, WALL_SIZE
from engine.tiles import KIND_OF, N_KINDS, N_TILES, NONE, SANMA_KINDS, from_tile136
from tests.engine.drivers import Chooser

Menus = dict[int, frozenset[int]]
Answers = dict[int, int]
Event = tuple[Any, ...]

ALL_IDS = [4 * int(kind) + copy for kind in SANMA_KINDS for copy in range(4)]
REASONS = {"exhaustive_draw": "fanpai", "kyushu_kyuhai": "kyushukyuhai", "suukansansen": "sukaikan"}
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


# Walls ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Used:
    """How much of a wall a round used: live draws, replacement draws, indicators shown."""

    live: int
    replacements: int
    indicators: int


def used_of(events: Iterable[Event]) -> Used:
    """Read off the events of a round what it used of its wall."""
    names = [event[0] for event in events]
    draws, replacing = names.count("tsumo"), False
    replacements = 0
    for name in names:
        if name == "tsumo":
            replacements += replacing
            replacing = False
        elif name != "dora":
            replacing = name in ("ankan", "kakan", "daiminkan", "nukidora")
    return Used(draws - replacements, replacements, 1 + names.count("dora"))


def wall_places(used: Used) -> list[int]:
    """Place in RiichiEnv's wall, in the order it is handed over, of each place of ours.

    It deals four by four, draws from the end that is dealt from, takes replacements from the other end (0, 1, 2 …) and
    keeps indicators at 8, 10, … and ura indicators at 9, 11, … from there. Its last live tiles lie where the fourth and
    fifth indicators are, ours where the fifth replacement and on are: no round uses one tile for both, and what a round
    did not use is paired as it comes.
    """
    last = WALL_SIZE - 1
    dealt = [12 * (i // 4) + 4 * seat + i % 4 if i < 12 else 36 + seat for seat in range(3) for i in range(13)]
    places = dict(enumerate(dealt))
    places |= {DEALT + i: DEALT + i for i in range(used.live)}
    places |= {LAST_REPLACEMENT - i: last - i for i in range(used.replacements)}
    places |= {DORA_AT + i: last - 8 - 2 * i for i in range(used.indicators)}
    places |= {URA_AT + i: last - 9 - 2 * i for i in range(used.indicators)}
    assert len(set(places.values())) == len(places), f"one tile used twice: {used}"
    free = (place for place in range(WALL_SIZE) if place not in set(places.values()))
    return [places[i] if i in places else next(free) for i in range(WALL_SIZE)]


def ids_of(wall: Iterable[int]) -> list[int]:
    """Different numbers 0-135 for the tiles of a wall of tile37."""
    left = {tile: [number for number in ALL_IDS if from_tile136(number) == tile] for tile in range(N_TILES)}
    return [left[int(tile)].pop() for tile in wall]


def their_wall(wall: Sequence[int], used: Used) -> list[int]:
    """Our wall laid out for RiichiEnv."""
    numbers, laid = ids_of(wall), [0] * WALL_SIZE
    for place, number in zip(wall_places(used), numbers, strict=True):
        laid[place] = number
    return laid


def our_wall(numbers: Sequence[int], used: Used) -> list[int]:
    """RiichiEnv's wall laid out for us."""
    return [from_tile136(numbers[place]) for place in wall_places(used)]


# Events ---------------------------------------------------------------------------------------------------------------


def normal_event(message: dict[str, Any]) -> Event:
    """What both engines say in an event, with our words."""
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
        ura = message["uradora_markers"] if "uradora_markers" in message else message["ura_markers"]
        return (name, actor, message["target"], tuple(message["deltas"]), tuple(ura))
    if name == "ryukyoku":
        return (name, REASONS.get(message["reason"], message["reason"]), tuple(message["deltas"]))
    if name == "dora":
        return (name, message["dora_marker"])
    return ("nukidora" if name == "kita" else name, actor, *([message["pai"]] if name == "tsumo" else []))


def normal_events(messages: Iterable[dict[str, Any]]) -> list[Event]:
    """The events of the first round in a list of messages."""
    found: list[Event] = []
    for message in messages:
        if message["type"] == "start_kyoku" and found:
            break
        if message["type"] not in NOT_COMPARED:
            found.append(normal_event(message))
    return found


# The two sides --------------------------------------------------------------------------------------------------------


class Ours:
    """This engine."""

    def __init__(self) -> None:
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
        self._table["rules"] = TENHOU.packed()
        self._table["seat"]["score"][0] = state.scores
        self._table["wall"][0] = wall
        t.viewer, t.wall_given = NONE, 1
        t.round_wind, t.dealer, t.honba, t.sticks = state.round_wind, state.dealer, state.honba, state.sticks
        entries.start_at(self.raw, 0)
        self.ended = False

    def menus(self) -> Menus:
        asked = entries.asked_seats(self.raw, 0)
        return {seat: self._legal(seat) for seat in range(3) if asked >> seat & 1}

    def _legal(self, seat: int) -> frozenset[int]:
        return frozenset(self._menu[: entries.menu(self.raw, 0, seat, self._menu)].tolist())

    def hand(self, seat: int) -> tuple[Sequence[int], int, int]:
        p = self._table["seat"][0, seat]
        return p["hand"], int(p["n_melds"]), int(self._table["drawn"][0])

    def act(self, answers: Answers) -> None:
        for seat, action in answers.items():
            self.ended = entries.answer(self.raw, 0, seat, action) == ROUND_OVER

    def events(self) -> list[Event]:
        return normal_events(mjai.messages(self.table))

    def after(self) -> State:
        over = entries.proceed(self.raw, 0) == GAME_OVER
        t = self.table
        scores = tuple(int(seat.score) for seat in t.seat)
        return State(int(t.round_wind), int(t.dealer), int(t.honba), int(t.sticks), scores, over)


class Theirs:
    """RiichiEnv."""

    def __init__(self) -> None:
        self.env = RiichiEnv(game_mode="3p-red-half", rule=GameRule.default_tenhou())
        self.ended = False
        self._observations: dict[int, Any] = {}
        self._choices: dict[int, dict[int, Action3P]] = {}
        self._round = (0, 0, 0)

    def begin(self, state: State, wall: list[int]) -> None:
        self._observations = self.env.reset(
            oya=state.dealer, round_wind=state.round_wind, honba=state.honba, kyotaku=state.sticks,
            scores=list(state.scores), wall=list(wall),
        )  # fmt: skip
        self._round = self._present_round()
        self.ended = False

    def _present_round(self) -> tuple[int, int, int]:
        return self.env.round_wind, self.env.oya, self.env.honba

    def menus(self) -> Menus:
        drawn = self.env.drawn_tile
        self._choices = {
            seat: {our_action(action, drawn): action for action in legal}
            for seat, observation in self._observations.items()
            if (legal := observation.legal_actions())
        }
        return {seat: frozenset(choices) for seat, choices in self._choices.items()}

    def hand(self, seat: int) -> tuple[Sequence[int], int, int]:
        counts = [0] * N_KINDS
        for number in self.env.hands[seat]:
            counts[number // 4] += 1
        drawn = self.env.drawn_tile
        return counts, len(self.env.melds[seat]), NONE if drawn is None else from_tile136(drawn)

    def act(self, answers: Answers) -> None:
        self._observations = self.env.step({seat: self._choices[seat][action] for seat, action in answers.items()})
        self.ended = self.env.is_done or self._present_round() != self._round

    def events(self) -> list[Event]:
        return normal_events(self.env.mjai_log)

    def after(self) -> State:
        env = self.env
        return State(env.round_wind, env.oya, env.honba, env.riichi_sticks, tuple(env.scores()), env.is_done)


PLAIN = {
    ActionType.RIICHI: actions.RIICHI,
    ActionType.DAIMINKAN: actions.DAIMINKAN,
    ActionType.KITA: actions.NUKIDORA,
    ActionType.TSUMO: actions.TSUMO,
    ActionType.RON: actions.RON,
    ActionType.KYUSHU_KYUHAI: actions.NINE_TERMINALS,
    ActionType.PASS: actions.PASS,
}
PLAIN_BY_NUMBER = {int(kind): action for kind, action in PLAIN.items()}
DISCARD, PON, ANKAN, KAKAN = (
    int(kind) for kind in (ActionType.DISCARD, ActionType.PON, ActionType.ANKAN, ActionType.KAKAN)
)


def our_action(action: Action3P, drawn: int | None) -> int:
    """Our number of one of RiichiEnv's actions; `drawn` is the tile (0-135) just drawn."""
    kind = int(action.action_type)
    if kind == DISCARD:
        return actions.TSUMOGIRI if action.tile == drawn else actions.DISCARD + from_tile136(action.tile)
    if kind == PON:
        red = any(from_tile136(number) >= N_KINDS for number in action.consume_tiles)
        return actions.PON_RED if red else actions.PON
    if kind == ANKAN:
        return actions.ANKAN + int(KIND_OF[from_tile136(action.consume_tiles[0])])
    if kind == KAKAN:
        return actions.KAKAN + action.tile // 4
    return PLAIN_BY_NUMBER[kind]


# Playing --------------------------------------------------------------------------------------------------------------


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
