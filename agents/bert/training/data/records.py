"""Samples from recorded games, replayed on the engine."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.bert.training.data.collect import SampleCollector, game_of
from agents.bert.training.data.seat_filter import SeatFilter
from agents.bert.training.data.shards import GAME, Shard
from agents.bert.training.targets.protocol import Decisions, TargetSource
from engine import table_kernels
from engine.common.options import printable
from engine.records.archives import PACKED_SUFFIXES
from engine.records.filters import THREE_PLAYERS
from engine.records.model import GameRecord, RecordError, record_errors
from engine.records.replay import Decision, Mismatch, Replay
from engine.records.stream import Item, select_record
from engine.rules import TENHOU
from engine.table import MAX_LOG, N_SEATS, TABLE

UNNAMED = [""] * N_SEATS


class RecordFault(NamedTuple):
    """What is wrong with a record; `file`: its name, as `engine.records.archives.Member` has it."""

    file: str
    where: str
    what: str

    def __str__(self) -> str:
        """One line, tabs between."""
        return "\t".join(printable(" ".join(part.split())) for part in self)


def collect_items(
    items: Sequence[Item], seat_filter: SeatFilter, source: TargetSource
) -> tuple[Shard, list[RecordFault]]:
    """Return the samples of some records, and the faults found in them.

    A four-player game gives no samples, nor does a record that cannot be read or replayed, or lacks the final scores.
    Where a game departs from the rules, the rest of that round is left out.
    """
    collector = SampleCollector(len(items))
    replayer = Replayer(collector, source)
    games = np.zeros(len(items), dtype=GAME)
    keep = np.zeros((len(items), N_SEATS), dtype=bool)
    faults = []
    for index, item in enumerate(items):
        try:
            record = select_record(item, THREE_PLAYERS)
            if record is None:
                continue
            games[index : index + 1] = read_game(record, Path(item.inner or item.file))
            seats = seat_filter.seats(record.events[0].get("names", UNNAMED), games["placement"][index])
            if seats.any():
                faults += [rule_fault(item.name, mismatch) for mismatch in replayer.play(record, index)]
                keep[index] = seats
        except RecordError as error:
            faults.append(RecordFault(item.name, error.location, f"left out: {error.what}"))
        except Exception as error:  # one odd file must not cost the other files of an archive
            faults.append(RecordFault(item.name, "file", f"left out: {type(error).__name__}: {error}"))
    return collector.finish(games, keep), faults


def rule_fault(name: str, mismatch: Mismatch) -> RecordFault:
    """A mismatch between a record and the rules, as a fault of its file."""
    what = f"recorded {mismatch.recorded}; the rules say {mismatch.rules}"
    return RecordFault(name, f"{mismatch.round}: event {mismatch.number}", what)


def read_game(record: GameRecord, path: Path) -> np.ndarray:
    """GAME[1] of a recorded game. Raises RecordError if the final scores are not recorded."""
    end = record.events[-1]
    if end["type"] != "end_game" or "scores" not in end:
        raise RecordError(record.source, "end_game", "the final scores are not recorded")
    with record_errors(record.source, "end_game"):
        return game_of(file_id(path), end["scores"], record.rules or TENHOU, end.get("points"))


def file_id(path: Path) -> int:
    """64 bits of a hash of a record file's name without its folder and extensions."""
    name = path.name
    for suffix in PACKED_SUFFIXES:
        name = name.removesuffix(suffix)
    name = Path(name).stem
    return int.from_bytes(hashlib.blake2b(os.fsencode(name), digest_size=8).digest(), "little")


class Replayer:
    """Replays records and adds their decisions to a collector, many at a time."""

    def __init__(self, collector: SampleCollector, source: TargetSource) -> None:
        self._collector, self._source = collector, source
        self._views = np.zeros(2 * MAX_LOG, dtype=TABLE)
        self._raw = self._views.view(np.uint8)
        self._actions = np.zeros(len(self._views), dtype=np.int64)
        self._n = 0  # decisions that wait in the two arrays

    def play(self, record: GameRecord, game: int) -> list[Mismatch]:
        """Add a record as game number `game`; returns its departures from the rules. Raises RecordError."""
        self._n = 0
        replay = Replay(record)
        n_over = 0
        for decision in replay:
            while n_over < replay.n_rounds - 1:
                self._end_round(game)
                n_over += 1
            self._add(game, decision)
        self._end_round(game)
        return replay.mismatches

    def _add(self, game: int, decision: Decision) -> None:
        if self._n == len(self._views):
            self._flush(game)
        table_kernels.write_view(decision.raw, 0, decision.seat, self._raw, self._n)
        self._actions[self._n] = decision.action
        self._n += 1

    def _end_round(self, game: int) -> None:
        self._flush(game)
        self._collector.end_round(game)

    def _flush(self, game: int) -> None:
        views, actions = self._views[: self._n], self._actions[: self._n]
        targets = self._source.label(Decisions(views, actions))
        games = np.full(self._n, game)
        self._collector.add(views[targets.rows], games[targets.rows], targets.action_values)
        self._n = 0
