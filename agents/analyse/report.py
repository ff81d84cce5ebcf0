"""An analysis on a terminal: the table, the hand after each discard beside the bots' losses, and the wins."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents.analyse.analysis import Analysed, Analysis
from agents.analyse.wins import Win
from agents.review.opinions import RatedOption
from agents.review.report import UNKNOWN, loss_text
from agents.review.words import action_words
from engine.actions import TSUMOGIRI
from engine.mjai.actions import action_message
from engine.tiles import MJAI_NAMES


def print_analysis(analysis: Analysis, console: Console) -> None:
    """Print it."""
    console.print(Text(str(analysis.placed.view).partition("\n(")[0]))
    console.print()
    if analysis.win is not None:
        console.print(Text(f"{'tsumo' if analysis.win.tsumo else 'ron'} now: {analysis.win.score}", style="bold"))
    console.print(hands_table(analysis))
    others = others_table(analysis)
    if others.row_count:
        console.print(others)
    wins = wins_table(analysis)
    if wins.row_count:
        console.print(wins)


def hands_table(analysis: Analysis) -> Table:
    """A row a discard: those with the lowest shanten and most tiles first."""
    table = plain_table("discard")
    for heading in ("shanten", "tiles", "danger, %", *analysis.opinions):
        table.add_column(heading, justify="right")
    table.add_column("ukeire", overflow="fold")
    for each in sorted(analysis.hands, key=lambda each: (each.hand.shanten, -each.hand.left)):
        hand = each.hand
        losses = [loss_text(loss_of(options, hand.tile, analysis)) for options in analysis.opinions.values()]
        ukeire = " ".join(f"{MJAI_NAMES[kind]}×{left}" for kind, left in hand.ukeire.items())
        table.add_row(
            MJAI_NAMES[hand.tile] if hand.tile >= 0 else UNKNOWN,
            str(hand.shanten),
            str(hand.left),
            f"{100 * hand.danger:.1f}",
            *losses,
            ukeire + " (furiten)" * each.furiten,
        )
    return table


def loss_of(options: list[RatedOption], tile: int, analysis: Analysis) -> float | None:
    """What a bot loses by discarding `tile`, in placements; None where it does not say."""
    drawn = int(analysis.placed.view["drawn"])
    best = options[0].value
    for option in options:
        if (drawn if option.action == TSUMOGIRI else option.action) == tile:
            return None if best is None or option.value is None else best - option.value
    return None


def others_table(analysis: Analysis) -> Table:
    """A row an action that is no discard, with the bots' losses; none if all are discards."""
    table = plain_table("action")
    for bot in analysis.opinions:
        table.add_column(bot, justify="right")
    view = analysis.placed.view
    losses: dict[str, list[str]] = {}
    for options in analysis.opinions.values():
        for option in options:
            if option.action > TSUMOGIRI:
                words = action_words(action_message(view, int(view["viewer"]), option.action))
                best = options[0].value
                loss = None if best is None or option.value is None else best - option.value
                losses.setdefault(words, []).append(loss_text(loss))
    for words, row in losses.items():
        table.add_row(words, *row)
    return table


def wins_table(analysis: Analysis) -> Table:
    """A row a win: without ippatsu, ura dora and the last tile."""
    table = plain_table("discard")
    for heading in ("wait", "win", "score"):
        table.add_column(heading, overflow="fold")
    for each in analysis.hands:
        for wait in each.waits:
            for win in wait.wins:
                table.add_row(discarded(each), f"{MJAI_NAMES[wait.kind]}×{wait.left}", way(win), str(win.score))
    return table


def discarded(each: Analysed) -> str:
    """The tile discarded."""
    return MJAI_NAMES[each.hand.tile] if each.hand.tile >= 0 else UNKNOWN


def way(win: Win) -> str:
    """How a win is made."""
    return ("riichi, " if win.riichi else "") + ("tsumo" if win.tsumo else "ron")


def plain_table(first: str) -> Table:
    """An empty table, its first column named."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), collapse_padding=True)
    table.add_column(first)
    return table
