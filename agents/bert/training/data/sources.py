"""Data sources: self-play and record files, cut into chunks of which each fills one shard."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agents.bert.training.data.records import RecordFault, collect_records
from agents.bert.training.data.seat_filter import parse_seat_filter
from agents.bert.training.data.selfplay import SelfPlayConfig, cached_teacher, play
from agents.bert.training.data.shards import Shard
from agents.bert.training.targets.played import PlayedActions
from agents.bert.training.targets.teacher import Teacher
from engine.records.files import find_records
from engine.tables import PolicyFault

CHUNKS, MIN_CHUNK, MAX_CHUNK = 32, 16, 256  # of a source, and games in each: small jobs use all cores, too


def chunk_size(games: int) -> int:
    """How many games of a source of `games` fill one shard. It depends on nothing else, as the samples depend on it."""
    return min(max(-(-games // CHUNKS), MIN_CHUNK), MAX_CHUNK)


class SourceError(Exception):
    """A source failed while its samples were collected; the message says why in one line."""


class Chunk(Protocol):
    """The games of one shard. It is pickled and sent to a worker process."""

    @property
    def n_games(self) -> int:
        """How many games."""
        ...

    def collect(self) -> tuple[Shard, list[RecordFault]]:
        """The shard, and what is wrong with the files read for it. Raises SourceError."""
        ...


class Source(Protocol):
    """Games that become samples."""

    @property
    def options(self) -> str:
        """The command-line options that choose them."""
        ...

    @property
    def extent(self) -> str:
        """How many games or files."""
        ...

    def chunks(self) -> Sequence[Chunk]:
        """The chunks, the same every time."""
        ...


@dataclass(frozen=True)
class SelfPlayChunk:
    """Some of the games of a self-play config."""

    config: SelfPlayConfig
    first: int
    n_games: int

    def collect(self) -> tuple[Shard, list[RecordFault]]:
        """See Chunk."""
        try:
            return play(self.config, self.first, self.n_games), []
        except PolicyFault as fault:
            where = f"game {self.first + fault.table}, seat {fault.seat}"
            raise SourceError(f"bot {self.config.bots[fault.policy]}, {where}: {fault.what}") from fault


@dataclass(frozen=True)
class SelfPlay:
    """Games that three bots play."""

    config: SelfPlayConfig

    @property
    def options(self) -> str:
        """See Source."""
        config = self.config
        bots = ",".join(f'"{bot}"' if "," in bot else bot for bot in config.bots)
        words = ["--selfplay", bots, "--seed", str(config.seed), "--decisions", config.decisions]
        words += teacher_option(config.teacher)
        if config.rollouts:
            words += ["--rollouts", str(config.rollouts)]
        if config.playouts:
            words += ["--playouts", config.playouts]
        if config.hard_examples:
            words.append("--hard-examples")
        return shlex.join(words)

    @property
    def extent(self) -> str:
        """See Source."""
        return f"{self.config.games:,} games"

    def chunks(self) -> list[SelfPlayChunk]:
        """See Source."""
        games, size = self.config.games, chunk_size(self.config.games)
        return [SelfPlayChunk(self.config, first, min(size, games - first)) for first in range(0, games, size)]


@dataclass(frozen=True)
class RecordsChunk:
    """Some record files."""

    paths: Sequence[Path]
    decisions: str
    teacher: str | None

    @property
    def n_games(self) -> int:
        """See Chunk."""
        return len(self.paths)

    def collect(self) -> tuple[Shard, list[RecordFault]]:
        """See Chunk."""
        teacher = cached_teacher(self.teacher)
        source = PlayedActions() if teacher is None else Teacher(teacher)
        return collect_records(self.paths, parse_seat_filter(self.decisions), source)


class Records:
    """Recorded games: files, and folders of them."""

    def __init__(self, paths: Sequence[Path], decisions: str, teacher: str | None) -> None:
        """Find the files. Raises FileNotFoundError for a path that does not exist, ValueError if there are none."""
        self._paths = [path.resolve() for path in paths]
        self._decisions, self._teacher = decisions, teacher
        self._files = find_records(self._paths)
        if not self._files:
            raise ValueError(f"no game records in {' '.join(map(str, paths))}")

    @property
    def options(self) -> str:
        """See Source."""
        words = ["--records", *map(str, self._paths), "--decisions", self._decisions]
        return shlex.join(words + teacher_option(self._teacher))

    @property
    def extent(self) -> str:
        """See Source."""
        names = b"\0".join(map(os.fsencode, self._files))
        return f"{len(self._files):,} files (list {hashlib.blake2b(names, digest_size=4).hexdigest()})"

    def chunks(self) -> list[RecordsChunk]:
        """See Source."""
        files, size = self._files, chunk_size(len(self._files))
        firsts = range(0, len(files), size)
        return [RecordsChunk(files[first : first + size], self._decisions, self._teacher) for first in firsts]


def teacher_option(teacher: str | None) -> list[str]:
    """The option of a teacher, if there is one."""
    return [] if teacher is None else ["--teacher", teacher]
