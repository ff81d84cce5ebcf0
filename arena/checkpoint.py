"""The files of a run: its checkpoint, from which it resumes if interrupted, and the results of a finished run.

A checkpoint is a `engine.common.line_file.LineFile`: an entry for each finished chunk.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agents.bot_files import digest_of_files, digest_of_weights
from arena.bot_games import N_COUNTS
from arena.chunk import ChunkResult
from arena.observers import Fault
from arena.schedule import RunSettings
from arena.tallies.observer import pack, unpack
from engine.common.line_file import DAMAGE, LineFile, ResumeError, differing
from engine.common.sources import digest_of_sources
from engine.contests.seating import ROTATIONS
from engine.table import N_SEATS

OF_FILES = ("save", "rows")  # keys of an identity that do not change the results


def run_identity(settings: RunSettings, folder: Path | None, rows: Sequence[str] = ()) -> dict[str, Any]:
    """What two runs must have in common for one to resume from the checkpoint of the other.

    The settings, the folder of saved games, the kinds of ``rows`` that are kept (`arena.parquet_rows`), hashes of this
    repository's sources and bundled weights, and one of the files of the bots: ``my_bot.py:Eager``,
    ``exec:python bot.py`` and ``bert:run/model`` (the files in the folder) are other bots when these files have
    changed, and ``rule@-300`` when its scale has (`agents.bot_files`).
    """
    sources = [digest_of_sources("engine", "agents", "arena"), digest_of_weights()]
    saved = None if folder is None else str(folder.resolve())
    own = {"save": saved, "rows": list(rows), "sources": sources, "bot_files": digest_of_files(settings.bots)}
    return json.loads(json.dumps(dataclasses.asdict(settings) | own))


def finished_results(path: Path, identity: dict[str, Any]) -> dict[str, Any] | None:
    """Return the results at ``path``, or None if there is no such file.

    Raises ResumeError if they belong to a run with another ``identity``: they must not be overwritten.
    """
    try:
        document = json.loads(path.read_bytes())
        own = document["settings"] | {key: document[key] for key in ("sources", "bot_files")}
        document["comparisons"]
    except FileNotFoundError:
        return None
    except DAMAGE:
        raise ResumeError(
            f"{path} is there already, without results of this version: name another --json FILE"
        ) from None
    if what := differing(own, {key: value for key, value in identity.items() if key not in OF_FILES}):
        raise ResumeError(
            f"{path} has the results of a run with different {what}: name another --json FILE, or delete it"
        )
    results: dict[str, Any] = document
    return results


class Checkpoint:
    """An open checkpoint file."""

    def __init__(self, path: Path, identity: dict[str, Any], take: Callable[[ChunkResult], None]) -> None:
        """Open the checkpoint at ``path``, or create it. Raises what `LineFile` raises.

        ``take`` is called with each chunk finished before, one at a time, since they take much memory together.
        """
        self.path = path
        self._lines = LineFile(path, identity)
        missing = set(range(identity["games"] // ROTATIONS))

        def take_line(line: dict[str, Any]) -> None:
            chunk = parse_chunk(line)
            if not missing.issuperset(chunk.walls):
                raise ValueError(f"a wall that is not played, or twice, among {chunk.walls}")
            missing.difference_update(chunk.walls)
            take(chunk)

        self._lines.restore(take_line)

    def append(self, chunk: ChunkResult) -> None:
        """Write a finished chunk."""
        line: dict[str, Any] = {"walls": chunk.walls, "counts": chunk.counts.tolist()}
        if chunk.luck is not None:
            line["luck"] = chunk.luck.tolist()
        if chunk.tallies is not None:
            line["tallies"] = pack(chunk.tallies)
        if chunk.faults:
            line["faults"] = [dataclasses.asdict(fault) for fault in chunk.faults]
        self._lines.append(line)

    def close(self) -> None:
        """Close the file: the run is interrupted, and others may resume it."""
        self._lines.close()

    def delete(self) -> None:
        """Delete the file: the run is finished."""
        self._lines.delete()


def parse_chunk(line: dict[str, Any]) -> ChunkResult:
    """Return the chunk in a line. The number of decisions (here 0) and the times are not stored."""
    faults = [Fault(**fault) for fault in line.get("faults", [])]
    luck = np.array(line["luck"], dtype=np.float64) if "luck" in line else None
    tallies = unpack(line["tallies"]) if "tallies" in line else None
    walls, counts = check_walls(line["walls"]), np.array(line["counts"], dtype=np.int32)
    shape = (len(walls), ROTATIONS, N_SEATS)
    if counts.shape != (*shape, N_COUNTS) or (luck is not None and luck.shape != (*shape, 2)):
        raise ValueError("games of another shape")
    return ChunkResult(walls, counts, 0, faults, luck, tallies)


def check_walls(walls: Any) -> list[int]:
    """Return the numbers of walls in a file. Raises ValueError for an invalid or repeated number, or TypeError."""
    if not all(type(wall) is int and wall >= 0 for wall in walls) or len(set(walls)) < len(walls):
        raise ValueError(f"not the numbers of walls: {walls}")
    return list(walls)
