"""The games of every three bots of a league that have met."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal

import numpy as np

from agents.external.framing import TIMEOUT
from arena.bot_games import N_COUNTS, by_bot, finishing_orders
from arena.checkpoint import check_walls
from arena.chunk import ChunkResult
from arena.schedule import RunSettings
from engine.contests.seating import ROTATIONS
from engine.rules import Rules
from engine.table import N_SEATS

ORDERS = {"".join(map(str, order)): order for order in permutations(range(N_SEATS))}  # "120" -> (1, 2, 0)


@dataclass(frozen=True, slots=True)
class LeagueSettings:
    """What all games of a league have in common."""

    seed: int
    rules: str
    length: Literal["east", "hanchan"]

    def match(self, bots: tuple[str, ...], timeout: float = TIMEOUT) -> RunSettings:
        """The match of three bots. Its number of games is of no use: walls are chosen as the league goes on."""
        return RunSettings(bots, ROTATIONS, self.seed, self.rules, self.length, timeout, control_variates=False)


@dataclass(frozen=True, slots=True)
class Meeting:
    """Games of three bots. What it adds up does not depend on the order in which games are added.

    ``orders``: for each wall, in its rotations, the bots from first to third, as numbers in ``bots``:
    int8[ROTATIONS, 3]. ``totals``: of each bot, the sums of its counts (`arena.bot_games`), int64[3, N_COUNTS].
    ``faults``: in how many games each bot, an external one, has failed, int64[3].
    """

    bots: tuple[str, ...]
    orders: dict[int, np.ndarray]
    totals: np.ndarray
    faults: np.ndarray

    @classmethod
    def empty(cls, bots: tuple[str, ...]) -> Meeting:
        """No games yet."""
        return cls(bots, {}, np.zeros((N_SEATS, N_COUNTS), np.int64), np.zeros(N_SEATS, np.int64))

    @classmethod
    def of_chunk(cls, bots: tuple[str, ...], chunk: ChunkResult, rules: Rules) -> Meeting:
        """The games of a finished chunk."""
        games = by_bot(bots, chunk.walls, chunk.counts, rules)
        orders = finishing_orders(range(N_SEATS), games).reshape(-1, ROTATIONS, N_SEATS).astype(np.int8)
        faults = np.bincount([fault.bot for fault in chunk.faults], minlength=N_SEATS)
        return cls(bots, dict(zip(chunk.walls, orders)), np.array([each.totals for each in games]), faults)

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Meeting:
        """A meeting from its entry in a file. Raises ValueError, LookupError or TypeError for one that is damaged."""
        bots, walls = tuple(entry["bots"]), check_walls(entry["walls"])
        words = [line.split() for line in entry["orders"]]
        orders = np.array([[ORDERS[word] for word in of_wall] for of_wall in words], dtype=np.int8)
        totals, faults = np.array(entry["totals"], np.int64), np.array(entry["faults"], np.int64)
        if orders.shape != (len(walls), ROTATIONS, N_SEATS) or totals.shape != (N_SEATS, N_COUNTS):
            raise ValueError("games of another shape")
        are_three = len(bots) == len(set(bots)) == N_SEATS and all(isinstance(bot, str) for bot in bots)
        if not are_three or faults.shape != (N_SEATS,):
            raise ValueError("not the games of three bots")
        return cls(bots, dict(zip(walls, orders)), totals, faults)

    def as_json(self) -> dict[str, Any]:
        """The entry in a file, see `from_json`; walls ascend."""
        walls = sorted(self.orders)
        orders = [" ".join("".join(map(str, order)) for order in self.orders[wall].tolist()) for wall in walls]
        numbers = {"totals": self.totals.tolist(), "faults": self.faults.tolist()}
        return {"bots": list(self.bots), "walls": walls, "orders": orders} | numbers

    def add(self, other: Meeting) -> None:
        """Add games of the same bots on other walls."""
        self.orders.update(other.orders)
        self.totals[:] += other.totals
        self.faults[:] += other.faults


class LeagueGames:
    """All games of a league."""

    def __init__(self) -> None:
        self._meetings: dict[tuple[str, ...], Meeting] = {}

    def add(self, meeting: Meeting) -> None:
        """Add games on walls on which these three bots have not met."""
        self._meetings.setdefault(meeting.bots, Meeting.empty(meeting.bots)).add(meeting)

    def meetings(self, bots: Sequence[str]) -> list[Meeting]:
        """The games of every three bots that have met, in the order of ``bots``, all those of the league."""
        number = {bot: index for index, bot in enumerate(bots)}
        return sorted(self._meetings.values(), key=lambda meeting: [number[bot] for bot in meeting.bots])

    def missing(self, bots: tuple[str, ...], walls: Iterable[int]) -> list[int]:
        """Those of ``walls`` on which three bots have not met."""
        played = self._meetings[bots].orders if bots in self._meetings else {}
        return [wall for wall in walls if wall not in played]

    @property
    def n_games(self) -> int:
        """The number of games."""
        return ROTATIONS * sum(len(meeting.orders) for meeting in self._meetings.values())
