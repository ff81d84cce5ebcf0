"""Data sources: self-play and record files, split into chunks, each of which fills one shard."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Protocol

from agents.bert.training.data.records import RecordFault, collect_items
from agents.bert.training.data.seat_filter import parse_seat_filter
from agents.bert.training.data.selfplay import SelfPlayConfig, cached_teacher, play
from agents.bert.training.data.shards import Shard
from agents.bert.training.targets.played import PlayedActions
from agents.bert.training.targets.teacher import Teacher
from engine.records.archives import Member, find_records, members
from engine.records.filters import THREE_PLAYERS
from engine.records.stream import Item, item_of
from engine.tables import PolicyFault

CHUNKS, MIN_CHUNK, MAX_CHUNK = 32, 16, 256  # of a source, and games in each: small jobs use all cores, too


def chunk_size(games: int) -> int:
    """Return how many of `games` fill one shard. It depends on nothing else, as the samples depend on it."""
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
        """The shard, and what is wrong with the records it is made of. Raises SourceError."""
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
    """A `Chunk` of the games of a self-play config."""

    config: SelfPlayConfig
    first: int
    n_games: int

    def collect(self) -> tuple[Shard, list[RecordFault]]:
        """Play the games."""
        try:
            return play(self.config, self.first, self.n_games), []
        except PolicyFault as fault:
            where = f"game {self.first + fault.table}, seat {fault.seat}"
            raise SourceError(f"bot {self.config.bots[fault.policy]}, {where}: {fault.what}") from fault
        except ValueError as error:  # a bot cannot be made in this process, where others could make it
            raise SourceError(str(error)) from error


@dataclass(frozen=True)
class SelfPlay:
    """A `Source` of games that three bots play."""

    config: SelfPlayConfig

    @property
    def options(self) -> str:
        """The options of self-play."""
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
        """The number of games."""
        return f"{self.config.games:,} games"

    def chunks(self) -> list[SelfPlayChunk]:
        """Split the games into chunks of `chunk_size`."""
        games, size = self.config.games, chunk_size(self.config.games)
        return [SelfPlayChunk(self.config, first, min(size, games - first)) for first in range(0, games, size)]


@dataclass(frozen=True)
class RecordsChunk:
    """A `Chunk` of the records in files and archives: number `first` and the following.

    An archive is best read by one process, from its beginning to its end: `read_ahead` does so, and replaces the
    `paths`, which may be very many, with the `items`, the records themselves.
    """

    paths: Sequence[Path]
    first: int
    n_games: int
    decisions: str
    teacher: str | None
    items: Sequence[Item] = ()

    def collect(self) -> tuple[Shard, list[RecordFault]]:
        """Read the `items`, with the teacher's values or the actions that were played."""
        teacher = cached_teacher(self.teacher)
        source = PlayedActions() if teacher is None else Teacher(teacher)
        return collect_items(self.items, parse_seat_filter(self.decisions), source)


def read_ahead(tasks: Iterable[tuple[int, Chunk]]) -> Iterator[tuple[int, Chunk]]:
    """Yield the same tasks, in order, those of records with their items, which are read when the task is requested."""
    paths: Sequence[Path] = ()
    found: Iterator[Member] = iter(())
    position = 0
    for number, chunk in tasks:
        if isinstance(chunk, RecordsChunk):
            if chunk.paths is not paths or chunk.first < position:
                paths, found, position = chunk.paths, members(chunk.paths), 0
            chosen = islice(found, chunk.first - position, chunk.first - position + chunk.n_games)
            position = chunk.first + chunk.n_games
            chunk = replace(chunk, paths=(), items=[item_of(member, THREE_PLAYERS) for member in chosen])
        yield number, chunk


class Records:
    """A `Source` of recorded games: files, archives, and folders of them."""

    def __init__(self, paths: Sequence[Path], decisions: str, teacher: str | None) -> None:
        """Find the records. Raises FileNotFoundError for a path that does not exist, ValueError if there are none."""
        self._paths = [path.resolve() for path in paths]
        self._decisions, self._teacher = decisions, teacher
        self._files = find_records(self._paths)
        names = hashlib.blake2b(digest_size=4)
        self._n = 0
        for member in members(self._files):
            names.update(b"\0" * bool(self._n) + os.fsencode(member.name))
            self._n += 1
        self._digest = names.hexdigest()
        if not self._n:
            raise ValueError(f"no game records in {' '.join(map(str, paths))}")

    @property
    def options(self) -> str:
        """The options of records, with absolute paths."""
        words = ["--records", *map(str, self._paths), "--decisions", self._decisions]
        return shlex.join(words + teacher_option(self._teacher))

    @property
    def extent(self) -> str:
        """The number of files, and a hash of their names."""
        return f"{self._n:,} files (list {self._digest})"

    def chunks(self) -> list[RecordsChunk]:
        """Split the records into chunks of `chunk_size`."""
        files, size = self._files, chunk_size(self._n)
        return [
            RecordsChunk(files, first, min(size, self._n - first), self._decisions, self._teacher)
            for first in range(0, self._n, size)
        ]


def teacher_option(teacher: str | None) -> list[str]:
    """The option of a teacher, if there is one."""
    return [] if teacher is None else ["--teacher", teacher]
