"""The result of a match, for Python callers and for the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from typing import TYPE_CHECKING, Any

from rich.console import Console

from arena.bot_statistics import BotStatistics, PairStatistics
from arena.report import print_report
from arena.tallies.report import print_statistics
from engine.common.program import missing
from engine.common.screen import TABLE_WIDTH

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True)
class GameResult:
    """A game: its wall and rotation; the bot, the final score and the placement of each seat."""

    wall: int
    wall_seed: str
    rotation: int
    seats: list[str]
    scores: list[int]
    placements: list[int]


@dataclass(frozen=True, slots=True)
class BotFault:
    """A failure of an external bot in a game, the rest of which was played for it."""

    bot: str
    wall: int
    rotation: int
    seat: int
    what: str


@dataclass(frozen=True, repr=False)
class Match:
    """The result of a match; as text, the tables that the arena prints.

    ``document``: everything except the games, as in the JSON file (`arena.results.Results.document`). ``games``: the
    result of every game, in the order of the schedule.
    """

    document: dict[str, Any]
    games: list[GameResult]

    @cached_property
    def bots(self) -> dict[str, BotStatistics]:
        """The statistics of each bot by its name, as attributes: ``match.bots["rule"].placement.mean``."""
        return {row["bot"]: BotStatistics(row) for row in self.document["bots"]}

    @cached_property
    def comparisons(self) -> list[PairStatistics]:
        """Every pair of bots, compared."""
        return [PairStatistics(row) for row in self.document["comparisons"]]

    @property
    def faults(self) -> list[BotFault]:
        """The failures of external bots."""
        return [BotFault(**fault) for fault in self.document["faults"]]

    @property
    def failed(self) -> list[str]:
        """The external bots that failed in every game."""
        failed = Counter(fault.bot for fault in self.faults)
        return [name for name, bot in self.bots.items() if failed[name] == bot.games]

    @property
    def outcome(self) -> str | None:
        """The verdict of the stopping rule, such as ``"better"``; None without such a rule."""
        stop = self.document["stop"]
        return None if stop is None else stop["outcome"]

    def dataframe(self) -> DataFrame:
        """The statistics as a pandas DataFrame, a row for each bot; ``placement_interval`` follows ``placement``.

        Raises ModuleNotFoundError without pandas, which the extra ``report`` installs.
        """
        return _dataframe(bot.cells() for bot in self.bots.values()).set_index("bot")

    def games_dataframe(self) -> DataFrame:
        """The games as a pandas DataFrame, a row for each seat of each game; see `dataframe`."""
        return _dataframe(
            {"wall": game.wall, "rotation": game.rotation, "seat": seat, "bot": bot}
            | {"score": game.scores[seat], "placement": game.placements[seat]}
            for game in self.games
            for seat, bot in enumerate(game.seats)
        )

    def print(self, console: Console, statistics: bool = False) -> None:
        """Print the tables; with ``statistics``, all statistics of the bots."""
        print_report(console, self.document)
        if statistics:
            print_statistics(console, self.document)

    def __repr__(self) -> str:
        text = StringIO()
        self.print(Console(file=text, width=TABLE_WIDTH, color_system=None))
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def _dataframe(rows: Iterable[dict[str, Any]]) -> DataFrame:
    try:
        from pandas import DataFrame
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(missing(error), name=error.name) from None

    return DataFrame(list(rows))
