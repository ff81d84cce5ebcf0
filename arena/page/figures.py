"""The figures of the report, as one table: what each shows, and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from arena import student
from arena.page.plotting import BOTS, LINES, MARKERS, svg
from arena.results import Results
from arena.schedule import ROTATIONS, seating
from arena.statistics import DEAL_INS, ROUNDS, SCORE, WINS, BotGames, estimate, fair
from engine.table import N_SEATS

FEW, MANY = 2, 200  # the walls at which a running mean begins, and at how many points it is drawn
SETTLED = 0.05  # of the walls: what a running mean does before is not worth the space that it takes
SCORE_STEP = 5_000  # points
OFFSET = 0.12  # between the bots at one place of an axis


@dataclass(frozen=True)
class Data:
    """What figures are drawn of: the games of each bot."""

    bots: Sequence[BotGames]
    walls: Sequence[int]

    @classmethod
    def of(cls, results: Results) -> Data:
        """Those of the finished games of a run."""
        return cls(results.by_bot(), results.finished)

    @property
    def placements_are(self) -> str:
        """Which placements the table and the figures show."""
        return "as played" if self.bots[0].luck is None else "without the luck of the walls"

    @cached_property
    def rotation_of_seat(self) -> np.ndarray:
        """In which rotation of a wall each bot has each seat: int64[bots, walls, seats]."""
        seat_of_bot = np.argsort(seating(self.walls), axis=2)  # [walls, rotations, bots]
        return np.argsort(seat_of_bot, axis=1).transpose(2, 0, 1)


def convergence(axes: Any, data: Data) -> None:
    """The mean placement of each bot after each wall, with its interval."""
    n_walls = len(data.walls)
    at = np.unique(np.linspace(min(FEW, n_walls), n_walls, MANY).astype(int))
    lowest, highest = [], []
    for index, bot in enumerate(data.bots):
        values = bot.fair_placements
        means = np.cumsum(values)[at - 1] / at
        widths = np.array([student.half_width(values[:n]) or 0.0 for n in at])
        axes.plot(at * ROTATIONS, means, color=BOTS[index], linestyle=LINES[index])
        axes.fill_between(at * ROTATIONS, means - widths, means + widths, color=BOTS[index], alpha=0.18, linewidth=0)
        settled = at >= SETTLED * n_walls
        lowest.append((means - widths)[settled].min())
        highest.append((means + widths)[settled].max())
    margin = 0.05 * (max(highest) - min(lowest)) + 0.01
    axes.set_ylim(max(highest) + margin, min(lowest) - margin)  # better placements are above
    axes.set_xlabel("games")
    axes.set_ylabel("mean placement")


def placements(axes: Any, data: Data) -> None:
    """How often each bot finished first, second and third."""
    width = 0.8 / N_SEATS
    for index, bot in enumerate(data.bots):
        shares = [100 * float(np.mean(bot.placements == place)) for place in (1, 2, 3)]
        at = np.arange(N_SEATS) + (index - 1) * width
        bars = axes.bar(at, shares, width * 0.94, color=BOTS[index])
        axes.bar_label(bars, [f"{share:.0f}" for share in shares], padding=1, fontsize=9.5)
    axes.set_xticks(range(N_SEATS), ["1st", "2nd", "3rd"])
    axes.set_ylabel("% of games")
    axes.grid(False, axis="x")


def seats(axes: Any, data: Data) -> None:
    """The mean placement of each bot on each seat, with its interval."""
    for index, bot in enumerate(data.bots):
        played = np.take_along_axis(bot.placements, data.rotation_of_seat[index], axis=1)
        luck = None
        if bot.luck is not None:
            luck = np.take_along_axis(bot.luck, data.rotation_of_seat[index][..., None], axis=1)
        by_seat = [
            estimate(fair(played[:, [seat]], None if luck is None else luck[:, [seat]], 0)) for seat in range(N_SEATS)
        ]
        axes.errorbar(
            np.arange(N_SEATS) + (index - 1) * OFFSET,
            [each.mean for each in by_seat],
            [each.interval or 0.0 for each in by_seat],
            fmt=MARKERS[index], color=BOTS[index], capsize=3,
        )  # fmt: skip
    axes.set_xticks(range(N_SEATS), ["0, first dealer", "1", "2"])
    axes.invert_yaxis()
    axes.set_xlabel("seat")
    axes.set_ylabel("mean placement")


def scores(axes: Any, data: Data) -> None:
    """The distribution of the scores at the end of games."""
    every = [bot.counts[..., SCORE] for bot in data.bots]
    first, last = min(map(np.min, every)) // SCORE_STEP, max(map(np.max, every)) // SCORE_STEP + 1
    edges = np.arange(first, last + 1) * SCORE_STEP
    for index, values in enumerate(every):
        shares = 100 * np.histogram(values, edges)[0] / values.size
        axes.stairs(shares, edges / 1000, color=BOTS[index], linestyle=LINES[index], linewidth=1.6, fill=False)
    axes.axvline(0, color="#010101", linewidth=0.8)
    axes.set_xlabel("score at the end, in thousands")
    axes.set_ylabel("% of games")


def plane(axes: Any, data: Data) -> None:
    """Wins by deal-ins, with intervals."""
    for index, bot in enumerate(data.bots):
        (x, dx), (y, dy) = share(bot, DEAL_INS), share(bot, WINS)
        axes.errorbar(x, y, dy, dx, fmt=MARKERS[index], color=BOTS[index], capsize=3, markersize=8)
    axes.margins(0.25)
    axes.set_xlabel("deal-ins, % of rounds")
    axes.set_ylabel("wins, % of rounds")


def share(bot: BotGames, count: int) -> tuple[float, float]:
    """A count in % of rounds, and the half-width of its interval: of a ratio of means over walls (delta method)."""
    counts, rounds = (bot.counts[..., column].sum(axis=1).astype(float) for column in (count, ROUNDS))
    ratio = counts.sum() / rounds.sum()
    width = student.half_width((counts - ratio * rounds) / rounds.mean()) or 0.0
    return 100 * ratio, 100 * width


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure. ``text``: what it shows, below its title; ``height``: in inches."""

    key: str
    title: str
    text: Callable[[Data], str]
    draw: Callable[[Any, Data], None]
    height: float = 3.0

    def svg(self, data: Data) -> str:
        """The figure as an element of a page."""
        return svg(self.key, f"{self.title}: {self.text(data)}", self.height, lambda axes: self.draw(axes, data))


FIGURES: tuple[Figure, ...] = (
    Figure("convergence", "Convergence", lambda data: f"mean placement after so many games, {data.placements_are}, and "
           "its 95 % interval; higher is better", convergence),
    Figure("placements", "Placements", lambda data: "how often each bot finished first, second and third", placements),
    Figure("seats", "Placement by seat", lambda data: f"mean placement on each seat, {data.placements_are}, and its "
           "95 % interval; higher is better", seats),
    Figure("scores", "Scores", lambda data: f"scores at the end of games, in steps of {SCORE_STEP:,} points", scores),
    Figure("plane", "Wins and deal-ins", lambda data: "share of rounds won and dealt in, with 95 % intervals; the best "
           "place is at the top left", plane),
)  # fmt: skip
