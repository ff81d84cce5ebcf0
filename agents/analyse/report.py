"""An analysis on a terminal: the table, the hand after each discard beside the bots' losses, and the wins."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents.analyse.analysis import Analysed, Analysis
from agents.analyse.wins import Win
from agents.review.opinions import RatedOption
from agents.review.report import UNKNOWN, loss_text
from agents.review.words import action_words
from engine.actions import TSUMOGIRI
from engine.common.screen import plain_table
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
    table = plain_table(["discard"], ["shanten", "tiles", "danger, %", *analysis.opinions], ["ukeire"])
    for each in sorted(analysis.hands, key=lambda each: (each.hand.shanten, -each.hand.left)):
        hand = each.hand
        losses = [loss_text(loss_of_discard(options, hand.tile, analysis)) for options in analysis.opinions.values()]
        ukeire = " ".join(f"{MJAI_NAMES[kind]}×{left}" for kind, left in hand.ukeire.items())
        table.add_row(
            discarded(each),
            str(hand.shanten),
            str(hand.left),
            f"{100 * hand.danger:.1f}",
            *losses,
            ukeire + " (furiten)" * each.furiten,
        )
    return table


def loss_of_discard(options: list[RatedOption], tile: int, analysis: Analysis) -> float | None:
    """What a bot loses by discarding `tile`, in placements; None where it does not say."""
    drawn = int(analysis.placed.view["drawn"])
    for option in options:
        if (drawn if option.action == TSUMOGIRI else option.action) == tile:
            return loss_of(options, option)
    return None


def loss_of(options: list[RatedOption], option: RatedOption) -> float | None:
    """What a bot loses by one of its options, best first, in placements; None where it does not say."""
    best = options[0].value
    return None if best is None or option.value is None else best - option.value


def others_table(analysis: Analysis) -> Table:
    """A row an action that is no discard, with the bots' losses; none if all are discards."""
    table = plain_table(["action"], [*analysis.opinions])
    view = analysis.placed.view
    losses: dict[str, list[str]] = {}
    for options in analysis.opinions.values():
        for option in options:
            if option.action > TSUMOGIRI:
                words = action_words(action_message(view, int(view["viewer"]), option.action))
                losses.setdefault(words, []).append(loss_text(loss_of(options, option)))
    for words, row in losses.items():
        table.add_row(words, *row)
    return table


def wins_table(analysis: Analysis) -> Table:
    """A row a win: without ippatsu, ura dora and the last tile."""
    table = plain_table(["discard"], texts=["wait", "win", "score"])
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
