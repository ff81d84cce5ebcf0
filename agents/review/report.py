"""A review on a terminal: a table of its figures, and the largest mistakes in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents.review.decisions import Decision
from agents.review.opinions import RatedOption
from agents.review.review import Json, Review
from agents.review.words import action_words
from engine.common.screen import plain_table
from engine.mjai.actions import action_message
from engine.records.model import round_name

N_MISTAKES = 10
UNKNOWN = "–"


def print_review(review: Review, console: Console) -> None:
    """Print the figures and mistakes of each bot, one after the other."""
    console.print(Text(heading(review.of.names, review.of.seat, console.width), style="bold"))
    if cut := review.of.record.cut:
        console.print(Text(f"{cut}; reviewed as far as it goes"))
    if handed_over := review.of.record.describe_handover(review.of.seat):
        console.print(Text(f"left out: {handed_over}"))
    for problem in review.of.problems:
        console.print(Text(f"left out, as it departs from the rules: {problem}"))
    for bot, spec in enumerate(review.bots):
        console.print()
        console.print(Text(f"Reviewed by {spec}", style="bold"))
        summary = review.summary(bot)
        console.print(summary_table(summary))
        if summary["unknown"]:
            told = f"Decisions without a known loss, as {spec} did not evaluate what was played: {summary['unknown']}"
            console.print(Text(told))
        mistakes = largest_mistakes(review, bot)
        if mistakes.row_count:
            console.print(Text("Largest losses, in placements", style="bold"))
            console.print(mistakes)


def heading(names: Sequence[str], seat: int, width: int) -> str:
    """Whose decisions are reviewed, against whom; on three lines where one is too narrow, as names may have spaces."""
    own, others = f"{names[seat]} (seat {seat})", [name for other, name in enumerate(names) if other != seat]
    line = f"{own} against {', '.join(others)}"
    return line if cell_len(line) <= width else "\n".join([own, *(f"against {name}" for name in others)])


def summary_table(summary: Json) -> Table:
    """One row a kind of decision, and one for all."""
    table = plain_table(["decision"], ["number", "agreed", "agreed, %", "mean loss"])
    for kind, row in (summary["by_kind"] | {"all": summary}).items():
        share = f"{100 * row['accuracy']:.1f}"
        table.add_row(kind, f"{row['decisions']:,}", f"{row['agreed']:,}", share, loss_text(row["mean_loss"]))
    return table


def largest_mistakes(review: Review, bot: int) -> Table:
    """The largest known losses, largest first."""
    table = plain_table(numbers=["loss"], texts=["where", "played", "preferred"])
    table.pad_edge, table.columns[1].no_wrap = False, True  # where there is no room, actions are folded, not places
    found = [
        (opinion.loss, index)
        for index, opinion in enumerate(review.opinions[bot])
        if opinion.loss is not None and not opinion.agrees
    ]
    for loss, index in sorted(found, key=lambda each: (-each[0], each[1]))[:N_MISTAKES]:
        decision, opinion = review.of.decisions[index], review.opinions[bot][index]
        played, better = (
            option_words(option, review.of.views[index])
            for option in (opinion.options[opinion.actual], opinion.options[0])
        )
        table.add_row(loss_text(loss), place(review, decision), played, better)
    return table


def place(review: Review, decision: Decision) -> str:
    """Where in the game a decision was made: ``E1 turn 5``, ``S2 honba 1 turn 3``."""
    starts = [event for event in review.of.record.events if event["type"] == "start_kyoku"]
    return f"{round_name(starts[decision.round]).removesuffix(' honba 0')} turn {decision.turn}"


def option_words(option: RatedOption, view: np.record) -> str:
    """An option with the bot's probability, if it has any: ``discard 5p 83%``."""
    words = action_words(action_message(view, int(view["viewer"]), option.action))
    return words if option.probability is None else f"{words} {100 * option.probability:.0f}%"


def loss_text(loss: float | None) -> str:
    """A loss with four decimals."""
    return UNKNOWN if loss is None else f"{loss:.4f}"
