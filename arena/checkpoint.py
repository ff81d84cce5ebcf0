"""The checkpoint of a run: a file of its finished chunks, from which an interrupted run resumes.

A file of JSON lines. The first line identifies the run, each further line is a finished chunk. An incomplete last line,
left by a killed process, is dropped.
"""

from __future__ import annotations

import dataclasses
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import agents
import arena
from arena.observers import Fault
from arena.play import ChunkResult
from arena.schedule import RunSettings
from engine.compiling import cache_folder


class CheckpointError(ValueError):
    """The file is the checkpoint of a run with other settings or other code, or no checkpoint."""


def run_identity(settings: RunSettings, folder: Path | None) -> dict[str, Any]:
    """What two runs must have in common for one to resume from the checkpoint of the other.

    The settings, the folder of saved games, and a hash of this repository's sources. The sources of bots from other
    packages and of external bots are not included.
    """
    sources = [cache_folder(Path(package.__path__[0])).name for package in (agents, arena)]
    saved = None if folder is None else str(folder.resolve())
    return json.loads(json.dumps(dataclasses.asdict(settings) | {"save": saved, "sources": sources}))


class Checkpoint:
    """An open checkpoint file. ``resumed``: the chunks that were finished before it was opened."""

    def __init__(self, path: Path, identity: dict[str, Any]) -> None:
        """Open the checkpoint at ``path``, or create it. Raises CheckpointError, and OSError if it is not writable."""
        self.path = path
        self._file = path.open("a+b")
        self._file.seek(0)
        header, *lines = self._complete_lines() or [identity]
        if differing := sorted(key for key in identity.keys() | header.keys() if identity.get(key) != header.get(key)):
            self._file.close()
            what = ", ".join(differing)
            raise CheckpointError(f"{path} belongs to a run with different {what}: finish that run or delete the file")
        self.resumed = [parse_chunk(line) for line in lines]
        if self._file.tell() == 0:
            self._append(identity)

    def append(self, chunk: ChunkResult) -> None:
        """Write a finished chunk."""
        line: dict[str, Any] = {"walls": chunk.walls, "counts": chunk.counts.tolist()}
        if chunk.faults:
            line["faults"] = [dataclasses.asdict(fault) for fault in chunk.faults]
        self._append(line)

    def delete(self) -> None:
        """Delete the file: the run is finished."""
        self._file.close()
        self.path.unlink()

    def _complete_lines(self) -> list[dict[str, Any]]:
        """All lines but an incomplete last one, which is cut off the file."""
        lines: list[dict[str, Any]] = []
        end = 0
        for line in self._file:
            if line.endswith(b"\n"):
                lines.append(self._parse(line))
                end += len(line)
        self._file.truncate(end)
        self._file.seek(end)
        return lines

    def _parse(self, line: bytes) -> dict[str, Any]:
        with suppress(ValueError):
            if isinstance(parsed := json.loads(line), dict):
                return parsed
        raise CheckpointError(f"{self.path} is not a checkpoint of the arena: delete it, or choose another --json FILE")

    def _append(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        self._file.flush()


def parse_chunk(line: dict[str, Any]) -> ChunkResult:
    """A chunk from its line. The number of decisions is not kept, so it is 0."""
    faults = [Fault(**fault) for fault in line.get("faults", [])]
    return ChunkResult(line["walls"], np.array(line["counts"], dtype=np.int32), 0, faults)
