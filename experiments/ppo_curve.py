"""Draws the curves of runs of examples/ppo.py: placement over minutes, with the 95 % interval of each row.

    python examples/ppo.py runs/ppo --minutes 30
    python experiments/ppo_curve.py docs/ppo.svg "tsumogiri and random=runs/ppo"

Each run is given as LABEL=FOLDER. Needs the extra `[report]`, for matplotlib.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams["svg.fonttype"] = "none"  # text stays text
mpl.rcParams["svg.hashsalt"] = "nukidora"  # the same picture again is the same file

from matplotlib import pyplot as plt  # noqa: E402


def main(picture: str, *runs: str) -> None:
    """Draw the curves of `runs` into the file `picture`."""
    figure, axes = plt.subplots(figsize=(7, 3.5))
    for run in runs:
        label, _, folder = run.partition("=")
        with (Path(folder) / "curve.csv").open(encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["placement"] != "nan"]
        minutes, placement, interval = (
            [float(row[name]) for row in rows] for name in ("minutes", "placement", "interval")
        )
        axes.errorbar(minutes, placement, interval, label=f"against {label}", marker="o", markersize=3)
    axes.axhline(2, color="gray", linewidth=0.8)
    axes.set(xlabel="minutes", ylabel="mean placement", ylim=(3.05, 0.95))
    axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(f"usage: python {sys.argv[0]} PICTURE LABEL=FOLDER...")
    main(*sys.argv[1:])
