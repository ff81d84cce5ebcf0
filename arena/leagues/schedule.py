"""Which three bots of a league meet next, and on which walls.

The two bots that have met least are the least known pairing: they meet next. The third is the bot that has met these two
least. They play the first walls on which those two have not met. So with time every two bots meet equally often, and on
the same walls; a bot that is new plays until it has met each of the others as often as they have. What is next follows
from what was played before, and from nothing else: not from ratings, by which a bot that always loses would get too many
games or too few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, count, islice

from arena.schedule import MAX_WALLS, ROTATIONS
from engine.table import N_SEATS

LEAST_WALLS = 10  # of a batch in a league without a number of games


@dataclass(frozen=True, slots=True)
class Batch:
    """Three bots, in the order of the league, and the walls on which they meet, in all rotations of the seats."""

    bots: tuple[str, ...]
    walls: tuple[int, ...]


class Schedule:
    """How often every two of ``bots`` have met, and what they play next.

    How often: the number of walls, once more for each third bot with which they have played a wall.
    """

    def __init__(self, bots: Sequence[str]) -> None:
        """``bots``: at least three that play from now on, in the order of the league."""
        self._bots = list(bots)
        self._walls: dict[frozenset[str], list[int]] = {frozenset(pair): [] for pair in combinations(bots, 2)}

    def add(self, bots: Sequence[str], walls: Sequence[int]) -> None:
        """Three bots meet on ``walls``. Those that do not play any more may be among them."""
        for pair in map(frozenset, combinations(bots, 2)):
            if pair in self._walls:
                self._walls[pair] += walls

    def met(self, bot: str, other: str) -> int:
        """How often two bots have met."""
        return len(self._walls[frozenset((bot, other))])

    @property
    def fewest(self) -> int:
        """How often those two bots have met that have met least."""
        return min(map(len, self._walls.values()))

    def batches(self, walls: int | None) -> Iterator[Batch]:
        """What is played until every two bots have met ``walls`` times (None: for ever).

        A batch counts as played when it is taken.
        """
        while walls is None or self.fewest < walls:
            batch = self._next(walls)
            self.add(batch.bots, batch.walls)
            yield batch

    def _next(self, walls: int | None) -> Batch:
        """The next batch; no bot waits long for another third one, so that all meet in turn."""
        third_bots = len(self._bots) - (N_SEATS - 1)
        size = max(LEAST_WALLS, self.fewest // third_bots) if walls is None else max(1, walls // third_bots)
        pair = min(combinations(self._bots, 2), key=lambda pair: self.met(*pair))
        third = min(
            (bot for bot in self._bots if bot not in pair),
            key=lambda bot: self.met(bot, pair[0]) + self.met(bot, pair[1]),
        )
        if walls is not None:
            size = min(size, walls - self.met(*pair))
        met = set(self._walls[frozenset(pair)])
        unmet = islice((wall for wall in count() if wall not in met), min(size, MAX_WALLS))
        return Batch(tuple(bot for bot in self._bots if bot in (*pair, third)), tuple(unmet))


def walls_of_pairs(games: int, n_bots: int) -> int:
    """How often every two of ``n_bots`` meet, see `Schedule`, in a league of about ``games`` games."""
    n_pairs, pairs_at_a_table = n_bots * (n_bots - 1) // 2, N_SEATS
    return -(-games * pairs_at_a_table // (ROTATIONS * n_pairs))
