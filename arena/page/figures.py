"""The figures of the report, as one table: what each shows, and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arena.bot_games import DEAL_INS, ROUNDS, SCORE, WINS, BotGames, estimate, fair
from arena.page.plotting import BOTS, LINES, MARKERS, TEXT, svg
from arena.tallies.counts import HISTOGRAMS, block
from engine.common import student
from engine.contests.estimates import Estimate
from engine.contests.observations import PLACE
from engine.scoring.yaku import YAKU
from engine.table import N_SEATS

FEW, MANY = 2, 200  # the walls at which a running mean begins, and at how many points it is drawn
SETTLED = 0.05  # of the walls: earlier values of a running mean are not worth the space that they take
BEST, WORST = 0.9, 3.1  # the ends of an axis of mean placements at most
SCORE_STEP = 5_000  # points
N_FREQUENT = 15  # yaku
LEAST_SHARE = -2  # % where an axis begins at the lowest: a marker at 0 is whole
VALUES = (0, 2_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000, 32_000, 48_000)  # points of hands
OFFSET = 0.12  # between the bots at one place of an axis


@dataclass(frozen=True)
class Data:
    """The data of the figures: the games of each bot, or player; one to three of them."""

    bots: Sequence[BotGames]

    def place(self, index: int) -> float:
        """Where a bot is drawn among all that share a place of an axis: -1 to 1, 0 is the middle."""
        return index - (len(self.bots) - 1) / 2

    @property
    def placements_are(self) -> str:
        """The kind of placements that the table and the figures show."""
        return "as played" if self.bots[0].luck is None else "without the luck of the walls"


def convergence(axes: Any, data: Data) -> None:
    """The mean placement of each bot after each wall, with its interval."""
    lowest, highest = [], []
    for index, bot in enumerate(data.bots):
        values, (n_walls, of_wall) = bot.fair_placements, bot.placements.shape
        at = np.unique(np.linspace(min(FEW, n_walls), n_walls, MANY).astype(int))
        means = np.cumsum(values)[at - 1] / at
        widths = np.array([student.half_width(values[:n], PLACE) or 0.0 for n in at])
        axes.plot(at * of_wall, means, color=BOTS[index], linestyle=LINES[index])
        axes.fill_between(at * of_wall, means - widths, means + widths, color=BOTS[index], alpha=0.18, linewidth=0)
        settled = at >= SETTLED * n_walls
        lowest.append((means - widths)[settled].min())
        highest.append((means + widths)[settled].max())
    margin = 0.05 * (max(highest) - min(lowest)) + 0.01
    worst, best = min(max(highest) + margin, WORST), max(min(lowest) - margin, BEST)  # few games have wide intervals
    axes.set_ylim(worst, best)  # better placements are above
    axes.set_xlabel("games")
    axes.set_ylabel("mean placement")


def placements(axes: Any, data: Data) -> None:
    """How often each bot finished first, second and third."""
    width = 0.8 / N_SEATS
    for index, bot in enumerate(data.bots):
        shares = [100 * float(np.mean(bot.placements == place)) for place in (1, 2, 3)]
        at = np.arange(N_SEATS) + data.place(index) * width
        bars = axes.bar(at, shares, width * 0.94, color=BOTS[index])
        axes.bar_label(bars, [f"{share:.0f}" for share in shares], padding=1, fontsize=9.5)
    axes.set_xticks(range(N_SEATS), ["1st", "2nd", "3rd"])
    axes.set_ylabel("% of games")
    axes.grid(False, axis="x")


def seats(axes: Any, data: Data) -> None:
    """The mean placement of each bot on each seat, with its interval."""
    for index, bot in enumerate(data.bots):
        placements = [placements_at(bot, seat) for seat in range(N_SEATS)]
        by_seat = [estimate(at_seat, PLACE) if len(at_seat) else Estimate(np.nan, None) for at_seat in placements]
        axes.errorbar(
            np.arange(N_SEATS) + data.place(index) * OFFSET,
            [each.mean for each in by_seat],
            [each.interval or np.nan for each in by_seat],  # no bar for one wall
            fmt=MARKERS[index], color=BOTS[index], capsize=3,
        )  # fmt: skip
    axes.set_xticks(range(N_SEATS), ["east first", "south first", "west first"])
    axes.invert_yaxis()
    axes.set_ylabel("mean placement")


def placements_at(bot: BotGames, seat: int) -> np.ndarray:
    """The placement of a bot in each of its games on a seat, without luck if it was measured."""
    there = bot.seats == seat
    return fair(bot.placements[there][:, None], None if bot.luck is None else bot.luck[there][:, None], 0)


def scores(axes: Any, data: Data) -> None:
    """The distribution of the scores at the end of games."""
    every = [bot.counts[..., SCORE] for bot in data.bots]
    first, last = min(map(np.min, every)) // SCORE_STEP, max(map(np.max, every)) // SCORE_STEP + 1
    edges = np.arange(first, last + 1) * SCORE_STEP
    for index, values in enumerate(every):
        step(axes, index, np.histogram(values, edges)[0], edges / 1000)
    axes.axvline(0, color=TEXT, linewidth=0.8)
    axes.set_xlabel("score at the end, in thousands")
    axes.set_ylabel("% of games")


def plane(axes: Any, data: Data) -> None:
    """Wins by deal-ins, with intervals."""
    for index, bot in enumerate(data.bots):
        (x, dx), (y, dy) = share(bot, DEAL_INS), share(bot, WINS)
        axes.errorbar(x, y, dy, dx, fmt=MARKERS[index], color=BOTS[index], capsize=3, markersize=8)
    axes.margins(0.25)
    axes.set_xlim(left=max(axes.get_xlim()[0], LEAST_SHARE))
    axes.set_ylim(bottom=max(axes.get_ylim()[0], LEAST_SHARE))
    axes.set_xlabel("deal-ins, % of rounds")
    axes.set_ylabel("wins, % of rounds")


def share(bot: BotGames, count: int) -> tuple[float, float]:
    """A count in % of rounds, and the half-width of its interval.

    A wall that is off has one more in each game (`engine.common.student`). NaN for one wall, which has no interval.
    """
    counts, rounds = (bot.counts[..., column].sum(axis=1).astype(float) for column in (count, ROUNDS))
    width = student.half_width_of_ratio(counts, rounds, bot.placements.shape[1]) or np.nan
    return 100 * counts.sum() / rounds.sum(), 100 * width


def yaku(axes: Any, data: Data) -> None:
    """How often each bot won with each of the most frequent yaku."""
    wins = [block(bot.tallied, "wins_by_yaku") / max(bot.total("wins"), 1) for bot in data.bots]
    frequent = sorted(YAKU, key=lambda each: -sum(own[each.number] for own in wins))[:N_FREQUENT]
    width = 0.8 / N_SEATS
    for index, own in enumerate(wins):
        shares = [100 * own[each.number] for each in frequent]
        axes.barh(np.arange(len(frequent)) + data.place(index) * width, shares, width, color=BOTS[index])
    axes.set_yticks(range(len(frequent)), [each.name for each in frequent])
    axes.set_ylim(len(frequent) - 0.5, -0.5)
    axes.set_xlabel("% of wins")
    axes.grid(False, axis="y")


def win_points(axes: Any, data: Data) -> None:
    """The value of the hands that each bot won."""
    bins = np.searchsorted(VALUES, HISTOGRAMS["wins_by_points"], side="right") - 1
    for index, bot in enumerate(data.bots):
        counted = np.bincount(bins, block(bot.tallied, "wins_by_points"), minlength=len(VALUES))
        step(axes, index, counted, np.arange(len(VALUES) + 1))
    axes.set_xticks(range(len(VALUES)), [f"{value / 1000:g}" for value in VALUES])
    axes.set_xlabel("points of the hand, in thousands, from … on")
    axes.set_ylabel("% of wins")


def turns_of(histogram: str) -> Callable[[Any, Data], None]:
    """The distribution of turns that a histogram of `arena.tallies.counts` holds."""

    def draw(axes: Any, data: Data) -> None:
        from matplotlib.ticker import MaxNLocator

        last = 1 + max(np.flatnonzero(block(bot.tallied, histogram)).max(initial=1) for bot in data.bots)
        for index, bot in enumerate(data.bots):
            step(axes, index, block(bot.tallied, histogram)[1 : last + 1], np.arange(1, last + 2) - 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("turn")
        axes.set_ylabel("% of wins" if histogram == "wins_by_turn" else "% of riichi")

    return draw


def step(axes: Any, index: int, counted: np.ndarray, edges: np.ndarray) -> None:
    """Draw a distribution of a bot, in %, as steps; nothing if it is empty."""
    if counted.sum() > 0:
        shares = 100 * counted / counted.sum()
        axes.stairs(shares, edges, color=BOTS[index], linestyle=LINES[index], linewidth=1.6)
        axes.set_ylim(0, max(axes.get_ylim()[1], 1.05 * shares.max()))


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
           "its 95 % interval; up is better", convergence),
    Figure("placements", "Placements", lambda data: "how often each finished first, second and third", placements),
    Figure("seats", "Placement by seat", lambda data: f"mean placement on each seat, {data.placements_are}, and its "
           "95 % interval; up is better", seats),
    Figure("scores", "Scores", lambda data: f"scores at the end of games, in steps of {SCORE_STEP:,} points", scores),
    Figure("plane", "Wins and deal-ins", lambda data: "share of rounds won and dealt in, with 95 % intervals; the best "
           "place is at the top left", plane),
    Figure("win-points", "Value of the wins", lambda data: "hands won by their points, without honba and riichi sticks",
           win_points),
    Figure("win-turn", "Turn of the wins", lambda data: "discards before the win, and one for a tsumo",
           turns_of("wins_by_turn")),
    Figure("riichi-turn", "Turn of riichi", lambda data: "number of the riichi discard", turns_of("riichis_by_turn")),
    Figure("yaku", "Yaku", lambda data: f"share of wins with each of the {N_FREQUENT} most frequent yaku and dora",
           yaku, height=4.6),
)  # fmt: skip
