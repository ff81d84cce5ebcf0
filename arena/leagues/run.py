"""Plays a league: takes batches from its schedule until every two bots have met often enough, or time is up."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from time import monotonic

from rich.console import Console

from agents.base import Agent
from agents.external.framing import TIMEOUT
from agents.external.specs import connects_to_us, is_external, make_agent
from agents.registry import is_built_in
from arena.chunk import ChunkResult, GamesPlayed
from arena.leagues.games import LeagueSettings, Meeting
from arena.leagues.league import League
from arena.leagues.standings import league_of
from arena.leagues.store import Store
from arena.run import make_folder
from arena.schedule import Bot, RunSettings, split_walls
from arena.series import MatchTask, open_series_worker
from arena.worker import WARM_UP, Update
from engine.common.cluster import Cluster
from engine.common.options import check_output, printable
from engine.common.progress import Progress
from engine.common.workers import at_most, open_pool
from engine.contests.ratings import SAMPLES
from engine.contests.schedule import Batch, walls_of_pairs
from engine.contests.seating import ROTATIONS
from engine.records.model import describe_source
from engine.table import N_SEATS

# Between two looks at the ratings while games are played, and of the bootstrap of such a look.
STATUS_SECONDS, STATUS_SAMPLES = 5.0, 50
STATUS_PART = 20  # a look takes at most one part in so many of the time


class LeagueRun:
    """A league. ``store``: its games, those of its files included; ``bots``: those that play."""

    def __init__(
        self,
        settings: LeagueSettings,
        bots: Sequence[str],
        jobs: int | Callable[[Sequence[str]], int | Cluster],
        *,
        games: int | None = None,
        hours: float | None = None,
        timeout: float = TIMEOUT,
        json: Path | None = None,
    ) -> None:
        """Check everything that can be checked before games are played. Raises ValueError, OSError.

        ``bots``: those that play; none: all bots of the file, if they are built in (`_check_known`). ``jobs``: worker
        processes, 0: all games are played in this process; or a function that gives them, or a cluster, for the bots
        that play. ``games``: of a league of these bots, see `engine.contests.schedule.walls_of_pairs`; a new bot meets
        the others at least as often as they have met in the file. ``hours``: plays so long, instead.
        """
        settings.match(("", "", ""), timeout).make_rules()  # raises for rules that do not exist
        if json is not None:
            make_folder(json.parent, f"--json {json}")
            check_output("--json", json)
        self.store = Store(json, settings)
        self.settings = settings
        try:
            workers = self._join(bots, jobs, timeout, json)
        except BaseException:
            self.store.close()
            raise
        self._timeout = timeout
        self._workers = at_most(workers, 1) if any(map(connects_to_us, self.bots)) else workers
        self._hours = hours
        self._walls = None
        if games is not None:
            self._walls = max(walls_of_pairs(games, len(self.bots)), self.store.met_in_file(self.bots))
        self._next_status, self._status = 0.0, ""
        self._league: tuple[tuple[int, int], League] | None = None  # the latest, of so many games and samples

    def _join(
        self,
        bots: Sequence[str],
        jobs: int | Callable[[Sequence[str]], int | Cluster],
        timeout: float,
        json: Path | None,
    ) -> int | Cluster:
        """Let the bots join the league; return the workers. Raises ValueError, OSError."""
        known = self.store.bots
        if not bots:
            self._check_known(known, json)
        self.bots = sorted(bots or known, key=lambda bot: known.index(bot) if bot in known else len(known))
        if len(self.bots) < N_SEATS:
            named = f"{len(self.bots)} named" if self.bots else "none named"
            raise ValueError(f"a league needs at least three bots, as in --bots rule,efficiency,random: {named}")
        self._check(self.bots, timeout)
        workers = jobs if isinstance(jobs, int) else jobs(self.bots)
        self.store.join(self.bots)
        return workers

    @staticmethod
    def _check_known(bots: Sequence[str], json: Path | None) -> None:
        """Raise ValueError for bots of a file that run or read what their text names: the file may be a stranger's."""
        others = [bot for bot in bots if not is_built_in(bot)]
        if others:
            raise ValueError(
                f"{json} names bots that are programs or files, which only the command line starts: name all that are "
                f"to play with --bots, also {describe_source(', '.join(others))}"
            )

    @staticmethod
    def _check(bots: Sequence[str], timeout: float) -> None:
        """Raise ValueError for a bot that is named twice or cannot be made."""
        for number, bot in enumerate(bots):
            if bot in bots[:number]:
                raise ValueError(f"--bots: {bot} is there twice")
            make_agent(bot, 0, timeout)

    @property
    def games(self) -> int:
        """The number of finished games."""
        return self.store.games.n_games

    @property
    def total(self) -> int | None:
        """How many games there will be in all; None if nobody knows."""
        if self._walls is None:
            return None
        return self.games + ROTATIONS * sum(len(batch.walls) for batch, _ in self._batches())

    def _batches(self) -> Iterator[tuple[Batch, bool]]:
        """What is to be played, and whether it is taken from the schedule now: first what was taken before."""
        for batch in self.store.taken:
            if walls := self.store.games.missing(batch.bots, batch.walls):
                yield Batch(batch.bots, tuple(walls)), False
        for batch in self.store.schedule(self.bots).batches(self._walls):
            yield batch, True

    def play(self, console: Console) -> None:
        """Play all remaining games, with progress on ``console``.

        Raises KeyboardInterrupt, `arena.chunk.GameError`, `engine.common.pools.WorkerError` and OSError.
        """
        total = self.total
        if total == self.games:
            return
        try:
            self._play(total, console)
        except BaseException:
            self.store.close()
            raise

    def _play(self, total: int | None, console: Console) -> None:
        start = partial(open_series_worker, KeptBots())
        with open_pool(start, self._workers) as pool, closing(pool.run(self._tasks())) as updates:
            next(updates)  # Ready: what is compiled has been told before the progress bar appears
            with Progress("games", total, self.games, console) as progress:
                for match, update in updates:
                    self._handle(match, update, progress)

    def _tasks(self) -> Iterator[MatchTask]:
        """The tasks of the workers, each taken when a worker is free."""
        end = None
        for batch, is_new in self._batches():
            match = self.settings.match(batch.bots, self._timeout)
            if end is None:
                yield match, WARM_UP
                end = monotonic() + (sys.maxsize if self._hours is None else 3600 * self._hours)
            if is_new and monotonic() < end:
                self.store.take(batch)
            for walls in split_walls(batch.walls, 1, match.max_walls):
                if monotonic() >= end:
                    return
                yield match, walls

    def _handle(self, match: RunSettings, update: Update, progress: Progress) -> None:
        if isinstance(update, GamesPlayed):
            progress.advance(update.n, self._status)
        elif isinstance(update, ChunkResult):
            for fault in update.faults:
                progress.print(f"bot {match.bots[fault.bot]}, {' '.join(match.bots)}, {fault}")
            self.store.add(Meeting.of_chunk(match.bots, update, match.make_rules()))
            if (start := monotonic()) >= self._next_status:
                self._status = status_of(self.league(samples=STATUS_SAMPLES))
                self._next_status = monotonic() + max(STATUS_SECONDS, STATUS_PART * (monotonic() - start))

    def league(self, samples: int = SAMPLES) -> League:
        """The standings after all finished games; ``samples``: of the bootstrap."""
        if self._league is None or self._league[0] != (self.games, samples):
            meetings = self.store.games.meetings(self.store.bots)
            self._league = (self.games, samples), league_of(self.settings, self.store.bots, meetings, samples)
        return self._league[1]

    def finish(self) -> None:
        """Write the file: the league has stopped in good order. Raises OSError."""
        self.store.write(self.league().document())


class KeptBots:
    """Makes the bots of matches (`arena.series.BotsOf`). Those that play in this process are kept for other matches."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int], Agent] = {}

    def __call__(self, match: RunSettings) -> list[Bot]:
        """The bots of a match."""
        bots = match.make_bots([self._kept.get((bot, index), bot) for index, bot in enumerate(match.bots)])
        for index, (bot, made) in enumerate(zip(match.bots, bots)):
            if not is_external(bot):
                self._kept[bot, index] = made.agent
        return bots


def status_of(league: League) -> str:
    """Who leads, and the widest interval of a rating."""
    if not league.standings:
        return ""
    leader = league.standings[0]
    widest = "" if league.widest is None else f", widest ± {league.widest:.0f}"
    return f"{printable(leader.bot)} leads with {leader.rating.mean:+.0f}{widest}"
