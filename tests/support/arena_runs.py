"""Helpers of the tests of the arena."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from arena.chunk import ChunkResult, GamesPlayed

REPOSITORY = Path(__file__).resolve().parents[2]

# The fixture `arena`: a function of the arguments of the command line.
Arena = Callable[..., subprocess.CompletedProcess[str]]


def without_speed(path: Path) -> dict[str, Any]:
    """The content of a JSON file of results, without the part that differs between runs."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    del document["speed"]
    return document


def last_update(updates: Iterable[GamesPlayed | ChunkResult]) -> ChunkResult:
    """The result of a chunk, which is the last update of `arena.chunk.play_chunk`."""
    *_, result = updates
    assert isinstance(result, ChunkResult)
    return result
