"""A seat's view, rebuilt from the mjai messages that the seat receives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Importing these two registers how a table is shown.
import engine.svg
import engine.text  # noqa: F401
from engine import events, table_kernels
from engine.actions import ACTIONS, N_ACTIONS, RIICHI, TSUMOGIRI
from engine.common.complete import require_rows
from engine.common.error_text import error_text
from engine.mjai.actions import action_of, read_consumed, tile_in
from engine.mjai.kinds import HAND_SIZE
from engine.mjai.messages import Message, rules_of
from engine.mjai.schema import EVENTS
from engine.mjai.view_updates import APPLIED, COPIES, PLACEHOLDER, REASONS, apply_event, deal_view
from engine.rules import START_POINTS, TENHOU, Rules, rules_named
from engine.table import DORA_AT, GAME_OVER, N_SEATS, NOBODY, RESPONSE, ROUND_OVER, TABLE, TURN, packed_rules
from engine.tiles import KIND_OF, MJAI_NAMES, MJAI_TILES, N_KINDS, NONE, UNKNOWN, WINDS

WIND_NUMBERS = {wind: number for number, wind in enumerate(WINDS)}
N_CONSUMED = {row.message: row.used for row in events.TYPES if row.adds_meld}
WRONG_ORDER = "cannot follow the messages before it"


class PlayerState:
    """The view of one seat, kept up to date from the canonical mjai messages that the seat receives.

    >>> from engine.game import Game
    >>> game, state = Game(seed=7), PlayerState()
    >>> for message in game.new_messages(0):  # what a server sends to seat 0
    ...     state.update(message)
    >>> state.legal[-1], state.legal == game.legal(0)
    (<Action 37: tsumogiri>, True)

    The view equals `Game.view` of the seat, byte for byte, once all messages so far have been applied, except:

    * After a win or a draw, only the scores are kept up to date until the next round starts: the scored hands are not
      entered, and no seat has to answer.
    * After this seat has passed, `legal` is not empty while another seat still has to answer, as passes are not
      announced.

    After a discard, north or kan, the view is in phase RESPONSE until the next message, even if no seat can respond. A
    seat has to answer the last message it received, or the one before it if the last is a dora indicator that follows a
    north or kan.
    """

    def __init__(self, rules: Rules | str | None = None) -> None:
        """`rules`: the rules or the name of a preset, used if ``start_game`` names none; None: Tenhou's."""
        self.seat = NONE
        self._rules = rules_named(TENHOU if rules is None else rules)
        self._raw = np.zeros(TABLE.itemsize, dtype=np.uint8)
        self._table: Any = self._raw.view(TABLE)
        self._menu = np.zeros(N_ACTIONS, dtype=np.int64)

    def __repr__(self) -> str:
        return "<PlayerState before start_game>" if self.seat == NONE else f"<PlayerState: {self._table[0]!r}>"

    @property
    def view(self) -> np.record:
        """A copy of the view, a TABLE record."""
        return self._raw.copy().view(TABLE)[0]  # as bytes: NumPy copies nested records slowly

    @property
    def legal(self) -> list[int]:
        """The legal actions of the seat, each an `Action`, ascending; empty if it has nothing to answer."""
        n = table_kernels.legal_actions(self._raw, 0, self.seat, self._menu)
        found: list[int] = ACTIONS[self._menu[:n]].tolist()
        return found

    def update(self, message: Message) -> None:
        """Apply the next message of a game, ``start_game`` first.

        Raises ValueError with a one-line message, and leaves the view unchanged, if the message is malformed or
        impossible in this position.
        """
        if not isinstance(message, dict):
            raise ValueError(f"a message is a dict, such as {{'type': 'tsumo', …}}, not {message!r}")
        name = message.get("type")
        if name not in HANDLERS:
            raise ValueError(f"{name!r} is no message of a game")
        if self.seat == NONE and name != "start_game":
            raise ValueError(f"{name} before start_game")
        try:
            HANDLERS[name](self, message)
        except (KeyError, IndexError, TypeError, OverflowError) as error:
            raise ValueError(f"{name} is malformed or incomplete ({type(error).__name__}: {error})") from error

    def _start_game(self, message: Message) -> None:
        seat, rules = seat_in(message, "id"), rules_of(message, self._rules) or self._rules
        self.seat = seat
        t = self._table
        self._raw[:] = 0
        t["rules"], t["viewer"], t["phase"] = packed_rules(rules), seat, ROUND_OVER
        t["seat"]["score"] = START_POINTS
        t["wall"], t["known_by"], t["drawn"], t["answer"] = UNKNOWN, NOBODY, NONE, NONE

    def _start_kyoku(self, message: Message) -> None:
        self._expect(message, ROUND_OVER)
        oya, t = seat_in(message, "oya"), self._table
        hand, indicator = dealt(message, self.seat), tile_in(message, "dora_marker")
        if (np.bincount(KIND_OF[[*hand, indicator]], minlength=N_KINDS) > COPIES).any():
            raise ValueError(f"start_kyoku deals more tiles of a kind than there are: {message['tehais'][self.seat]}")
        wind, honba, sticks = WIND_NUMBERS[message["bakaze"]], np.int16(message["honba"]), np.int16(message["kyotaku"])
        t["seat"]["score"] = three(message, "scores")
        t["round_wind"], t["dealer"], t["honba"], t["sticks"] = wind, oya, honba, sticks
        wall, first = t["wall"][0], HAND_SIZE * ((self.seat - oya) % N_SEATS)
        wall[:] = PLACEHOLDER
        wall[first : first + HAND_SIZE] = hand
        wall[DORA_AT[0]] = indicator
        deal_view(self._raw)

    def _tsumo(self, message: Message) -> None:
        seat = seat_in(message, "actor")
        self._apply(message, events.DRAW, seat, tile=tile_in(message, "pai") if seat == self.seat else 0)

    def _dora(self, message: Message) -> None:
        self._apply(message, events.NEW_DORA, self.seat, tile=tile_in(message, "dora_marker"))

    def _reach_accepted(self, message: Message) -> None:
        self._apply(message, events.REACH_ACCEPTED, seat_in(message, "actor"))

    def _reach(self, message: Message) -> None:
        self._apply(message, events.REACH, seat_in(message, "actor"), RIICHI)

    def _dahai(self, message: Message) -> None:
        tile = tile_in(message, "pai")
        action = TSUMOGIRI if message.get("tsumogiri") else tile
        self._apply(message, events.DAHAI, seat_in(message, "actor"), action, tile, 1, int(tile >= N_KINDS))

    def _nukidora_or_kakan(self, message: Message) -> None:
        seat, tile = seat_in(message, "actor"), tile_in(message, "pai")
        action = action_of(self._table[0], seat, message)
        self._apply(message, events.KAKAN, seat, action, tile, 1, int(tile >= N_KINDS))

    def _call_or_ankan(self, message: Message) -> None:
        seat, consumed = seat_in(message, "actor"), read_consumed(message)
        kind = int(KIND_OF[consumed[0]])
        tile = kind if message["type"] == "ankan" else tile_in(message, "pai")
        if len(consumed) != N_CONSUMED[message["type"]] or {int(KIND_OF[of]) for of in [*consumed, tile]} != {kind}:
            raise ValueError(f"{message['type']} of {MJAI_NAMES[tile]} cannot consume {message['consumed']}")
        reds = sum(of >= N_KINDS for of in consumed)
        self._apply(message, events.PON, seat, action_of(self._table[0], seat, message), tile, len(consumed), reds)

    def _hora(self, message: Message) -> None:
        second = 0 < self._table["n_wins"][0] < 2
        self._expect(message, TURN, RESPONSE, *([ROUND_OVER] if second else []))
        self._finish(message, ROUND_OVER)
        self._table["n_wins"] += 1

    def _ryukyoku(self, message: Message) -> None:
        self._expect(message, TURN, RESPONSE)
        self._finish(message, ROUND_OVER)

    def _end_kyoku(self, message: Message) -> None:
        self._expect(message, ROUND_OVER)

    def _end_game(self, message: Message) -> None:
        self._expect(message, ROUND_OVER)
        self._finish(message, GAME_OVER)

    def _expect(self, message: Message, *phases: int) -> None:
        """Raise ValueError unless the view is in one of `phases`."""
        if self._table["phase"][0] not in phases:
            raise ValueError(f"{message['type']} {WRONG_ORDER}")

    def _finish(self, message: Message, phase: int) -> None:
        """End the round or the game; the scores come from the message, or follow from its deltas."""
        scores = self._table["seat"]["score"][0]
        if "scores" in message:
            scores[:] = three(message, "scores")
        elif "deltas" in message:
            scores += np.array(three(message, "deltas"), dtype=np.int32)
        self._table["legal"] = 0
        self._table["phase"] = phase

    def _apply(
        self, message: Message, event: int, seat: int, action: int = 0, tile: int = 0, count: int = 0, reds: int = 0
    ) -> None:
        """Apply an event; see `engine.mjai.view_updates.apply_event`. Raises ValueError if it is refused."""
        result = apply_event(self._raw, event, seat, action, tile, count, reds)
        if result != APPLIED:
            why = f"{{message}} {WRONG_ORDER}: {{reason}}"
            raise ValueError(error_text("wrong_order", why, message=summary(message), reason=REASONS[result]))


