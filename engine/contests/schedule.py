"""Which three bots of a league meet next, and on which walls.

The two bots that have met least are the least known pairing: they meet next. The third is the one that has met these
two least. They play the first walls that are new to that one of them that has played fewest walls. So with time every
two bots meet equally often, and all bots play the same walls; a bot that is new plays until it has met each of the
others as often as they have. What is next follows from what was played before, and from nothing else: not from ratings,
by which a bot that always loses would get too many games or too few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, count, islice

from engine.contests.seating import ROTATIONS
from engine.table import N_SEATS

# Walls of a batch: one at first, then this part of those on which all have met, so that all are known equally well at
# any time; at most so many, enough for large batches of views.
PART, MAX_BATCH = 4, 30


@dataclass(frozen=True, slots=True)
class Batch:
    """Three bots, in the order of the league, and the walls on which they meet, in all rotations of the seats."""

    bots: tuple[str, ...]
    walls: tuple[int, ...]


class Schedule:
    """How often every two of ``bots`` have met, and what they play next.

    How often is the number of walls; one on which two bots have met with two other bots counts twice.
    """

    def __init__(self, bots: Sequence[str], max_batch: int = MAX_BATCH) -> None:
        """``bots``: at least three that play from now on, in order. ``max_batch``: walls of a batch."""
        self._max_batch = max_batch
        self._bots = list(bots)
        self._met = Counter({frozenset(pair): 0 for pair in combinations(bots, 2)})
        self._walls: dict[str, set[int]] = {bot: set() for bot in bots}
        self._first_new = dict.fromkeys(bots, 0)  # the first wall that a bot has not played

    def add(self, bots: Sequence[str], walls: Sequence[int]) -> None:
        """Three bots meet on ``walls``. Those that do not play any more may be among them."""
        playing = [bot for bot in bots if bot in self._walls]
        for bot in playing:
            self._walls[bot].update(walls)
            while self._first_new[bot] in self._walls[bot]:
                self._first_new[bot] += 1
        for pair in combinations(playing, 2):
            self._met[frozenset(pair)] += len(walls)

    def met(self, bot: str, other: str) -> int:
        """How often two bots have met."""
        return self._met[frozenset((bot, other))]

    @property
    def fewest(self) -> int:
        """How often those two bots have met that have met least."""
        return min(self._met.values())

    def batches(self, walls: int | None) -> Iterator[Batch]:
        """What is played until every two bots have met ``walls`` times (None: for ever).

        A batch counts as played when it is taken.
        """
        while walls is None or self.fewest < walls:
            batch = self._next(walls)
            self.add(batch.bots, batch.walls)
            yield batch

    def _next(self, walls: int | None) -> Batch:
        """The next batch."""
        pair = min(combinations(self._bots, 2), key=lambda pair: self.met(*pair))
        others = [bot for bot in self._bots if bot not in pair]
        third = min(others, key=lambda bot: self.met(bot, pair[0]) + self.met(bot, pair[1]))
        size = min(self._max_batch, 1 + self.fewest // PART)
        if walls is not None:
            size = min(size, walls - self.met(*pair))
        bots = tuple(bot for bot in self._bots if bot in (*pair, third))
        newest = min(bots, key=lambda bot: len(self._walls[bot]))
        new = (wall for wall in count(self._first_new[newest]) if wall not in self._walls[newest])
        return Batch(bots, tuple(islice(new, size)))


def walls_of_pairs(games: int, n_bots: int) -> int:
    """How often every two of ``n_bots`` meet, see `Schedule`, in a league of about ``games`` games."""
    n_pairs, pairs_at_a_table = n_bots * (n_bots - 1) // 2, N_SEATS
    return -(-games * pairs_at_a_table // (ROTATIONS * n_pairs))
