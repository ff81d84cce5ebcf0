"""The messages of a round that lead to a position: rivers say who did what, and this finds the order of it.

A seat calls the first discard that its next call fits; where that was another one, the discard is marked as called.
The order of the seat's own draws is not known, and no bot looks at it: such draws are tiles that it still holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.common.error_text import error_text, line_of
from engine.mjai.kinds import HAND_SIZE, HIDDEN_TILE
from engine.mjai.messages import Message, start_game, start_kyoku, tile_name
from engine.mjai.player_state import PlayerState
from engine.positions.notation import (
    ANKAN,
    CALLS,
    DISCARD,
    NUKIDORA,
    PON,
    RIICHI,
    PositionError,
    Step,
)
from engine.positions.position import Position
from engine.rules import N_SEATS, RIICHI_STICK, START_POINTS, TOTAL_POINTS
from engine.table import OFFER_ANKAN, OFFER_DISCARD, RESPONSE
from engine.tiles import KIND_OF, WINDS, wind_text

NEVER_REACHED = (
    "{step} is never reached: after what comes before it in the rivers, {turn} is to move; check what is missing in "
    "the river of {turn}, and calls"
)


class History:
    """Plays the steps of the rivers, in turn order from East. Seats are numbered as winds: 0 is East."""

    def __init__(self, position: Position) -> None:
        self._dealer = position.dealer
        self._own = WINDS.index(position.seat)
        self._steps = position.steps
        self._next = [0] * N_SEATS  # index of each seat's next step
        self._marked = {step.tiles[0] for steps in self._steps for step in steps if step.called}
        self._riichi = [False] * N_SEATS
        self._answers = len(position.tiles) % 3 == 1  # the hand answers a tile of another seat
        self._melds: list[dict[int, Step]] = [{} for _ in range(N_SEATS)]  # pons by kind, for kakans
        self.accepted = [0] * N_SEATS  # riichi sticks paid
        self.messages: list[Message] = []
        self._turn, self._drawing = 0, True
        while self._advance():
            pass
        self._check_end()

    def _step(self, seat: int) -> Step | None:
        """The next step of a seat."""
        steps = self._steps[seat]
        return steps[self._next[seat]] if self._next[seat] < len(steps) else None

    def _advance(self) -> bool:
        """Play the next step; False where the position is reached."""
        seat = self._turn
        if self._drawing:
            if self._answers and self.messages and not self._left():
                return False
            self._draw(seat)
        step = self._step(seat)
        if step is None:
            return False
        self._next[seat] += 1
        if step.what == RIICHI:
            self._riichi[seat] = True
            self._tell("reach", seat)
        elif step.what == DISCARD:
            self._discard(seat, step)
        elif step.what in CALLS:
            why = "{step}: nobody has just discarded that tile"
            raise PositionError(self._river(seat), error_text("call_of_nothing", why, step=str(step)))
        else:
            self._declare(seat, step)
        return True

    def _left(self) -> int:
        """How many steps have not been played."""
        return sum(len(steps) for steps in self._steps) - sum(self._next)

    def _tell(self, name: str, seat: int, **keys: Any) -> None:
        self.messages.append({"type": name, "actor": self.seat_of(seat), **keys})

    def seat_of(self, wind: int) -> int:
        """The seat of a wind, as mjai counts."""
        return (self._dealer + wind) % N_SEATS

    def _draw(self, seat: int) -> None:
        self._drawing = False
        self._tell("tsumo", seat, pai=HIDDEN_TILE)

    def _discard(self, seat: int, step: Step) -> None:
        (tile,) = step.tiles
        declares = self.messages[-1]["type"] == "reach"
        drawn_before = self.messages[-1]["type"] == "tsumo" or (declares and self.messages[-2]["type"] == "tsumo")
        tsumogiri = step.tsumogiri or (self._riichi[seat] and not declares)
        if tsumogiri and not drawn_before:
            why = "{step}: after a pon nothing was drawn"
            raise PositionError(self._river(seat), error_text("tsumogiri_after_pon", why, step=str(step)))
        self._tell("dahai", seat, pai=tile_name(tile), tsumogiri=tsumogiri)
        if declares and (self._left() or not self._answers):
            self._tell("reach_accepted", seat)
            self.accepted[seat] = RIICHI_STICK
        caller = self._caller(seat, step)
        self._turn, self._drawing = (seat + 1) % N_SEATS, True
        if caller is not None:
            self._call(caller, seat, tile)

    def _caller(self, giver: int, discard: Step) -> int | None:
        """Who calls a discard."""
        (tile,) = discard.tiles
        if not discard.called and tile in self._marked:
            return None
        for seat in range(N_SEATS):
            step = self._step(seat)
            if seat != giver and step is not None and step.what in CALLS and step.tiles[0] == tile:
                return seat
        if discard.called:
            why = "{step}: no other seat calls it next"
            raise PositionError(self._river(giver), error_text("not_called", why, step=str(discard)))
        return None

    def _call(self, seat: int, giver: int, tile: int) -> None:
        step = self._steps[seat][self._next[seat]]
        self._next[seat] += 1
        name = "pon" if step.what == PON else "daiminkan"
        consumed = [tile_name(each) for each in step.tiles[1:]]
        self._tell(name, seat, target=self.seat_of(giver), pai=tile_name(tile), consumed=consumed)
        self._melds[seat][int(KIND_OF[tile])] = step
        self._turn, self._drawing = seat, step.what != PON

    def _declare(self, seat: int, step: Step) -> None:
        """An ankan, kakan or north."""
        if self.messages[-1]["type"] != "tsumo":
            why = "{step}: it needs a draw before it"
            raise PositionError(self._river(seat), error_text("no_draw", why, step=str(step)))
        if step.what == NUKIDORA:
            self._tell("nukidora", seat, pai="N")
        elif step.what == ANKAN:
            self._tell("ankan", seat, consumed=[tile_name(tile) for tile in step.tiles])
        else:
            (tile,) = step.tiles
            pon = self._melds[seat].get(int(KIND_OF[tile]))
            if pon is None:
                why = "{step}: there is no pon of {tile} before it"
                raise PositionError(
                    self._river(seat), error_text("kakan_alone", why, step=str(step), tile=tile_name(tile))
                )
            self._tell("kakan", seat, pai=tile_name(tile), consumed=[tile_name(each) for each in sorted(pon.tiles)])
        self._drawing = True

    def _river(self, seat: int) -> str:
        return f"river of {WINDS[seat]}"

    def _check_end(self) -> None:
        """Raise PositionError unless all steps are played, and the seat is to move."""
        turn, own = wind_text(WINDS[self._turn]), wind_text(WINDS[self._own])
        for seat in range(N_SEATS):
            step = self._step(seat)
            if step is not None:
                line = error_text("never_reached", NEVER_REACHED, step=str(step), turn=turn)
                raise PositionError(self._river(seat), line)
        if not self._answers and self._turn != self._own:
            why = "after these rivers {turn} is to move, and not {seat}: a discard is missing"
            raise PositionError(self._river(self._turn), error_text("turn_of_other", why, turn=turn, seat=own))


def own_draws(messages: list[Message], seat: int, tiles: list[int], n_melds: int) -> list[str]:
    """Fill in what `seat` has drawn, backwards from the `tiles` that it holds; returns what it was dealt.

    Raises PositionError for a hand of another size.
    """
    hand = [tile_name(tile) for tile in tiles]
    own = [message for message in messages if message.get("actor") == seat]
    last = messages[-1] if messages else {"type": "none"}
    holds_draw = bool(own) and own[-1]["type"] in ("tsumo", "reach", "pon") and last.get("actor") == seat
    wanted = HAND_SIZE - 3 * n_melds + holds_draw
    if len(hand) != wanted:
        raise hand_size_error(len(hand), wanted, n_melds, holds_draw)
    drawn: str | None = hand[-1] if holds_draw else None
    for message in reversed(own):
        if message["type"] == "tsumo":
            message["pai"] = drawn if drawn is not None else hand[0]
            hand.remove(message["pai"])
            drawn = None
        elif message["type"] == "dahai":
            drawn = message["pai"] if message["tsumogiri"] else hand[0]
            hand.append(message["pai"])
        elif message["type"] in ("ankan", "kakan", "nukidora"):
            drawn = message.get("pai") or message["consumed"][0]
            hand += [message["pai"]] if "pai" in message else message["consumed"]
        elif message["type"] in ("pon", "daiminkan"):
            drawn = None
            hand += message["consumed"]
    return hand


def hand_size_error(n: int, wanted: int, n_melds: int, holds_draw: bool) -> PositionError:
    """The error of a hand with `n` tiles instead of those `wanted`."""
    why = "it has {n} tiles, it must have {wanted} beside {melds} melds, "
    if holds_draw:
        why += "the last of them the tile just drawn"
        return PositionError("hand", error_text("hand_size", why, n=n, wanted=wanted, melds=n_melds))
    why += "or one more where it has drawn"
    return PositionError("hand", error_text("hand_size_waiting", why, n=n, wanted=wanted, melds=n_melds))


def start(position: Position, accepted: list[int], seat_of: Callable[[int], int]) -> tuple[list[int], int]:
    """Points of each seat at the start of the round, and the riichi sticks then. Raises PositionError."""
    points = [START_POINTS] * N_SEATS
    for wind in range(N_SEATS):
        if position.scores is not None:
            points[seat_of(wind)] = position.scores[wind] + accepted[wind]
    missing = TOTAL_POINTS - sum(points)
    if missing < 0:
        why = "those in riichi have paid their sticks: the points are too many by as much"
        raise PositionError("scores", error_text("sticks_paid", why))
    return points, missing // RIICHI_STICK


def needs_indicator(view: Any, message: Message) -> bool:
    """Whether a dora indicator is shown before a message."""
    if message["type"] == "dahai":
        return bool(view["pending_indicators"] > 0)
    if message["type"] != "tsumo" or view["phase"] != RESPONSE or view["offer_type"] == OFFER_DISCARD:
        return False
    of_ankan = view["offer_type"] == OFFER_ANKAN and view["n_indicators"] <= view["n_kans"]
    return bool(view["offer"] >= 0 and (view["pending_indicators"] > 0 or of_ankan))


def told(position: Position) -> tuple[list[Message], list[Message]]:
    """How the round begins, and what the rivers then say, without dora indicators. Raises PositionError."""
    history = History(position)
    viewer, indicator = position.viewer, tile_name(position.indicators[0])
    melds = [m for m in history.messages if m.get("actor") == viewer and m["type"] in ("pon", "daiminkan", "ankan")]
    dealt = own_draws(history.messages, viewer, position.tiles, len(melds))
    points, sticks = start(position, history.accepted, history.seat_of)
    hands = [[HIDDEN_TILE] * HAND_SIZE for _ in range(N_SEATS)]
    hands[viewer] = dealt
    index = 4 * WINDS.index(position.round[0]) + position.dealer
    beginning = [
        start_game([f"seat {seat}" for seat in range(N_SEATS)], position.game_rules) | {"id": viewer},
        start_kyoku(index, position.honba, sticks, indicator, points, hands),
    ]
    return beginning, history.messages


def replayed(position: Position) -> tuple[PlayerState, list[Message]]:
    """The state of the seat at a position with rivers, and the messages that it was sent. Raises PositionError."""
    messages, others = told(position)
    viewer, indicators = position.viewer, [tile_name(tile) for tile in position.indicators]
    state = PlayerState(position.game_rules)
    for message in messages:
        apply(state, message, "hand")
    left = indicators[1:]
    for message in others:
        wind = WINDS[(message["actor"] - position.dealer) % N_SEATS]
        field = "hand" if message["actor"] == viewer else f"river of {wind}"
        while needs_indicator(state.view, message):
            if not left:
                raise kans_more(len(indicators))
            dora = {"type": "dora", "dora_marker": left.pop(0)}
            apply(state, dora, "dora")
            messages.append(dora)
        apply(state, message, field)
        messages.append(message)
    if left:
        why = "{n} indicators are {more} more than there are for the kans"
        raise PositionError("dora", error_text("kans_fewer", why, n=len(indicators), more=len(left)))
    return state, messages


def kans_more(n: int) -> PositionError:
    """The error of more kans than `n` indicators tell of."""
    return PositionError("dora", error_text("kans_more", "there are more kans than the {n} indicators tell of", n=n))


def apply(state: PlayerState, message: Message, field: str) -> None:
    """Apply a message. Raises PositionError."""
    try:
        state.update(message)
    except ValueError as error:
        raise PositionError(field, line_of(error)) from None
