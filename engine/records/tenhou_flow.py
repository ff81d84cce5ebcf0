"""The order of play in a tenhou.net/6 round: rows of draws and discards of each seat, to one list of events and back.

A row of draws holds tile numbers and calls (``"4747p47"``: pon; where the letter stands tells who is called from); a
row of discards holds tile numbers, ``60`` (the drawn tile), ``"r…"`` (riichi), ``"f44"`` (nukidora), ankan, kakan, and
a ``0`` that fills the place of a daiminkan. Relative seats count among four, with the fourth absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from engine.mjai.messages import SEATS, Event, make, sort_tiles
from engine.tiles import KIND_OF, MJAI_NAMES, MJAI_TILES, SANMA_KINDS, TENHOU_NUMBERS, TENHOU_TILES

TSUMOGIRI = 60
FILLER = 0
NUKIDORA = "f44"

_CALL = re.compile(r"(\d*)([pmka])(\d+)")
_CALL_TYPES = {"p": "pon", "m": "daiminkan", "k": "kakan", "a": "ankan"}
_CALL_TILES = {"p": 3, "m": 4, "k": 4, "a": 4}
# Relative seat of the giver (3 left, 2 across, 1 right) by the place of the letter among the tiles.
_GIVER = {"p": {0: 3, 1: 2, 2: 1}, "m": {0: 3, 1: 2, 3: 1}}
_PLACE = {letter: {relative: place for place, relative in places.items()} for letter, places in _GIVER.items()}
_SANMA = frozenset(int(kind) for kind in SANMA_KINDS) | {35, 36}

Row = list[int | str]


def tile_name(number: Any) -> str:
    """The mjai name of a tile number. Raises ValueError for one three players do not have."""
    if TENHOU_TILES.get(number) not in _SANMA:
        raise ValueError(f"there is no tile {number!r} in a three-player game")
    return MJAI_NAMES[TENHOU_TILES[number]]


def tile_number(name: str) -> int:
    """Tile number of a mjai name. Raises ValueError for a hidden tile."""
    if name == "?":
        raise ValueError("hidden tiles cannot be written; tenhou.net/6 shows every hand")
    return TENHOU_NUMBERS[MJAI_TILES[name]]


def read_call(seat: int, text: str) -> Event:
    """The pon, kan or nukidora a string stands for. Raises ValueError for anything else."""
    if text == NUKIDORA:
        return make("nukidora", actor=seat, pai="N")
    match = _CALL.fullmatch(text)
    digits = match[1] + match[3] if match else ""
    if not match or len(digits) != 2 * _CALL_TILES[match[2]] or len(match[1]) % 2:
        raise ValueError(f"{text!r} is no call three players can make")
    letter, place = match[2], len(match[1]) // 2
    tiles = [tile_name(int(digits[at : at + 2])) for at in range(0, len(digits), 2)]
    if len({_kind(tile) for tile in tiles}) > 1:
        raise ValueError(f"{text!r} calls tiles of different kinds")
    if letter == "a":
        return make("ankan", actor=seat, consumed=sort_tiles(tiles))
    pai = tiles.pop(place)
    consumed = sort_tiles(tiles)
    if letter == "k":
        return make("kakan", actor=seat, pai=pai, consumed=consumed)
    if place not in _GIVER[letter]:
        raise ValueError(f"{text!r}: the letter cannot stand there")
    target = (seat + _GIVER[letter][place]) % 4
    if target >= SEATS:
        raise ValueError(f"{text!r} of seat {seat} calls from a fourth player")
    return make(_CALL_TYPES[letter], actor=seat, target=target, pai=pai, consumed=consumed)


def write_call(event: Event, pon: Event | None) -> str:
    """The string of a pon, kan or nukidora; a kakan stands where its `pon` called from."""
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
    tiles.insert(_PLACE[letter][(event["target"] - event["actor"]) % 4], letter + called)
    return "".join(tiles)


class _Flow(NamedTuple):
    """A point in a round: what `seat` does next, how much of each row is used, and the tile drawn or discarded."""

    seat: int
    next: Literal["draw", "act", "pass"]  # pass: its discard lies there for others to call
    draws: tuple[int, ...]
    discards: tuple[int, ...]
    tile: str = ""


def _advance(used: tuple[int, ...], seat: int, by: int = 1) -> tuple[int, ...]:
    return tuple(count + by if index == seat else count for index, count in enumerate(used))


def interleave(oya: int, draws: list[Row], discards: list[Row]) -> list[Event]:
    """The events of a round from its three rows of draws and of discards: no riichi acceptances, indicators or results.

    Where a seat's next call fits a discard that it may also have let pass, calling is tried first, and the other way if
    the rows do not come out even. Raises ValueError if they never do.
    """
    return _Rows(draws, discards).play(oya)


class _Rows:
    """The rows of a round, and the search for an order of play that uses up all of them."""

    def __init__(self, draws: list[Row], discards: list[Row]) -> None:
        self.draws, self.discards = draws, discards
        self.furthest: _Flow | None = None

    def play(self, oya: int) -> list[Event]:
        zeros = (0,) * SEATS
        events = self._search(_Flow(oya, "draw", zeros, zeros))
        if events is None:
            raise ValueError(self._misfit())
        return events

    def _search(self, flow: _Flow) -> list[Event] | None:
        """Everything that follows `flow`, or None if no order of play uses up the rows."""
        moves = list(self._moves(flow))
        for events, after in moves:
            rest = self._search(after)
            if rest is not None:
                return events + rest
        if not moves:
            if self.furthest is None or _used(flow) > _used(self.furthest):
                self.furthest = flow
            if _used(flow) == sum(map(len, self.draws)) + sum(map(len, self.discards)):
                return []
        return None

    def _moves(self, flow: _Flow) -> Iterator[tuple[list[Event], _Flow]]:
        """What can come next: the events and the point after them. None where the round ends or the rows do not fit."""
        seat = flow.seat
        if flow.next == "draw":
            drawn = _entry(self.draws[seat], flow.draws[seat])
            if isinstance(drawn, int):
                tile = tile_name(drawn)
                after = flow._replace(next="act", draws=_advance(flow.draws, seat), tile=tile)
                yield [make("tsumo", actor=seat, pai=tile)], after
        elif flow.next == "act":
            entry = _entry(self.discards[seat], flow.discards[seat])
            without_draw = not flow.tile and entry in (TSUMOGIRI, f"r{TSUMOGIRI}")
            if entry not in (None, FILLER) and not without_draw:
                yield self._own_move(flow, entry)
        else:
            yield from self._calls(flow)
            yield [], flow._replace(seat=(seat + 1) % SEATS, next="draw")

    def _own_move(self, flow: _Flow, entry: int | str) -> tuple[list[Event], _Flow]:
        """The discard, kan or nukidora that an entry of a row of discards stands for."""
        seat = flow.seat
        used = flow._replace(discards=_advance(flow.discards, seat))
        riichi = isinstance(entry, str) and entry.startswith("r")
        if isinstance(entry, str) and not riichi:
            return [read_call(seat, entry)], used._replace(next="draw")
        number = int(entry[1:]) if isinstance(entry, str) else entry
        tile = flow.tile if number == TSUMOGIRI else tile_name(number)
        dahai = make("dahai", actor=seat, pai=tile, tsumogiri=number == TSUMOGIRI)
        events = [make("reach", actor=seat), dahai] if riichi else [dahai]
        return events, used._replace(next="pass", tile=tile)

    def _calls(self, flow: _Flow) -> Iterator[tuple[list[Event], _Flow]]:
        """The pon or daiminkan of each other seat whose next draw is one of the discard that lies there."""
        for seat in range(SEATS):
            entry = _entry(self.draws[seat], flow.draws[seat])
            if seat == flow.seat or not isinstance(entry, str):
                continue
            call = read_call(seat, entry)
            if call.get("target") != flow.seat or call["pai"] != flow.tile:
                continue
            after = flow._replace(seat=seat, draws=_advance(flow.draws, seat))
            if call["type"] == "pon":
                yield [call], after._replace(next="act", tile="")
            else:
                filled = int(_entry(self.discards[seat], flow.discards[seat]) == FILLER)
                yield [call], after._replace(next="draw", discards=_advance(flow.discards, seat, filled))

    def _misfit(self) -> str:
        """Where the search got furthest, in words."""
        flow = self.furthest
        if flow is None:
            return "no draws"
        ahead = ", ".join(
            f"seat {seat} draws {_entry(self.draws[seat], flow.draws[seat]) or 'nothing'}"
            f" and discards {_entry(self.discards[seat], flow.discards[seat]) or 'nothing'}"
            for seat in range(SEATS)
        )
        where = f"after {_used(flow)} entries, when seat {flow.seat} is to {flow.next}; next in the rows: {ahead}"
        return f"the rows of draws and discards do not fit together {where}. An entry is wrong or missing"


def _used(flow: _Flow) -> int:
    return sum(flow.draws) + sum(flow.discards)


def _entry(row: Row, index: int) -> int | str | None:
    return row[index] if index < len(row) else None


def write_rows(events: list[Event]) -> tuple[list[Row], list[Row]]:
    """The rows of draws and of discards of a round's events."""
    draws: list[Row] = [[] for _ in range(SEATS)]
    discards: list[Row] = [[] for _ in range(SEATS)]
    pons: dict[tuple[int, int], Event] = {}
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
                discards[seat].append(FILLER)
            pons[seat, _kind(event["pai"])] = event
            drawn = None
        elif kind in ("kakan", "ankan", "nukidora"):
            discards[seat].append(write_call(event, pons.get((seat, _kind(event["pai"]))) if kind == "kakan" else None))
    return draws, discards


def _kind(name: str) -> int:
    return int(KIND_OF[MJAI_TILES[name]])