def seat_in(message: Message, key: str) -> int:
    """The seat under `key` of a message. Raises ValueError if there is none."""
    seat: Any = message.get(key)
    if seat not in range(N_SEATS):
        raise ValueError(f"{message['type']} needs {key!r}, a seat 0 to 2, not {seat!r}")
    return int(seat)


def three(message: Message, key: str) -> list[int]:
    """The numbers of the three seats under `key` of a message. Raises ValueError if there are not three."""
    numbers = message[key]
    if len(numbers) != N_SEATS:
        raise ValueError(f"{message['type']} needs {key!r}, a number for each of three seats, not {numbers!r}")
    return [int(number) for number in numbers]


def dealt(message: Message, seat: int) -> list[int]:
    """The tile37 dealt to `seat` by a ``start_kyoku``. Raises ValueError if they are not 13 known tiles."""
    names = message["tehais"][seat]
    hand = [MJAI_TILES.get(name, UNKNOWN) for name in names]
    if len(hand) != HAND_SIZE or UNKNOWN in hand:
        raise ValueError(f"start_kyoku needs the {HAND_SIZE} tiles of seat {seat} in 'tehais', not {names!r}")
    return hand


def summary(message: Message) -> str:
    """A message in a few words, like ``dahai 5p of seat 1``."""
    words = [str(message[key]) for key in ("type", "pai", "dora_marker") if key in message]
    return " ".join(words) + (f" of seat {message['actor']}" if "actor" in message else "")


HANDLERS: dict[str, Callable[[PlayerState, Message], None]] = {
    "start_game": PlayerState._start_game,
    "start_kyoku": PlayerState._start_kyoku,
    "tsumo": PlayerState._tsumo,
    "dahai": PlayerState._dahai,
    "reach": PlayerState._reach,
    "reach_accepted": PlayerState._reach_accepted,
    "pon": PlayerState._call_or_ankan,
    "daiminkan": PlayerState._call_or_ankan,
    "ankan": PlayerState._call_or_ankan,
    "kakan": PlayerState._nukidora_or_kakan,
    "nukidora": PlayerState._nukidora_or_kakan,
    "dora": PlayerState._dora,
    "hora": PlayerState._hora,
    "ryukyoku": PlayerState._ryukyoku,
    "end_kyoku": PlayerState._end_kyoku,
    "end_game": PlayerState._end_game,
}
require_rows("HANDLERS of engine/mjai/player_state.py", HANDLERS, EVENTS, "EVENTS of engine/mjai/schema.py")
