"""The figures on screen."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents.bert.evaluation.metrics import N_BINS, Agreement, Calibration, LabelFigures, PlacementFigures, PointsFigures
from agents.bert.evaluation.real import WAHAHA_ACCURACY, WAHAHA_LOSS, YARDSTICK, Real
from agents.bert.evaluation.validation import HeldOut

NOTHING = "–"  # a share of nothing
PLACES = ("1st", "2nd", "3rd")


def percent(share: float | None) -> str:
    """A share as a percentage."""
    return NOTHING if share is None else f"{100 * share:.1f}"


def accuracy(found: Agreement) -> str:
    """An accuracy with its interval."""
    return f"{percent(found.accuracy)} % ± {percent(found.interval)}"


def make_table(*headings: str) -> Table:
    """A table with words in its first column and numbers in the others."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left", vertical="bottom", no_wrap=True)
    return table


def label_table(labels: Sequence[LabelFigures]) -> Table:
    """Labels: how often each was played and predicted, and how often both at once."""
    table = make_table("label", "played", "predicted", "right, %\nof played", "right, %\nof predicted")
    for each in labels:
        counts = (f"{count:,}" for count in (each.true, each.predicted))
        table.add_row(each.label, *counts, percent(each.found), percent(each.precision))
    return table


def placement_table(found: PlacementFigures) -> Table:
    """One row for each bin of probability, three columns for each place."""
    headings = (heading for place in PLACES for heading in (f"{place}\npositions", "\nmean", "came\ntrue"))
    table = make_table("predicted", *headings)
    for number in range(N_BINS):
        cells = (cell for place in found.places for cell in calibration_cells(place, number))
        table.add_row(f"{100 * number // N_BINS}-{100 * (number + 1) // N_BINS}", *cells)
    return table


def calibration_cells(found: Calibration, number: int) -> tuple[str, str, str]:
    """How many probabilities are in a bin, their mean, and how many of these came true."""
    for each in found.bins:
        if each.number == number:
            return f"{each.n:,}", percent(each.predicted), percent(each.real)
    return "0", NOTHING, NOTHING


def points_table(found: PointsFigures) -> Table:
    """One row for each tenth of the positions."""
    table = make_table("tenth", "positions", "predicted", "real")
    for each in found.deciles:
        table.add_row(str(each.number + 1), f"{each.n:,}", f"{each.predicted:+.1f}", f"{each.real:+.1f}")
    return table


def yardstick_table(found: Real) -> Table:
    """Labels real players have chosen: how often the network does, and how often the rule bot."""
    table = make_table("label", "played", "network,\nright, %", f"{YARDSTICK} bot,\nright, %")
    right = {each.label: each.found for each in found.yardstick.labels}
    for each in found.network.labels:
        if each.true:
            table.add_row(each.label, f"{each.true:,}", percent(each.found), percent(right[each.label]))
    return table


class Report:
    """Prints to a console, each part under a heading."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def _heading(self, text: str) -> None:
        self._console.print(Text(text, style="bold"), soft_wrap=True)

    def _line(self, text: str) -> None:
        self._console.print(Text(text), soft_wrap=True)

    def held_out(self, found: HeldOut) -> None:
        """Figures of games held out."""
        policy, placement, points = found.policy, found.placement, found.points
        self._heading(f"Games held out: {policy.positions:,} positions of {found.games:,} games")
        self._line(f"accuracy {accuracy(policy)}, loss {found.loss:.4f}")
        if found.regret is not None:
            self._line(f"places lost in a decision, in the eyes of the teacher: {found.regret:.4f}")
        self._console.print(label_table(policy.labels))
        self._heading("Where the player finishes: probabilities, and how often they came true, in %")
        self._console.print(placement_table(placement))
        errors = ", ".join(f"{place} {each.error:.4f}" for place, each in zip(PLACES, placement.places, strict=True))
        self._line(f"expected calibration error: {errors}")
        self._line(f"log loss {placement.log_loss:.4f}; {placement.base_log_loss:.4f} from how often each place comes")
        self._heading("Final points, in thousands: tenths of the positions by what is predicted, and means of each")
        self._console.print(points_table(points))
        self._line(f"root mean square error {points.error:.2f}; {points.base_error:.2f} for the mean as constant guess")

    def real(self, found: Real) -> None:
        """Figures of real games."""
        n, games = found.network.positions, found.games
        self._heading(f"Real players: {n:,} decisions in {games:,} games")
        self._line(f"network   {accuracy(found.network)}, loss {found.loss:.4f}")
        self._line(f"{YARDSTICK} bot  {accuracy(found.yardstick)}")
        self._line(
            f"wahaha    {percent(WAHAHA_ACCURACY)} %, loss {WAHAHA_LOSS:.4f}: as published, on other games of Tenhou's "
            "phoenix room, after training on 20,000 games of that very archive; a network trained on games of bots "
            "has seen none"
        )
        if found.damaged or found.departures:
            self._line(
                f"left out: {found.damaged:,} damaged records, {found.departures:,} rounds from where they depart from "
                "the rules (python -m engine validate tells more)"
            )
        self._console.print(yardstick_table(found))
