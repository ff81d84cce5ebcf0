"""The chunks of an unfinished run, kept in a file so that the run can go on where it was interrupted.

The first line holds what the run is, every further line a finished chunk. A line that was cut off is dropped.
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
from arena.audience import Fault
from arena.chunk import Chunk
from arena.schedule import Settings
from engine.compiling import cache_folder


class OtherRunError(ValueError):
    """The journal belongs to a run with other settings or other code."""


def run_identity(settings: Settings, folder: Path | None) -> dict[str, Any]:
    """All that two runs must share for one to go on from the other's journal.

    Settings, the folder of saved games, and a hash of this repository's sources; those of visiting bots are not in it.
    """
    sources = [cache_folder(Path(package.__path__[0])).name for package in (agents, arena)]
    saved = None if folder is None else str(folder.resolve())
    return json.loads(json.dumps(dataclasses.asdict(settings) | {"save": saved, "sources": sources}))


class Journal:
    """An open journal. `found` holds the chunks finished before."""

    def __init__(self, path: Path, identity: dict[str, Any]) -> None:
        """Go on from the journal at `path`, or start it. Raises OtherRunError, OSError where it cannot be written."""
        self.path = path
        self._file = path.open("a+b")
        self._file.seek(0)
        header, *lines = self._whole_lines() or [identity]
        if differing := sorted(key for key in identity.keys() | header.keys() if identity.get(key) != header.get(key)):
            self._file.close()
            what = ", ".join(differing)
            raise OtherRunError(f"{path} is left from a run with other {what}: finish that run, or delete the file")
        self.found = [read_chunk(line) for line in lines]
        if self._file.tell() == 0:
            self._append(identity)

    def append(self, chunk: Chunk) -> None:
        """Keep a finished chunk."""
        line: dict[str, Any] = {"walls": chunk.walls, "counts": chunk.counts.tolist()}
        if chunk.faults:
            line["faults"] = [dataclasses.asdict(fault) for fault in chunk.faults]
        self._append(line)

    def remove(self) -> None:
        """The run is finished: its journal is not needed any more."""
        self._file.close()
        self.path.unlink()

    def _whole_lines(self) -> list[dict[str, Any]]:
        """The lines up to the first that was cut off, which goes."""
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
        raise OtherRunError(f"{self.path} is no journal of an arena run: delete it, or choose another file")

    def _append(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        self._file.flush()


def read_chunk(line: dict[str, Any]) -> Chunk:
    """A chunk from its line; how many answers it took is not kept."""
    faults = [Fault(**fault) for fault in line.get("faults", [])]
    return Chunk(line["walls"], np.array(line["counts"], dtype=np.int32), 0, faults)
