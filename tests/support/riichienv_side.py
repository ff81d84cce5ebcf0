"""RiichiEnv (0.4.11) as a side that can play the rounds this engine plays: walls, actions, events in our words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from riichienv import Action3P, ActionType, GameRule, RiichiEnv

from engine import actions
from engine.table import DEALT, DORA_AT, REPLACEMENT_AT, URA_AT, WALL_SIZE
from engine.tiles import KIND_OF, N_KINDS, N_TILES, NONE, SANMA_KINDS, from_tile136
from tests.support.sides import Answers, Event, Menus, State, normal_events

ALL_IDS = [4 * int(kind) + copy for kind in SANMA_KINDS for copy in range(4)]
REASONS = {"exhaustive_draw": "fanpai", "kyushu_kyuhai": "kyushukyuhai", "suukansansen": "sukaikan"}


# Walls ----------------------------------------------------------------------------------------------------------------


def their_indices(events: Iterable[Event]) -> list[int]:
    """For each index of our wall that in RiichiEnv's, in the order in which it is passed to RiichiEnv.

    RiichiEnv deals four tiles at a time, takes replacements in order from the other end, and has each ura indicator
    before its indicator. The fourth and fifth of both, if `events` show them, lie where the last live tiles were.
    """
    last, n_indicators = WALL_SIZE - 1, 1 + sum(event[0] == "dora" for event in events)
    dealt = [12 * (i // 4) + 4 * seat + i % 4 if i < 12 else 36 + seat for seat in range(3) for i in range(13)]
    indices = [*dealt, *range(DEALT, WALL_SIZE)]
    for i, ours in enumerate(REPLACEMENT_AT.tolist()):
        indices[ours] = last - i
    for dora, ura in zip(DORA_AT[: max(n_indicators, 3)].tolist(), URA_AT.tolist()):
        indices[dora], indices[ura] = ura, dora
    return indices


def ids_of(wall: Iterable[int]) -> list[int]:
    """Different numbers 0-135 for the tiles of a wall of tile37."""
    left = {tile: [number for number in ALL_IDS if from_tile136(number) == tile] for tile in range(N_TILES)}
    return [left[int(tile)].pop() for tile in wall]


def their_wall(wall: Sequence[int], events: Iterable[Event] = ()) -> list[int]:
    """Our wall laid out for RiichiEnv, for a round with these `events`."""
    numbers, laid = ids_of(wall), [0] * WALL_SIZE
    for index, number in zip(their_indices(events), numbers, strict=True):
        laid[index] = number
    return laid


def our_wall(numbers: Sequence[int], events: Iterable[Event]) -> list[int]:
    """RiichiEnv's wall laid out for us, for a round with these `events`."""
    return [from_tile136(numbers[index]) for index in their_indices(events)]


# The engine -----------------------------------------------------------------------------------------------------------


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
        return normal_events(map(in_our_words, self.env.mjai_log))

    def after(self) -> State:
        env = self.env
        return State(env.round_wind, env.oya, env.honba, env.riichi_sticks, tuple(env.scores()), env.is_done)


def in_our_words(message: dict[str, Any]) -> dict[str, Any]:
    """One of RiichiEnv's messages with the names we use."""
    if message["type"] == "hora":
        return message | {"uradora_markers": message["ura_markers"]}
    if message["type"] == "ryukyoku":
        return message | {"reason": REASONS.get(message["reason"], message["reason"])}
    return message | {"type": "nukidora"} if message["type"] == "kita" else message


PLAIN = {
    ActionType.RIICHI: actions.RIICHI,
    ActionType.DAIMINKAN: actions.DAIMINKAN,
    ActionType.KITA: actions.NUKIDORA,
    ActionType.TSUMO: actions.TSUMO,
    ActionType.RON: actions.RON,
    ActionType.KYUSHU_KYUHAI: actions.KYUSHU_KYUHAI,
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
