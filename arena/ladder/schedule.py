"""Which three bots of a ladder meet, and in how many games."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from arena.schedule import RunSettings, round_up
from engine.table import N_SEATS

SPEED_GAMES = 30  # of the run that measures how fast a bot decides


@dataclass(frozen=True, slots=True)
class LadderSettings:
    """Everything that determines the results of a ladder.

    Every three of ``bots`` meet. Every two bots play at least ``games`` games with each other at a table, or at least
    ``slow_games`` if one of them is among ``slow``.
    """

    bots: tuple[str, ...]
    games: int
    slow: frozenset[str]
    slow_games: int
    seed: int
    rules: str
    length: Literal["east", "hanchan"]

    def __post_init__(self) -> None:
        if twice := next((bot for number, bot in enumerate(self.bots) if bot in self.bots[:number]), None):
            raise ValueError(f"--bots: {twice} is there twice")
        if unknown := sorted(self.slow - set(self.bots)):
            raise ValueError(f"--slow: {unknown[0]} is none of --bots")
        if len(self.fast) < N_SEATS:
            raise ValueError(f"--bots: a ladder needs three bots that are not slow, not {len(self.fast)}")

    @property
    def fast(self) -> list[str]:
        """The bots that are not slow."""
        return [bot for bot in self.bots if bot not in self.slow]

    def meetings(self) -> Iterator[RunSettings]:
        """The run of every three bots. All have the same seed, so that they are played on the same walls."""
        fast, slow = (
            round_up(-(-games // (len(bots) - 2)))  # two bots meet with each of the others in turn
            for games, bots in ((self.games, self.fast), (self.slow_games, self.bots))
        )
        for three in combinations(self.bots, N_SEATS):
            yield self._run(three, slow if self.slow.intersection(three) else fast)

    def speed_runs(self) -> Iterator[RunSettings]:
        """A short run of each bot against itself."""
        return (self._run((bot,) * N_SEATS, SPEED_GAMES) for bot in self.bots)

    def _run(self, bots: tuple[str, ...], games: int) -> RunSettings:
        return RunSettings(bots, games, self.seed, self.rules, self.length)
