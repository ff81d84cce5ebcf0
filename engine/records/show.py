"""Print a record on a terminal: a line for each turn, with the hand before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table
from rich.text import Text

from engine.mjai.messages import Message
from engine.mjai.results import result_lines
from engine.records.model import GameRecord, RecordError, describe_source, record_errors, round_name
from engine.records.viewer import viewer_link
from engine.records.wall import RecordedWalls, left_in_wall
from engine.rules import TENHOU
from engine.table import N_SEATS
from engine.text import TILE_MARKS, hand_text, tile_text
from engine.tiles import MJAI_NAMES, NONE, WINDS

LEGEND = (
    "no.: the turn's first event in the record · hand: before the turn, with melds",
    "takes: the tile drawn or called · N×2: two nukidora",
    f"': the tile just drawn is discarded · {TILE_MARKS}",
)
_TAKES = {"tsumo": "", "pon": "pon ", "daiminkan": "daiminkan "}
_SETS_DOWN = {"ankan": "ankan ", "kakan": "kakan ", "nukidora": "nukidora "}


@dataclass
class Turn:
    """A turn of a seat, from draw or call to discard; `number`: index of its first event in the record, from 1."""

    number: int
    seat: int
    hand: str
    takes: str
    action: str = ""
    is_tsumogiri: bool = False


@dataclass
class Holding:
    """The tiles of a seat: the names of its concealed tiles, its melds as [name, tiles], the number of its nukidora."""

    hand: list[str]
    melds: list[tuple[str, list[str]]] = field(default_factory=list)
    nukidora: int = 0

    def __str__(self) -> str:
        melds = [f"{name} {hand_text(tiles)}" for name, tiles in self.melds]
        return " · ".join([hand_text(self.hand), *melds, *[f"N×{self.nukidora}"] * bool(self.nukidora)])

    def apply(self, event: Message) -> None:
        """Apply an event of this seat."""
        kind = event["type"]
        if kind == "tsumo":
            self.hand.append(event["pai"])
        elif kind in ("dahai", "nukidora", "kakan"):
            self._remove(event["pai"])
        for name in event.get("consumed", []) if kind != "kakan" else []:
            self._remove(name)
        if kind == "nukidora":
            self.nukidora += 1
        elif "consumed" in event:
            if kind == "kakan":
                self.melds = [meld for meld in self.melds if meld[1][0][:2] != event["consumed"][0][:2]]
            called = [event["pai"]] if kind != "ankan" else []  # some writers name one of the four
            self.melds.append((kind, [*event["consumed"], *called]))

    def _remove(self, name: str) -> None:
        """Remove a tile; from a hidden hand, a hidden tile."""
        if name in self.hand or "?" in self.hand:
            self.hand.remove(name if name in self.hand else "?")


def turns(events: list[Message], first: int = 1) -> Iterator[Turn]:
    """Yield the turns of a round; `first`: number of its first event in the record."""
    seats = [Holding(list(hand)) for hand in events[0]["tehais"]]
    turn: Turn | None = None
    for number, event in enumerate(events[1:], first + 1):
        kind, seat = event["type"], event.get("actor", 0)
        if kind in _TAKES:
            if turn:
                yield turn
            turn = Turn(number, seat, str(seats[seat]), _TAKES[kind] + tile_text(event["pai"]))
        seats[seat].apply(event)
        if turn and kind == "reach":
            turn.action += "riichi "
        elif turn and kind == "dora":
            turn.action += f"(dora indicator {tile_text(event['dora_marker'])}) "
        elif turn and event.get("actor") == event.get("target", NONE) == turn.seat:
            turn.action += "tsumo"
        elif turn and (kind == "dahai" or kind in _SETS_DOWN):
            turn.is_tsumogiri = event.get("tsumogiri", False)
            tile = tile_text(event.get("pai", event.get("consumed", ["?"])[0]))
            turn.action += _SETS_DOWN.get(kind, "") + tile + "'" * turn.is_tsumogiri
            yield turn
            turn = None
    if turn:
        yield turn


def show_game(record: GameRecord, console: Console, only: int | None = None) -> None:
    """Print all rounds and the result of a game; or only round `only`, counted from 1, and a link to its replay.

    Raises RecordError for a round that lacks required data.
    """
    names = [describe_source(str(name)) for name in record.events[0].get("names") or ["seat 0", "seat 1", "seat 2"]]
    rounds = record.rounds()
    first = 1 + (record.events.index(rounds[0][0]) if rounds else 0)
    for line in LEGEND:
        console.print(line, style="dim", markup=False)
    for part in record.handed_over:
        console.print(f"{names[part.seat]}: {describe_source(str(part))}", markup=False, highlight=False)
    walls = RecordedWalls(record, record.rules or TENHOU)
    for number, events in enumerate(rounds, 1):
        if only in (None, number):
            with record_errors(record.source, round_name(events[0])):
                show_round(events, names, first, console)
                wall = walls.next_true(events)
                if wall is not None:
                    show_wall(events, wall, console)
        else:
            walls.skip()
        first += len(events)
    if only is not None:
        try:
            console.print(f"in Tenhou's viewer: {viewer_link(record, only)}", markup=False, soft_wrap=True)
        except RecordError as error:
            console.print(f"no link to Tenhou's viewer: {error.what}", markup=False)
        return
    end = record.events[-1]
    if "scores" in end:
        console.rule("[bold]end of the game", align="left")
        points = [f" ({points:+.1f})" for points in end.get("points", [])] or [""] * N_SEATS
        for place, seat in enumerate(sorted(range(N_SEATS), key=lambda seat: -end["scores"][seat]), 1):
            console.print(f"{place}. {names[seat]} {end['scores'][seat]:,}{points[seat]}", markup=False)


def show_wall(events: list[Message], wall: list[int], console: Console) -> None:
    """Print what a round has left in its wall."""
    for what, tiles in left_in_wall(events, wall).items():
        shown = " ".join(tile_text(MJAI_NAMES[tile]) for tile in tiles) or "none"
        console.print(f"{what}: {shown}", style="dim", markup=False, highlight=False)


def show_round(events: list[Message], names: list[str], first: int, console: Console) -> None:
    """Print a round; `first`: number of its first event in the record."""
    start = events[0]
    indicator = tile_text(start["dora_marker"])
    heading = (round_name(start), f"riichi sticks {start['kyotaku']}", f"dora indicator {indicator}")
    console.rule(f"[bold]{' · '.join(heading)}", align="left")
    winds = [WINDS[(seat - start["oya"]) % N_SEATS] for seat in range(N_SEATS)]
    players = zip(winds, names, start["scores"], strict=True)
    console.print(" · ".join(f"{wind} {name} {score:,}" for wind, name, score in players), markup=False)
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("no.", justify="right", no_wrap=True)
    table.add_column("player", no_wrap=True, overflow="ellipsis", max_width=max(6, console.width // 7))
    table.add_column("hand", min_width=20)
    table.add_column("takes")
    table.add_column("does")
    for turn in turns(events, first):
        action = Text(turn.action, style="dim" if turn.is_tsumogiri else "")
        cells = [Text(str(turn.number), style="dim"), Text(names[turn.seat]), Text(turn.hand), Text(turn.takes), action]
        table.add_row(*cells)
    console.print(table)
    for event in events:
        if event["type"] in ("hora", "ryukyoku"):
            for line in result_lines(event, names, events):
                console.print(describe_source(line), markup=False, style="bold", highlight=False)
