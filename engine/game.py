"""One game for Python callers: servers, notebooks, tests, scripts.

>>> game = Game(seed=7)
>>> while not game.over:
...     for seat in game.asked:
...         game.act(seat, game.legal(seat)[0])  # or whatever your bot chooses
>>> sum(game.scores), sorted(game.ranks)
(105000, [1, 2, 3])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# Importing these two registers how a table is shown.
import engine.svg
import engine.text  # noqa: F401
from engine import table_kernels
from engine.actions import ACTION_NAMES, ACTIONS, N_ACTIONS, Action, action_name
from engine.checks import check_scores, check_seat, check_seed, whole_number
from engine.mjai.messages import Message, for_seat, start_game
from engine.mjai.results import result_lines
from engine.mjai.round_events import RoundReader
from engine.rules import EVEN_SCORES, TENHOU, Rules, rules_named
from engine.table import GAME_OVER, N_SEATS, RESPONSE, ROUND_OVER, TABLE, WALL_SIZE, packed_rules, raw_bytes, summary
from engine.tenhou_walls import GENERATOR, TenhouWalls
from engine.text import table_text
from engine.tiles import FULL_SET, KIND_OF

NUMBERS = frozenset({int, Action})  # the types of actions that need no check
MAX_MENU = 32  # greater than any menu: 14 discards, tsumogiri, 3 ankan, 4 kakan, riichi, nukidora, tsumo, kyushu kyuhai
SHARING = frozenset({"_table", "_turn", "_menu", "_menus", "_round"})  # attributes of a game; see `Game._look_into`
ONE_SEAT = ((0,), (1,), (2,))
SEATS_IN_MASK = ((), (0,), (1,), (0, 1), (2,), (0, 2), (1, 2))  # all three seats are never asked at once


class IllegalAction(ValueError):  # noqa: N818 - the name says what it is
    """An action that is not legal for the seat; the game has not changed."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A position of a game that `Game.restore` goes back to."""

    table: bytes
    n_messages: int
    n_dealt: int
    delivered: tuple[int, ...]


