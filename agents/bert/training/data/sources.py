"""Where training positions come from: self-play and record files, cut into chunks of which each fills a shard."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from agents.base import Agent
from agents.bert.training.data import decisions, records, selfplay
from agents.bert.training.data.records import Fault
from agents.bert.training.data.shards import Shard
from agents.registry import make
from engine.records.files import find_records
from engine.tables import PolicyFault

CHUNK = 256  # games


class SourceError(Exception):
    """A source gives no games; the message says why in one line."""


class Chunk(Protocol):
    """What fills one shard. It is sent to a worker process."""

    @property
    def n(self) -> int:
        """Games."""
        ...

    def gather(self) -> tuple[Shard, list[Fault]]:
        """The shard, and what is wrong with files read for it. Raises SourceError."""
        ...


class Source(Protocol):
    """Games to learn from."""

    @property
    def options(self) -> str:
        """What they are, as on the command line."""
        ...

    @property
    def extent(self) -> str:
        """How many of them, or which."""
        ...

    def chunks(self) -> Sequence[Chunk]:
        """What fills each shard; the same every time."""
        ...


@dataclass(frozen=True)
class Games:
    """Games to be played."""

    bots: tuple[str, ...]
    seed: int
    decisions: str
    teacher: str | None
    trials: int
    doubtful: bool
    first: int
    n: int

    def gather(self) -> tuple[Shard, list[Fault]]:
        """See Chunk."""
        bots, whose, teacher = bots_of(self.bots, self.seed), decisions.parse(self.decisions), teacher_of(self.teacher)
        try:
            return selfplay.play(
                bots, self.bots, self.seed, self.first, self.n, whose,
                teacher=teacher, n_trials=self.trials, doubtful=self.doubtful,
            ), []  # fmt: skip
        except PolicyFault as fault:
            where = f"game {self.first + fault.table}, seat {fault.seat}"
            raise SourceError(f"bot {self.bots[fault.policy]}, {where}: {fault.what}") from fault


@cache
def bots_of(specs: tuple[str, ...], seed: int) -> list[Agent]:
    """Bots, made once in each process: some take long to load."""
    return selfplay.make_bots(specs, seed)


@cache
def teacher_of(spec: str | None) -> Agent | None:
    """A teacher, made once in each process."""
    return None if spec is None else make(spec)


def taught_by(teacher: str | None) -> list[str]:
    """The teacher as on the command line."""
    return [] if teacher is None else ["--teacher", teacher]


@dataclass(frozen=True)
class SelfPlay:
    """Games that three bots play."""

    bots: tuple[str, ...]
    games: int
    seed: int
    decisions: str
    teacher: str | None
    trials: int
    doubtful: bool

    @property
    def options(self) -> str:
        """See Source."""
        mix = ",".join(f'"{bot}"' if "," in bot else bot for bot in self.bots)
        plan = ["--selfplay", mix, "--seed", str(self.seed), "--decisions", self.decisions]
        chosen = ["--trials", str(self.trials)] if self.trials else ["--doubtful"] if self.doubtful else []
        return shlex.join(plan + taught_by(self.teacher) + chosen)

    @property
    def extent(self) -> str:
        """See Source."""
        return f"{self.games:,} games"

    def chunks(self) -> list[Games]:
        """See Source."""
        return [
            Games(
                self.bots,
                self.seed,
                self.decisions,
                self.teacher,
                self.trials,
                self.doubtful,
                first,
                min(CHUNK, self.games - first),
            )
            for first in range(0, self.games, CHUNK)
        ]


@dataclass(frozen=True)
class Files:
    """Record files to be read."""

    paths: Sequence[Path]
    decisions: str
    teacher: str | None

    @property
    def n(self) -> int:
        """See Chunk."""
        return len(self.paths)

    def gather(self) -> tuple[Shard, list[Fault]]:
        """See Chunk."""
        return records.gather(self.paths, decisions.parse(self.decisions), teacher_of(self.teacher))


class Records:
    """Recorded games: files, and folders of them."""

    def __init__(self, paths: Sequence[Path], whose: str, teacher: str | None) -> None:
        """Find the files. Raises FileNotFoundError for a path that does not exist, ValueError where there is none."""
        self._paths = [path.resolve() for path in paths]
        self._decisions, self._teacher = whose, teacher
        self._files = find_records(self._paths)
        if not self._files:
            raise ValueError(f"no game records in {' '.join(map(str, paths))}")

    @property
    def options(self) -> str:
        """See Source."""
        plan = ["--records", *map(str, self._paths), "--decisions", self._decisions]
        return shlex.join(plan + taught_by(self._teacher))

    @property
    def extent(self) -> str:
        """See Source."""
        names = b"\0".join(map(os.fsencode, self._files))
        return f"{len(self._files):,} files (list {hashlib.blake2b(names, digest_size=4).hexdigest()})"

    def chunks(self) -> list[Files]:
        """See Source."""
        firsts = range(0, len(self._files), CHUNK)
        return [Files(self._files[first : first + CHUNK], self._decisions, self._teacher) for first in firsts]
