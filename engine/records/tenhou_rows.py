"""Conversion of the rows of draws and discards of a tenhou.net/6 round to events in the order of play and back.

A row of draws has tile numbers and calls (``"4747p47"`` is a pon; the position of the letter shows whose tile is
called). A row of discards has tile numbers, ``60`` (tsumogiri), ``"r…"`` (riichi), ``"f44"`` (nukidora), ankan, kakan,
and a ``0`` for a daiminkan, which has no discard before its replacement draw. Relative seats are counted with four
players; the fourth is absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from engine.common.error_text import error_text
from engine.mjai.kinds import no_tile, sort_tiles
from engine.mjai.messages import Message, make
from engine.table import N_SEATS
from engine.tiles import KIND_OF, MJAI_NAMES, MJAI_TILES, SANMA_KINDS, TENHOU_NUMBERS, TENHOU_TILES

TSUMOGIRI = 60
NO_DISCARD = 0
NUKIDORA = "f44"

_CALL = re.compile(r"(\d*)([pmka])(\d+)")
_CALL_TYPES = {"p": "pon", "m": "daiminkan", "k": "kakan", "a": "ankan"}
_CALL_TILES = {"p": 3, "m": 4, "k": 4, "a": 4}
# Position of the letter among the tiles -> relative seat that discarded the tile (3 left, 2 across, 1 right).
_TARGET = {"p": {0: 3, 1: 2, 2: 1}, "m": {0: 3, 1: 2, 3: 1}}
_POSITION = {letter: {relative: position for position, relative in seats.items()} for letter, seats in _TARGET.items()}
_SANMA = frozenset(int(kind) for kind in SANMA_KINDS) | {35, 36}

Row = list[int | str]


def tile_name(number: Any) -> str:
    """The mjai name of a tile number. Raises ValueError for a tile that does not exist with three players."""
    if TENHOU_TILES.get(number) not in _SANMA:
        raise ValueError(no_tile(number))
    return MJAI_NAMES[TENHOU_TILES[number]]


def tile_number(name: str) -> int:
    """The tile number of an mjai name. Raises ValueError for a hidden tile."""
    if name == "?":
        raise ValueError("hidden tiles cannot be written; tenhou.net/6 shows every hand")
    return TENHOU_NUMBERS[MJAI_TILES[name]]


def read_call(seat: int, text: str) -> Message:
    """The pon, kan or nukidora that an entry `text` of seat `seat` stands for. Raises ValueError for anything else."""
    if text == NUKIDORA:
        return make("nukidora", actor=seat, pai="N")
    match = _CALL.fullmatch(text)
    digits = match[1] + match[3] if match else ""
    if not match or len(digits) != 2 * _CALL_TILES[match[2]] or len(match[1]) % 2:
        raise ValueError(error_text("no_call", "{call!r} is not a call of a three-player game", call=text))
    letter, position = match[2], len(match[1]) // 2
    tiles = [tile_name(int(digits[at : at + 2])) for at in range(0, len(digits), 2)]
    if len({_kind(tile) for tile in tiles}) > 1:
        raise ValueError(error_text("call_kinds", "{call!r} calls tiles of different kinds", call=text))
    if letter == "a":
        return make("ankan", actor=seat, consumed=sort_tiles(tiles))
    pai = tiles.pop(position)
    consumed = sort_tiles(tiles)
    if letter == "k":
        return make("kakan", actor=seat, pai=pai, consumed=consumed)
    if position not in _TARGET[letter]:
        raise ValueError(error_text("call_letter", "{call!r}: the letter cannot stand there", call=text))
    target = (seat + _TARGET[letter][position]) % 4
    if target >= N_SEATS:
        what = "{call!r} of seat {seat} calls from a fourth player"
        raise ValueError(error_text("call_of_fourth", what, call=text, seat=seat))
    return make(_CALL_TYPES[letter], actor=seat, target=target, pai=pai, consumed=consumed)


def write_call(event: Message, pon: Message | None) -> str:
    """The entry of a pon, kan or nukidora; `pon`: the pon that a kakan extends, which decides the letter's position."""
    if event["type"] == "nukidora":
        return NUKIDORA
    tiles = [str(tile_number(name)) for name in event["consumed"]]
    if event["type"] == "ankan":
        return "".join([*tiles[:-1], "a", tiles[-1]])
    called = str(tile_number(event["pai"]))
    if event["type"] == "kakan":
        if pon is None:
            raise ValueError(f"kakan of {event['pai']} without a pon before it")
        return write_call(pon, None).replace("p", "k" + called)
    letter = "p" if event["type"] == "pon" else "m"
    tiles.insert(_POSITION[letter][(event["target"] - event["actor"]) % 4], letter + called)
    return "".join(tiles)


class _State(NamedTuple):
    """A state of the search: what `seat` does next, how many entries of each row are used, the last tile."""

    seat: int
    next: Literal["draw", "act", "pass"]  # pass: its discard can be called
    draws: tuple[int, ...]
    discards: tuple[int, ...]
    tile: str = ""


def _advance(used: tuple[int, ...], seat: int, by: int = 1) -> tuple[int, ...]:
    return tuple(count + by if index == seat else count for index, count in enumerate(used))


def interleave(oya: int, draws: list[Row], discards: list[Row]) -> list[Message]:
    """The events of a round from its three rows of draws and of discards, without reach_accepted, dora and result.

    The order of play is found by depth-first search: if the next call of a seat fits a discard, the call is tried
    first, then no call. Raises ValueError if no order uses up all rows.
    """
    return _Rows(draws, discards).play(oya)