class Game:
    """One game. Seats are 0-2, seat 0 deals first; actions are the numbers of `engine.actions`."""

    def __init__(
        self,
        seed: int | str = 0,
        rules: Rules | str = TENHOU,
        names: Sequence[str] = ("0", "1", "2"),
        walls: Iterable[Any] = (),
        scores: Sequence[int] = EVEN_SCORES,
        round_over: Callable[[np.ndarray], object] | None = None,
    ) -> None:
        """Start a game.

        `rules`: a Rules object or the name of a preset, ``"tenhou"`` or ``"majsoul"``. `seed`: a 64-bit integer, from
        which the walls are shuffled, or a str, the seed of a game on Tenhou (``SHUFFLE seed`` in its record), whose
        walls are then dealt again. `walls`: the walls of the first rounds, 108 tile37 each in the layout of
        `engine.table.WALL_SIZE`; later rounds are shuffled from `seed`. `scores`: the starting score of each seat, see
        `engine.checks.check_scores`. `round_over` is called with the table, uint8[TABLE.itemsize], when a round is
        over and before the next is dealt. Raises TypeError or ValueError for an invalid seed, rules, names or scores,
        and for a wall that does not hold each tile exactly once.
        """
        rules = self.rules = rules_named(rules)
        of_tenhou = isinstance(seed, str) and seed.startswith(GENERATOR)
        self._tenhou = TenhouWalls(str(seed), red_fives=rules.red_fives) if of_tenhou else None
        number = 0 if of_tenhou else check_seed(seed)
        self.names = _check_names(names)
        self._round_over = round_over
        self._walls: Iterator[Any] = iter(walls)
        self._dealt: list[Any] = []  # walls used, for `restore`
        self._n_dealt = 0
        self._look_into(np.zeros(TABLE.itemsize, dtype=np.uint8))
        self._table["rules"] = packed_rules(rules)
        self._table["seat"]["score"] = check_scores(scores)
        self._phase = int(self._table["phase"][0])
        self._messages: list[Message] = [start_game(list(self.names), rules)]
        self._unread: list[RoundReader] = []  # finished rounds, not yet read into messages
        self._delivered = [0, 0, 0]  # number of messages `new_messages` has returned to each seat
        self._set_wall()
        table_kernels.start_game(self._raw, 0, np.uint64(number))
        self._round = RoundReader(self.table)

    def _look_into(self, raw: np.ndarray) -> None:
        """Use the table in the buffer `raw` through arrays that share its memory."""
        self._raw = raw
        self._table = raw.view(TABLE)
        self._turn = self._table["turn"]
        self._menu = np.zeros(N_ACTIONS, dtype=np.int64)
        self._menus = [self._menu[:n] for n in range(MAX_MENU + 1)]  # sliced once: `legal` is called at each step

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for `copy.deepcopy` and `pickle`, without the arrays that share memory."""
        self._read()
        return {name: value for name, value in vars(self).items() if name not in SHARING}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._look_into(self._raw)
        self._round = RoundReader(self.table)
        self._round.read()  # as in `restore`

    def __repr__(self) -> str:
        return f"<Game of {', '.join(self.names)}: {summary(self.table)}>"

    def __str__(self) -> str:
        """Return the table as text, with nothing hidden."""
        return table_text(self.table, self.names)

    def _repr_svg_(self) -> str:
        """Return the table as a picture for notebooks, with nothing hidden."""
        from engine.svg import table_svg

        return table_svg(self.table, self.names)

    @property
    def table(self) -> np.record:
        """The whole table, hidden tiles included: a live TABLE record, read only."""
        return self._table[0]

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self._phase == GAME_OVER

    @property
    def asked(self) -> tuple[int, ...]:
        """The seats whose action the game waits for, ascending."""
        if self._phase < RESPONSE:
            return ONE_SEAT[self._turn.item()]
        return SEATS_IN_MASK[table_kernels.asked_seats(self._raw, 0)]

    def legal(self, seat: int) -> list[int]:
        """Return the legal actions of `seat`, each an `Action`, ascending; empty if it is not asked.

        Raises TypeError or ValueError if there is no such seat.
        """
        if type(seat) is not int or not 0 <= seat < N_SEATS:
            seat = check_seat(seat)
        n = table_kernels.legal_actions(self._raw, 0, seat, self._menu)
        found: list[int] = ACTIONS[self._menus[n]].tolist()
        return found

    def act(self, seat: int, action: int) -> None:
        """Apply the action of `seat`; `action` is a number of `engine.actions`, or one of `legal`.

        Raises IllegalAction, whose message lists the legal actions, or TypeError if `action` is not a number; the game
        is then unchanged.
        """
        if type(seat) is not int or type(action) not in NUMBERS:
            seat, action = check_seat(seat), self._check_action(seat, action)
        try:
            phase = table_kernels.apply_action(self._raw, 0, seat, action.real)
        except OverflowError:
            phase = -1
        if phase < 0:
            raise IllegalAction(self._why_illegal(seat, action))
        self._phase = phase
        if phase == ROUND_OVER:
            self._finish_round()

    def _finish_round(self) -> None:
        """Keep the round until its messages are read, and go on to the next."""
        if self._round_over is not None:
            self._round_over(self._raw)
        n_log = int(self._table["n_log"][0])
        finished, n_dealt = self._table.copy(), self._n_dealt
        self._round.look_at(finished[0])
        self._unread.append(self._round)
        self._set_wall()
        self._phase = table_kernels.next_round(self._raw, 0)
        self._round = RoundReader(self.table)
        if self.over:
            self._round.n_read = n_log
            self._table["wall"], self._table["wall_given"], self._n_dealt = finished["wall"], 0, n_dealt

    def view(self, seat: int) -> np.record:
        """Return a copy with everything hidden from `seat` blanked. Raises ValueError if there is no such seat."""
        copied = np.zeros(1, dtype=TABLE)
        table_kernels.write_view(self._raw, 0, check_seat(seat), raw_bytes(copied), 0)
        return copied[0]

    @property
    def messages(self) -> list[Message]:
        """All messages since ``start_game``, with nothing hidden: the record of the game."""
        self._read()
        return self._messages

    def take_messages(self) -> list[Message]:
        """Return the messages since the last call, with nothing hidden, and forget them.

        They no longer appear in `messages` and `new_messages`. For callers that keep the messages themselves: the
        memory of a game then does not grow with its length.
        """
        self._read()
        taken, self._messages = self._messages, []
        return taken

    def new_messages(self, seat: int) -> list[Message]:
        """Return the messages since the last call for `seat`, as that seat may see them."""
        seat = check_seat(seat)
        self._read()
        fresh = self._messages[self._delivered[seat] :]
        self._delivered[seat] = len(self._messages)
        return [for_seat(message, seat) for message in fresh]

    def snapshot(self) -> Snapshot:
        """Return the current position, for `restore`."""
        self._read()
        return Snapshot(self._raw.tobytes(), len(self._messages), self._n_dealt, tuple(self._delivered))

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a position of this game; the same walls are dealt again.

        A snapshot of a copy works, too, even if the copy has been played further. Raises ValueError for a snapshot that
        needs more walls than were given.
        """
        while len(self._dealt) < snapshot.n_dealt:
            if not self._take_wall():
                raise ValueError("the snapshot is of another game: it was dealt more walls than this one has")
        self._raw[:] = np.frombuffer(snapshot.table, dtype=np.uint8)
        self._phase = int(self._table["phase"][0])
        self._n_dealt = snapshot.n_dealt
        self._unread.clear()
        del self._messages[snapshot.n_messages :]
        self._round = RoundReader(self.table)
        self._round.read()  # a snapshot is taken with all messages read
        self._delivered = list(snapshot.delivered)

    @property
    def results(self) -> list[str]:
        """Return a few lines on how each finished round ended: winner, hand, yaku, points, and the payments.

        A round with two winners has two entries. Read from `messages`; a round whose beginning was taken by
        `take_messages` is left out.
        """
        found: list[str] = []
        events: list[Message] = []
        for message in self.messages:
            if message["type"] == "start_kyoku":
                events = []
            events.append(message)
            if message["type"] in ("hora", "ryukyoku") and events[0]["type"] == "start_kyoku":
                found.append("\n".join(result_lines(message, self.names, events)))
        return found

    @property
    def scores(self) -> list[int]:
        """The points of each seat, without the riichi sticks on the table."""
        return [int(score) for score in self._table["seat"]["score"][0]]

    @property
    def ranks(self) -> list[int]:
        """The rank (1-3) of each seat by the current scores."""
        return self.rules.ranks(self.scores)

    @property
    def final_points(self) -> list[float]:
        """The final points of each seat by the current scores, uma and oka included."""
        return self.rules.final_points(self.scores)

    def _read(self) -> None:
        for part in (*self._unread, self._round):
            self._messages += part.read()
        self._unread.clear()
        if self._messages and self._messages[-1]["type"] == "end_game":
            self._messages[-1]["points"] = self.final_points

    def _set_wall(self) -> None:
        """Lay the wall of the next round, unless it is to be shuffled."""
        if self._n_dealt == len(self._dealt) and not self._take_wall():
            return
        self._table["wall"][0] = self._dealt[self._n_dealt]
        self._table["wall_given"] = 1
        self._n_dealt += 1

    def _take_wall(self) -> bool:
        """Add the next wall to those dealt; return False if there is none. Raises ValueError for an invalid wall."""
        wall = self._next_wall()
        if wall is None:
            return False
        expected = FULL_SET if self.rules.red_fives else KIND_OF[FULL_SET]
        if len(wall) != WALL_SIZE or sorted(wall) != sorted(expected.tolist()):
            raise ValueError("a wall must hold each of the 108 tiles exactly once (engine.tiles.FULL_SET)")
        self._dealt.append(np.array(wall, dtype=np.int8))
        return True

    def _next_wall(self) -> Any:
        """Return the next wall given, or the wall of Tenhou's seed for this round; None without either."""
        wall = next(self._walls, None)
        if self._tenhou is None:
            return wall
        of_seed = next(self._tenhou).tiles
        return of_seed if wall is None else wall

    def _why_illegal(self, seat: int, action: int) -> str:
        name = action_name(action)
        menu = self.legal(check_seat(seat))
        if not menu:
            return f"seat {seat} is not asked now (asked: {list(self.asked)}), so it cannot {name}"
        return f"seat {seat} may not {name}; legal: {', '.join(map(action_name, menu))}"

    def _check_action(self, seat: int, action: object) -> int:
        """Return `action` as an int. Raises TypeError if it is not one."""
        number = next((number for number, name in enumerate(ACTION_NAMES) if name == action), None)
        hint = "" if number is None else f" ({action} is {number})"
        accepted = f"a number of engine.actions{hint}, or one of game.legal({seat})"
        try:
            return whole_number(action, "action", accepted, N_ACTIONS - 1)
        except ValueError as error:
            raise IllegalAction(str(error)) from None


def _check_names(names: Sequence[str]) -> tuple[str, str, str]:
    """Return `names` as a tuple of three names. Raises TypeError or ValueError for anything else."""
    if isinstance(names, str) or not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"names must be three texts, such as ('Aki', 'Ben', 'Chi'), not {names!r}")
    if len(names) != N_SEATS:
        raise ValueError(f"names must be three, one for each seat, not {len(names)}: {tuple(names)!r}")
    first, second, third = names
    return first, second, third
