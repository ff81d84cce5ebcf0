"""The curve of a run as a picture."""

from __future__ import annotations

from pathlib import Path

from agents.rl.evaluation import Strength
from engine.common.files import write_atomically


def plot_curve(curve: list[Strength], picture: Path) -> None:
    """Draw the placements of a curve over the minutes, with their intervals, into an SVG file.

    Raises OSError. Needs matplotlib.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for opponent in dict.fromkeys(row.opponent for row in curve):
        rows = [row for row in curve if row.opponent == opponent]
        minutes, placements, intervals = zip(*((row.minutes, row.placement, row.interval) for row in rows), strict=True)
        axes.errorbar(minutes, placements, intervals, marker="o", capsize=3, label=f"against two {opponent}")
    axes.axhline(2, color="0.7", linewidth=1)
    axes.set_xlabel("minutes of training")
    axes.set_ylabel("mean placement")
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    with write_atomically(picture) as file, rc_context({"svg.fonttype": "none"}):
        figure.savefig(file, format="svg")
