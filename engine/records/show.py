"""Print a record on a terminal: a line for each turn, with the hand before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from engine.mjai.messages import Message
from engine.records.model import GameRecord, round_name
from engine.ryukyoku import ENGLISH_BY_MJAI
from engine.tiles import KIND_OF, MJAI_TILES, MPSZ_NAMES

_DRAW_PREFIXES = {"tsumo": "", "pon": "pon ", "daiminkan": "kan "}
_KAN_PREFIXES = {"ankan": "closed kan ", "kakan": "added kan ", "nukidora": "nukidora "}


@dataclass
class Turn:
    """A turn of a seat, from draw or call to discard; `number`: of its first event in the record, from 1."""

    number: int
    seat: int
    hand: str
    drawn: str
    action: str = ""
    is_tsumogiri: bool = False


def hand_text(names: list[str]) -> str:
    """Tiles sorted and grouped by suit: ``19m 1340p 2378s ESF`` (0 is a red five)."""
    suits: dict[str, str] = dict.fromkeys("mps", "")
    honours = ""
    for name in sorted((name for name in names if name != "?"), key=lambda name: KIND_OF[MJAI_TILES[name]]):
        if len(name) == 1:
            honours += name
        else:
            ranked = MPSZ_NAMES[MJAI_TILES[name]]
            suits[ranked[1]] += ranked[0]
    groups = [ranks + suit for suit, ranks in suits.items() if ranks]
    return " ".join([*groups, *filter(None, (honours, "?" * names.count("?")))])


def turns(events: list[Message], first: int = 1) -> Iterator[Turn]:
    """The turns of a round; `first`: number of its first event in the record."""
    hands = [list(hand) for hand in events[0]["tehais"]]
    turn: Turn | None = None
    for number, event in enumerate(events[1:], first + 1):
        kind, seat = event["type"], event.get("actor", 0)
        if kind in _DRAW_PREFIXES:
            if turn:
                yield turn
            turn = Turn(number, seat, hand_text(hands[seat]), _DRAW_PREFIXES[kind] + event["pai"])
        if kind in ("tsumo", "dahai", "nukidora", "kakan"):
            _move(hands[seat], [event["pai"]], taken=kind == "tsumo")
        elif "consumed" in event:
            _move(hands[seat], event["consumed"], taken=False)
        if turn and kind == "reach":
            turn.action += "riichi "
        elif turn and kind == "dora":
            turn.action += f"(indicator {event['dora_marker']}) "
        elif turn and (kind == "dahai" or kind in _KAN_PREFIXES):
            turn.action += _KAN_PREFIXES.get(kind, "") + event.get("pai", event.get("consumed", [""])[0])
            turn.is_tsumogiri = event.get("tsumogiri", False)
            yield turn
            turn = None
    if turn:
        yield turn


def _move(hand: list[str], names: list[str], *, taken: bool) -> None:
    """Add tiles to a hand (`taken`) or remove them; from a hidden hand a hidden tile is removed."""
    for name in names:
        if taken:
            hand.append(name)
        elif name in hand or "?" in hand:
            hand.remove(name if name in hand else "?")


def show_game(record: GameRecord, console: Console, only: int | None = None) -> None:
    """Print all rounds and the result of a game, or only the round with number `only`, from 1."""
    names = record.events[0].get("names") or ["seat 0", "seat 1", "seat 2"]
    first = 1 + next(index for index, event in enumerate(record.events) if event["type"] == "start_kyoku")
    for number, events in enumerate(record.rounds(), 1):
        if only in (None, number):
            show_round(events, names, first, console)
        first += len(events)
    end = record.events[-1]
    if only is None and "scores" in end:
        scores = [f"{name} {score:,}" for name, score in zip(names, end["scores"], strict=True)]
        points = [f" ({points:+.1f})" for points in end.get("points", [])] or [""] * len(scores)
        console.rule("[bold]end of the game", align="left")
        console.print(" · ".join(map("".join, zip(scores, points, strict=True))), markup=False)


def show_round(events: list[Message], names: list[str], first: int, console: Console) -> None:
    """Print a round; `first`: number of its first event in the record."""
    start = events[0]
    heading = (round_name(start), f"sticks {start['kyotaku']}", f"indicator {start['dora_marker']}")
    console.rule(f"[bold]{' · '.join(heading)}", align="left")
    scores = [f"{name} {score:,}" for name, score in zip(names, start["scores"], strict=True)]
    console.print(" · ".join(scores), markup=False)
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    for turn in turns(events, first):
        action = Text(turn.action, style="dim" if turn.is_tsumogiri else "")
        cells = [Text(str(turn.number), style="dim"), Text(names[turn.seat]), Text(turn.hand), Text(turn.drawn), action]
        table.add_row(*cells)
    console.print(table)
    for event in events:
        if event["type"] in ("hora", "ryukyoku"):
            console.print(result_text(event, names), markup=False, style="bold", highlight=False)


def result_text(event: Message, names: list[str]) -> str:
    """A win or ryukyoku with its payments as one line; what the record does not have is left out."""
    if event["type"] == "ryukyoku":
        parts = [f"ryukyoku: {ENGLISH_BY_MJAI.get(event['reason'], event['reason'])}"]
    else:
        tile = event.get("pai", "")
        by_tsumo = event["actor"] == event["target"]
        how = f"tsumo {tile}" if by_tsumo else f"ron {tile} from {names[event['target']]}"
        parts = [f"{names[event['actor']]}: {how}", *(f"{name} {han}" for name, han in event.get("yakus", []))]
        parts += [f"{event[key]} {word}" for key, word in (("fu", "fu"), ("fan", "han")) if key in event]
    deltas = event.get("deltas", [])
    return ", ".join(parts) + "   " + "  ".join(f"{delta:+,}" for delta in deltas)
