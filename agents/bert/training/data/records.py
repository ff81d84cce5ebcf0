"""Training positions from recorded games, replayed on the engine."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.base import Agent
from agents.bert.training.data.collect import Gatherer, game_of, worths_of
from agents.bert.training.data.decisions import Decisions
from agents.bert.training.data.shards import GAME, Shard
from engine import kernels
from engine.records.files import read_records
from engine.records.model import GameRecord, RecordError, record_errors
from engine.records.replay import Decision, Mismatch, Replay
from engine.rules import TENHOU
from engine.table import MAX_LOG, N_SEATS, TABLE

UNNAMED = [""] * N_SEATS


class Fault(NamedTuple):
    """What is wrong with a record file."""

    file: str
    place: str
    what: str

    def __str__(self) -> str:
        """One line, tabs between."""
        return "\t".join(" ".join(part.split()) for part in self)


def gather(paths: Sequence[Path], decisions: Decisions, teacher: Agent | None = None) -> tuple[Shard, list[Fault]]:
    """The positions of the games in the files at `paths`, and what is wrong with some of them.

    What is to be learned is what was played, or what the `teacher` would have.

    A file that cannot be read or replayed, or does not tell how the game ended, gives nothing. Where a game departs
    from the rules the rest of that round is left out.
    """
    gatherer = Gatherer(len(paths))
    replayer = Replayer(gatherer, teacher)
    games = np.zeros(len(paths), dtype=GAME)
    keep = np.zeros((len(paths), N_SEATS), dtype=bool)
    faults = []
    for number, path in enumerate(paths):
        try:
            record = read_records(path)
            games[number : number + 1] = ending(record, path)
            wanted = decisions.of(record.events[0].get("names", UNNAMED), games["placement"][number])
            if wanted.any():
                faults += [departure(path, mismatch) for mismatch in replayer.play(record, number)]
                keep[number] = wanted
        except RecordError as error:
            faults.append(Fault(str(path), error.location, f"left out: {error.what}"))
        except OSError as error:
            faults.append(Fault(str(path), "file", f"left out: {error.strerror}"))
        except Exception as error:  # one file of an archive, however odd, does not cost the others
            faults.append(Fault(str(path), "file", f"left out: {type(error).__name__}: {error}"))
    return gatherer.finish(games, keep), faults


def departure(path: Path, mismatch: Mismatch) -> Fault:
    """A mismatch in a file."""
    what = f"recorded {mismatch.recorded}; the rules say {mismatch.rules}"
    return Fault(str(path), f"{mismatch.round}: event {mismatch.number}", what)


def ending(record: GameRecord, path: Path) -> np.ndarray:
    """GAME[1] of a recorded game. Raises RecordError where it does not tell the final scores."""
    end = record.events[-1]
    if end["type"] != "end_game" or "scores" not in end:
        raise RecordError(record.source, "end_game", "the final scores are not recorded")
    with record_errors(record.source, "end_game"):
        return game_of(identity(path), end["scores"], record.rules or TENHOU, end.get("points"))


def identity(path: Path) -> int:
    """64 bits of a hash of a record file's name, wherever it lies, however it is written."""
    name = Path(path.name.removesuffix(".gz")).stem
    return int.from_bytes(hashlib.blake2b(os.fsencode(name), digest_size=8).digest(), "little")


class Replayer:
    """Replays records, and hands their decisions to a gatherer."""

    def __init__(self, gatherer: Gatherer, teacher: Agent | None) -> None:
        self._gatherer, self._teacher = gatherer, teacher
        self._views = np.zeros(2 * MAX_LOG, dtype=TABLE)
        self._raw = self._views.view(np.uint8)
        self._actions = np.zeros(len(self._views), dtype=np.int64)
        self._n = 0  # decisions that are not handed over yet

    def play(self, record: GameRecord, game: int) -> list[Mismatch]:
        """Gather a record as `game`; returns where it departs from the rules. Raises RecordError."""
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
            self._hand_over(game)
        kernels.write_view(decision.raw, 0, decision.seat, self._raw, self._n)
        self._actions[self._n] = decision.action
        self._n += 1

    def _end_round(self, game: int) -> None:
        self._hand_over(game)
        self._gatherer.end_round(game)

    def _hand_over(self, game: int) -> None:
        views, actions = self._views[: self._n], self._actions[: self._n]
        self._gatherer.take(views, np.full(self._n, game), worths_of(views, actions, self._teacher))
        self._n = 0