class _Rows:
    """The rows of a round, and the depth-first search for the order of play that uses up all of them."""

    def __init__(self, draws: list[Row], discards: list[Row]) -> None:
        self.draws, self.discards = draws, discards
        self.furthest: _State | None = None

    def play(self, oya: int) -> list[Message]:
        zeros = (0,) * N_SEATS
        events = self._search(_State(oya, "draw", zeros, zeros))
        if events is None:
            raise ValueError(self._search_error())
        return events

    def _search(self, state: _State) -> list[Message] | None:
        """The events that follow `state`, or None if no order of play uses up the rows."""
        moves = list(self._moves(state))
        for events, after in moves:
            rest = self._search(after)
            if rest is not None:
                return events + rest
        if not moves:
            if self.furthest is None or _used(state) > _used(self.furthest):
                self.furthest = state
            if _used(state) == sum(map(len, self.draws)) + sum(map(len, self.discards)):
                return []
        return None

    def _moves(self, state: _State) -> Iterator[tuple[list[Message], _State]]:
        """What can come next, as events and the state after them; nothing if no further entry fits."""
        seat = state.seat
        if state.next == "draw":
            drawn = _entry(self.draws[seat], state.draws[seat])
            if isinstance(drawn, int):
                tile = tile_name(drawn)
                after = state._replace(next="act", draws=_advance(state.draws, seat), tile=tile)
                yield [make("tsumo", actor=seat, pai=tile)], after
        elif state.next == "act":
            entry = _entry(self.discards[seat], state.discards[seat])
            without_draw = not state.tile and entry in (TSUMOGIRI, f"r{TSUMOGIRI}")
            if entry not in (None, NO_DISCARD) and not without_draw:
                yield self._own_move(state, entry)
        else:
            yield from self._calls(state)
            yield [], state._replace(seat=(seat + 1) % N_SEATS, next="draw")

    def _own_move(self, state: _State, entry: int | str) -> tuple[list[Message], _State]:
        """The discard, kan or nukidora of an entry in a row of discards."""
        seat = state.seat
        used = state._replace(discards=_advance(state.discards, seat))
        riichi = isinstance(entry, str) and entry.startswith("r")
        if isinstance(entry, str) and not riichi:
            return [read_call(seat, entry)], used._replace(next="draw")
        number = int(entry[1:]) if isinstance(entry, str) else entry
        tile = state.tile if number == TSUMOGIRI else tile_name(number)
        dahai = make("dahai", actor=seat, pai=tile, tsumogiri=number == TSUMOGIRI)
        events = [make("reach", actor=seat), dahai] if riichi else [dahai]
        return events, used._replace(next="pass", tile=tile)

    def _calls(self, state: _State) -> Iterator[tuple[list[Message], _State]]:
        """Each pon or daiminkan of the last discard that is the next entry in the draws of another seat."""
        for seat in range(N_SEATS):
            entry = _entry(self.draws[seat], state.draws[seat])
            if seat == state.seat or not isinstance(entry, str):
                continue
            call = read_call(seat, entry)
            if call.get("target") != state.seat or call["pai"] != state.tile:
                continue
            after = state._replace(seat=seat, draws=_advance(state.draws, seat))
            if call["type"] == "pon":
                yield [call], after._replace(next="act", tile="")
            else:
                filled = int(_entry(self.discards[seat], state.discards[seat]) == NO_DISCARD)
                yield [call], after._replace(next="draw", discards=_advance(state.discards, seat, filled))

    def _search_error(self) -> str:
        """The error message: the state in which the search got furthest."""
        state = self.furthest
        if state is None:
            return error_text("no_draws", "no draws")
        ahead = ", ".join(
            f"seat {seat} draws {_entry(self.draws[seat], state.draws[seat]) or 'nothing'}"
            f" and discards {_entry(self.discards[seat], state.discards[seat]) or 'nothing'}"
            for seat in range(N_SEATS)
        )
        text = "the rows of draws and discards do not fit together after {n} entries, when seat {seat} is to {act}; "
        text += "next in the rows: {ahead}. An entry is wrong or missing"
        return error_text("rows", text, n=_used(state), seat=state.seat, act=state.next, ahead=ahead)


def _used(state: _State) -> int:
    return sum(state.draws) + sum(state.discards)


def _entry(row: Row, index: int) -> int | str | None:
    return row[index] if index < len(row) else None


def write_rows(events: list[Message]) -> tuple[list[Row], list[Row]]:
    """The rows of draws and the rows of discards of a round, from its events."""
    draws: list[Row] = [[] for _ in range(N_SEATS)]
    discards: list[Row] = [[] for _ in range(N_SEATS)]
    pons: dict[tuple[int, int], Message] = {}
    drawn: str | None = None
    riichi = False
    for event in events:
        kind, seat = event["type"], event.get("actor", 0)
        if kind == "tsumo":
            drawn = event["pai"]
            draws[seat].append(tile_number(drawn))
        elif kind == "reach":
            riichi = True
        elif kind == "dahai":
            number = TSUMOGIRI if event.get("tsumogiri") and event["pai"] == drawn else tile_number(event["pai"])
            discards[seat].append(f"r{number}" if riichi else number)
            riichi = False
        elif kind in ("pon", "daiminkan"):
            draws[seat].append(write_call(event, None))
            if kind == "daiminkan":
                discards[seat].append(NO_DISCARD)
            pons[seat, _kind(event["pai"])] = event
            drawn = None
        elif kind in ("kakan", "ankan", "nukidora"):
            discards[seat].append(write_call(event, pons.get((seat, _kind(event["pai"]))) if kind == "kakan" else None))
    return draws, discards


def _kind(name: str) -> int:
    return int(KIND_OF[MJAI_TILES[name]])
