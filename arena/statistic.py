"""A statistic: a row of a table from which columns, the JSON file, ``--help`` and docs/statistics.md follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

if TYPE_CHECKING:  # definitions are printed without numba
    import numpy as np

    from arena.bot_games import BotGames
    from engine.contests.estimates import Estimate

Of = TypeVar("Of")  # what a statistic is of: BotGames, Comparison, or the times of a bot

MISSING = "–"  # shown for a mean without observations

Value: TypeAlias = "int | float | Estimate | None"


@dataclass(frozen=True, slots=True)
class Statistic(Generic[Of]):
    """A statistic.

    ``key``: its name in the JSON file. ``heading``: of its column. ``form``: the format of the value, as for `format`;
    the sign of a percentage is left out. ``compute``: gives the value. ``help``: its definition. ``unit``: of the
    value. ``how``: how it is computed, if ``compute`` has no ``formula`` that says it.
    """

    key: str
    heading: str
    form: str
    compute: Callable[[Of], Value]
    help: str
    unit: str = ""
    how: str = ""

    @property
    def formula(self) -> str:
        """How it is computed from the counts."""
        return self.how or str(getattr(self.compute, "formula", ""))

    def cell(self, row: dict[str, Any]) -> str:
        """The value as the text of a table cell; ``row`` has the values by their keys, see `arena.columns.as_json`."""
        value = row[self.key]
        if isinstance(value, dict):
            interval = _text(value["interval"], self.form.removeprefix("+"))
            return f"{_text(value['mean'], self.form)} ± {interval}"
        return _text(value, self.form)


def _text(value: float | None, form: str) -> str:
    if value is None:
        return MISSING
    if form.endswith("%") and 0 < value < 1:  # what is rare is not impossible, what is likely not certain
        text = format(value, form)
        rounded = {format(0.0, form): "<0.1", format(1.0, form): ">99.9"}
        return rounded.get(text, text.removesuffix("%"))
    return format(value, form).removesuffix("%")


@dataclass(frozen=True, slots=True)
class Total:
    """A count over all games, or several added and subtracted, as in ``"wins - tsumos"``."""

    counts: str

    @property
    def formula(self) -> str:
        """The counts."""
        return f"`{self.counts}`"

    def __call__(self, games: BotGames) -> int:
        """The value."""
        sign, total = 1, 0
        for word in self.counts.split():
            if word in ("+", "-"):
                sign = 1 if word == "+" else -1
            else:
                total += sign * games.total(word)
        return total


@dataclass(frozen=True, slots=True)
class Ratio:
    """The ratio of two counts, both as in `Total`: a share or a mean; None if the denominator is 0."""

    counts: str
    per: str

    @property
    def formula(self) -> str:
        """The counts divided."""
        above, below = (f"({counts})" if " " in counts else counts for counts in (self.counts, self.per))
        return f"`{above} / {below}`"

    def __call__(self, games: BotGames) -> float | None:
        """The value."""
        per = Total(self.per)(games)
        return Total(self.counts)(games) / per if per else None


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a histogram."""

    histogram: str

    @property
    def formula(self) -> str:
        """What is averaged."""
        return f"mean of `{self.histogram}`"

    def __call__(self, games: BotGames) -> float | None:
        """Return the value, or None if nothing was counted."""
        values, counted = games.distribution(self.histogram)
        n = int(counted.sum())
        return int(counted @ values) / n if n else None


@dataclass(frozen=True, slots=True)
class Median:
    """The median of a histogram."""

    histogram: str

    @property
    def formula(self) -> str:
        """What the median is of."""
        return f"median of `{self.histogram}`"

    def __call__(self, games: BotGames) -> float | None:
        """Return the value, or None if nothing was counted."""
        values, counted = games.distribution(self.histogram)
        return median(counted, values)


def median(histogram: np.ndarray, values: Sequence[int] | np.ndarray) -> float | None:
    """Return the median of a histogram over ``values``, ascending, both [bins]; None if it is empty."""
    n = int(histogram.sum())
    if n == 0:
        return None
    upto = histogram.cumsum()
    low, high = (int(upto.searchsorted(rank)) for rank in ((n + 1) // 2, n // 2 + 1))
    return float(values[low] + values[high]) / 2


@dataclass(frozen=True, slots=True)
class AtSeat:
    """A statistic of the games in which the bot had one seat."""

    seat: int
    of: Callable[[BotGames], float | None]
    what: str

    @property
    def formula(self) -> str:
        """What is computed of these games."""
        return f"{self.what}, of the games at seat {self.seat}"

    def __call__(self, games: BotGames) -> float | None:
        """The value; None without such games."""
        there = games.at_seat(self.seat)
        return self.of(there) if there.n_games else None
