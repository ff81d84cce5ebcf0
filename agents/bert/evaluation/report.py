"""The metrics as tables on screen."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents.bert.evaluation.metrics import N_BINS, Agreement, Calibration, LabelMetrics, PlacementMetrics, PointsMetrics
from agents.bert.evaluation.records import BASELINE, LevelMetrics, RecordMetrics
from agents.bert.evaluation.validation import ValidationMetrics
from agents.bert.evaluation.wahaha import WAHAHA_ACCURACY, WAHAHA_LABELS, WAHAHA_LOSS
from engine.records import mjlog

UNDEFINED = "–"  # for a share of no samples
RANKS = ("1st", "2nd", "3rd")
ENGLISH = "newcomer", *(f"{kyu} kyu" for kyu in range(9, 0, -1)), *(f"{dan} dan" for dan in range(1, 11)), "tenhoui"
LEVELS = dict(zip(mjlog.RANKS, ENGLISH, strict=True))  # of Tenhou


def percent(share: float | None) -> str:
    """A share as a percentage."""
    return UNDEFINED if share is None else f"{100 * share:.1f}"


def accuracy(metrics: Agreement) -> str:
    """An accuracy with its interval."""
    return f"{percent(metrics.accuracy)} % ± {percent(metrics.interval)}"


def make_table(*headings: str) -> Table:
    """A table with words in its first column and numbers in the others."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), collapse_padding=True)
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="right" if index else "left", vertical="bottom", no_wrap=True)
    return table


def label_table(labels: Sequence[LabelMetrics]) -> Table:
    """Return one row per label."""
    table = make_table("label", "played", "predicted", "recall,\n%", "precision,\n%")
    for each in labels:
        counts = (f"{count:,}" for count in (each.played, each.predicted))
        table.add_row(each.label, *counts, percent(each.recall), percent(each.precision))
    return table


def placement_table(metrics: PlacementMetrics) -> Table:
    """Return one row per bin of predicted probability, with three columns per rank."""
    headings = (heading for rank in RANKS for heading in (f"{rank}\nsamples", "\nmean", "\nactual"))
    table = make_table("predicted", *headings)
    for index in range(N_BINS):
        cells = (cell for rank in metrics.ranks for cell in calibration_cells(rank, index))
        table.add_row(f"{100 * index // N_BINS}-{100 * (index + 1) // N_BINS}", *cells)
    return table


def calibration_cells(metrics: Calibration, index: int) -> tuple[str, str, str]:
    """The samples in a bin, their mean probability, and how often the event happened."""
    for each in metrics.bins:
        if each.index == index:
            return f"{each.n:,}", percent(each.predicted), percent(each.actual)
    return "0", UNDEFINED, UNDEFINED


def points_table(metrics: PointsMetrics) -> Table:
    """Return one row per decile of the prediction."""
    table = make_table("decile", "samples", "predicted", "actual")
    for each in metrics.deciles:
        table.add_row(str(each.index + 1), f"{each.n:,}", f"{each.predicted:+.1f}", f"{each.actual:+.1f}")
    return table


def baseline_table(metrics: RecordMetrics) -> Table:
    """Return one row per label that was played: recall and precision of network, baseline and wahaha."""
    headings = (f"{which}\n{what}, %" for which in ("network", BASELINE, "wahaha") for what in ("recall", "precision"))
    table = make_table("label", "played", *headings)
    others = [{each.label: each for each in labels} for labels in (metrics.baseline.labels, WAHAHA_LABELS)]
    for each in metrics.network.labels:
        if each.played:
            found = (each, *(labels.get(each.label) for labels in others))
            shares = (share for of in found for share in ((of.recall, of.precision) if of else (None, None)))
            table.add_row(each.label, f"{each.played:,}", *map(percent, shares))
    return table


def confidence_table(metrics: Calibration) -> Table:
    """Return one row per bin of the probability of the likeliest label."""
    table = make_table("probability", "decisions", "mean", "agreed")
    for each in metrics.bins:
        bounds = f"{100 * each.index // N_BINS}-{100 * (each.index + 1) // N_BINS}"
        table.add_row(bounds, *calibration_cells(metrics, each.index))
    return table


def level_table(levels: Sequence[LevelMetrics]) -> Table:
    """Return one row per level of the players."""
    table = make_table("players", "decisions", "network, %", "±", f"{BASELINE}, %")
    for each in levels:
        table.add_row(
            LEVELS.get(each.dan, each.dan),
            f"{each.samples:,}",
            *map(percent, (each.network, each.interval, each.baseline)),
        )
    return table


class Report:
    """Prints metrics to a console, each part under a heading."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def _heading(self, text: str) -> None:
        self._console.print(Text(text, style="bold"), soft_wrap=True)

    def _line(self, text: str) -> None:
        self._console.print(Text(text), soft_wrap=True)

    def validation(self, metrics: ValidationMetrics) -> None:
        """Metrics of validation games."""
        policy, placement, points = metrics.policy, metrics.placement, metrics.points
        self._heading(f"Validation: {policy.samples:,} samples of {metrics.games:,} games")
        self._line(f"accuracy {accuracy(policy)}, loss {metrics.loss:.4f}")
        if metrics.regret is not None:
            self._line(f"mean regret of the likeliest label, in placement: {metrics.regret:.4f}")
        kinds = (f"{each.kind} {percent(each.accuracy)} % of {each.samples:,}" for each in metrics.kinds)
        self._line("by kind of decision: " + ", ".join(kinds))
        self._console.print(label_table(policy.labels))
        self._heading("Final placement, in %: predicted probability, its mean, and how often it happened")
        self._console.print(placement_table(placement))
        errors = ", ".join(f"{rank} {each.error:.4f}" for rank, each in zip(RANKS, placement.ranks, strict=True))
        self._line(f"expected calibration error: {errors}")
        self._line(f"log loss {placement.log_loss:.4f}; {placement.base_log_loss:.4f} if the frequencies are predicted")
        self._heading("Final points, in thousands: deciles of the prediction, and means of prediction and outcome")
        self._console.print(points_table(points))
        self._line(f"root mean square error {points.error:.2f}; {points.base_error:.2f} if the mean is predicted")

    def records(self, metrics: RecordMetrics) -> None:
        """Metrics of recorded games."""
        n, games = metrics.network.samples, metrics.games
        self._heading(f"Recorded players: {n:,} decisions in {games:,} games")
        self._line(f"network   {accuracy(metrics.network)}, loss {metrics.loss:.4f}")
        self._line(f"{BASELINE} bot  {accuracy(metrics.baseline)}")
        self._line(
            f"wahaha    {percent(WAHAHA_ACCURACY)} %, loss {WAHAHA_LOSS:.4f}: as published, on other games of Tenhou's "
            "phoenix room, after training on 20,000 games of that archive; a network trained on games of bots has seen "
            "none"
        )
        if metrics.damaged or metrics.departures:
            self._line(
                f"left out: {metrics.damaged:,} damaged records, and the rest of {metrics.departures:,} rounds that "
                "depart from the rules (see python -m engine validate)"
            )
        self._console.print(baseline_table(metrics))
        self._console.print(level_table(metrics.levels))
        self._heading("The network's action, in %: its probability, the mean of it, and how often the players agreed")
        self._console.print(confidence_table(metrics.confidence))
        self._line(f"expected calibration error: {metrics.confidence.error:.4f}")
