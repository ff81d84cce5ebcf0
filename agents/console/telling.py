"""What happens at a table, in words."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from agents.client.session import PLACEMENTS
from agents.console.tiles import set_text, tile_text
from agents.external.mjai_bot import one_line
from engine.mjai.messages import Message
from engine.mjai.results import result_lines
from engine.records.model import round_name
from engine.table import N_SEATS
from engine.tiles import MJAI_TILES, NONE

# Type of an event -> what you do, what another does; the tiles follow.
DEEDS = {
    "tsumo": ("draw", "draws"),
    "dahai": ("discard", "discards"),
    "reach": ("declare riichi", "declares riichi"),
    "pon": ("call pon:", "calls pon:"),
    "daiminkan": ("call kan:", "calls kan:"),
    "ankan": ("declare a concealed kan:", "declares a concealed kan:"),
    "kakan": ("add to a pon:", "adds to a pon:"),
    "nukidora": ("set aside", "sets aside"),
}
RESULTS = ("hora", "ryukyoku")


def describe_event(message: Message, names: Sequence[str], seat: int) -> Text | None:
    """Describe an event to `seat`; None for events that go without saying, such as the draws of others."""
    kind, actor = message["type"], message.get("actor", NONE)
    if kind == "start_kyoku":
        return Text(f"{round_name(message)} begins", "bold")
    if kind == "dora":
        return Text("new dora indicator ") + tile_text(MJAI_TILES[message["dora_marker"]])
    if kind not in DEEDS or (kind == "tsumo" and actor != seat):
        return None
    who, deed = whose(actor, names, seat), DEEDS[kind][actor != seat]
    line = Text.assemble((who, "bold" if actor == seat else ""), " ", deed)
    if tiles := [MJAI_TILES[name] for name in (*message.get("consumed", ()), *_taken(message))]:
        line = line + " " + set_text(tiles)
    if kind == "dahai" and message.get("tsumogiri"):
        line.append(", just drawn", "dim")
    return line + (f" from {whose(message['target'], names, seat)}" if "target" in message else "")


def _taken(message: Message) -> list[str]:
    """The tile of an event that is not among those consumed; some writers name one of the four of an ankan."""
    return [message["pai"]] if "pai" in message and message["type"] != "ankan" else []


def whose(seat: int, names: Sequence[str], own: int) -> str:
    """The name of a seat, or ``you``."""
    return "you" if seat == own else one_line(names[seat])


def result_of(message: Message, names: Sequence[str], events: list[Message]) -> list[Text]:
    """A win or ryukyoku with the hand, the yaku, han, fu, points and payments; `events`: of its round."""
    first, *others = result_lines(message, names, events)
    return [Text(one_line(first), "bold"), *(Text(one_line(line)) for line in others)]


def end_of(message: Message, names: Sequence[str], seat: int, scores: Sequence[int]) -> list[Text]:
    """The places of all players at the end of a game; `scores` where the message has none."""
    scores = message.get("scores", scores)
    points = [f"  {points:+6.1f}" for points in message.get("points", ())] or [""] * N_SEATS
    order = sorted(range(N_SEATS), key=lambda other: (-scores[other], other))
    lines = [Text("the game is over", "bold")]
    for place, other in zip(PLACEMENTS, order, strict=True):
        line = f"{place}  {scores[other]:>7,}{points[other]}  {whose(other, names, seat)}"
        lines.append(Text(line, "bold" if other == seat else ""))
    return lines
