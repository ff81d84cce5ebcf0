"""The plot of a check of a strength scale, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from engine.contests.estimates import Estimate

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 560, 420, 60, 48, 36, 16  # pixels
TICK = 200  # points
STYLE = (
    "text{font:13px sans-serif;fill:#444}.grid{stroke:#ddd}.asked{stroke:#999;stroke-dasharray:5 4}"
    ".within{fill:#1f77b4;opacity:.12}.measured{stroke:#1f77b4;stroke-width:2}circle{fill:#1f77b4}"
)


def strength_plot(bot: str, asked: Sequence[int], measured: Sequence[Estimate], within: int) -> str:
    """The measured points by those asked for (both 0 or less), with intervals; a band shows ``within`` points."""
    lowest = min(*asked, *(each.mean - (each.interval or 0.0) for each in measured)) - within

    def x(points: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * points / lowest, 1)

    def y(points: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * points / lowest, 1)

    def line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
        return f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'

    parts = [f'<text x="{LEFT}" y="20">{escape(bot)}: points measured, by points asked for</text>']
    for points in range(0, int(lowest) - 1, -TICK):
        parts.append(line("grid", LEFT, y(points), WIDTH - RIGHT, y(points)))
        parts.append(line("grid", x(points), TOP, x(points), HEIGHT - BOTTOM))
        parts.append(f'<text x="{LEFT - 8}" y="{y(points) + 4}" text-anchor="end">{points}</text>')
        parts.append(f'<text x="{x(points)}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{points}</text>')
    end = min(asked)
    corners = [(0, within), (end, end + within), (end, end - within), (0, -within)]
    parts.append(f'<polygon class="within" points="{" ".join(f"{x(a)},{y(b)}" for a, b in corners)}"/>')
    parts.append(line("asked", x(0), y(0), x(end), y(end)))
    for points, each in zip(asked, measured, strict=True):
        half = each.interval or 0.0
        parts.append(line("measured", x(points), y(each.mean - half), x(points), y(each.mean + half)))
        parts.append(f'<circle cx="{x(points)}" cy="{y(each.mean)}" r="4"/>')
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">\n'
        f'<style>{STYLE}</style>\n<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n'
    )
