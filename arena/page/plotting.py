"""Figures as SVG inside a page: drawn by matplotlib, with the colours, the font and the links to itself of that page.

The same figure gives the same text. Needs matplotlib, which the extra ``report`` installs.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from html import escape
from io import StringIO
from typing import Any

# For each bot, so that bots differ in more than colour: the line style for matplotlib and for SVG, and the marker.
LINES = ("-", (0, (5, 2)), (0, (1, 1.5)))
DASHES = ("", "6 3", "2 2")
MARKERS = ("o", "s", "^")

# Placeholders for the colours of the page while matplotlib draws.
TEXT, GRID, BOTS = "#010101", "#020202", ("#030300", "#030301", "#030302")
OF_PAGE = {TEXT: "currentColor", GRID: "var(--line)"} | {bot: f"var(--bot-{i})" for i, bot in enumerate(BOTS)}

WIDTH = 4.6  # inches; 331 pixels of the drawing, which a phone shows as they are
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "nukidora",
    "text.parse_math": False,
    "text.color": TEXT,
    "axes.edgecolor": TEXT,
    "axes.labelcolor": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10.5,
    "figure.constrained_layout.use": True,
    "legend.frameon": False,
}
NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


def svg(name: str, label: str, height: float, draw: Callable[[Any], None]) -> str:
    """Return what ``draw`` draws on its axes as an SVG element; ``height`` in inches.

    ``name``: unique on the page. ``label``: describes the figure to readers who cannot see it.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    text = StringIO()
    with rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the page's fonts have it, or the reader's
        figure = Figure(figsize=(WIDTH, height))
        draw(figure.subplots())
        figure.savefig(text, format="svg", transparent=True, metadata=NO_METADATA)
    return _embed(text.getvalue(), name, label)


def _embed(text: str, name: str, label: str) -> str:
    """An SVG file as an element of a page: without header and styles, and with unique identifiers."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*" height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(url\(#|xlink:href="#)', rf"\g<1>{name}-", text)
    text = text.replace("'DejaVu Sans', sans-serif", "sans-serif")
    for drawn, shown in OF_PAGE.items():
        text = text.replace(drawn, shown)
    return text.replace("<svg ", f'<svg class="plot" role="img" aria-label="{escape(label)}" ', 1)


def key_of(bot: int) -> str:
    """The line and the marker of a bot, as a small drawing for a legend."""
    marker = (
        '<circle cx="14" cy="6" r="3.5"/>',
        '<rect x="10.5" y="2.5" width="7" height="7"/>',
        '<path d="M14 2l4 7h-8z"/>',
    )[bot]
    line = f'<path d="M0 6h28" stroke="var(--bot-{bot})" stroke-width="2" stroke-dasharray="{DASHES[bot]}"/>'
    return f'<svg class="key" viewBox="0 0 28 12" aria-hidden="true" fill="var(--bot-{bot})">{line}{marker}</svg>'
