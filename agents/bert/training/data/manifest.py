"""A folder of training files: what they are made from, how far they are, and how much they hold.

Beside the shards (`agents.bert.training.data.shards`) it has

``data.json``             the sources, each with the shards that are its own
``NNNNNN.bad_files.txt``  what is wrong with record files read for a shard, if anything
``bad_files.txt``         all of these together: file, place and what is wrong, tabs between
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.bert.encoding import MAX_TOKENS
from agents.bert.training.data.dataset import HELD_OUT_OF
from agents.bert.training.data.records import Fault
from agents.bert.training.data.shards import GAME, find, load, save
from agents.bert.training.data.sources import Chunk, Source
from engine.common.files import write_atomically

BAD_FILES = "bad_files.txt"


@dataclass(frozen=True)
class Part:
    """A source of a folder: its options and extent, and its shards."""

    options: str
    extent: str
    first: int
    n_shards: int


def take_in(folder: Path, sources: Sequence[Source], *, add: bool) -> list[tuple[int, Chunk]]:
    """Make `sources` parts of a folder, if they are none yet; returns their shards' numbers, and what fills them.

    Unless `add`, a folder with other parts is refused. Raises ValueError, OSError.
    """
    parts = parts_of(folder)
    others = "; ".join(part.options for part in parts)
    tasks: list[tuple[int, Chunk]] = []
    for source in sources:
        part = next((part for part in parts if part.options == source.options), None)
        chunks = source.chunks()
        if part is None:
            if others and not add:
                raise ValueError(f"{folder} has other data ({others}): give --add to put more beside it")
            first = sum(part.n_shards for part in parts)
            part = Part(source.options, source.extent, first, len(chunks))
            parts.append(part)
        elif part.extent != source.extent:
            raise ValueError(f"{folder} was begun with {part.extent} of {part.options}; these are {source.extent}")
        tasks += enumerate(chunks, part.first)
    write_parts(folder, parts)
    return tasks


def parts_of(folder: Path) -> list[Part]:
    """The parts of a folder, none where it is new. Raises ValueError for a folder of something else."""
    path = folder / "data.json"
    if not path.exists():
        if find(folder):
            raise ValueError(f"{folder} has training files, but no data.json that tells of what: choose another folder")
        return []
    try:
        return [Part(**part) for part in json.loads(path.read_text(encoding="utf-8"))["parts"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged: choose another folder") from error


def write_parts(folder: Path, parts: Sequence[Part]) -> None:
    """Write ``data.json``. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {"parts": [asdict(part) for part in parts]}
    with write_atomically(folder / "data.json") as file:
        file.write(json.dumps(told, indent=1).encode() + b"\n")


def fill(folder: Path, number: int, chunk: Chunk) -> int:
    """Make a shard; returns how many games were looked at. Raises SourceError, OSError."""
    shard, faults = chunk.gather()
    write_faults(folder / f"{number:06}.{BAD_FILES}", faults)
    save(shard, folder, number)
    return chunk.n


def write_faults(path: Path, faults: Sequence[Fault]) -> None:
    """Write a line for each fault; no file for none."""
    path.unlink(missing_ok=True)
    if faults:
        path.write_text("".join(f"{fault}\n" for fault in faults), encoding="utf-8", errors="surrogateescape")


def list_bad_files(folder: Path) -> int:
    """Put the lists of all shards together, and return how many files are on them. Raises OSError."""
    lists = sorted(folder.glob(f"*.{BAD_FILES}"))
    lines = b"".join(path.read_bytes() for path in lists)
    if lines or (folder / BAD_FILES).exists():
        (folder / BAD_FILES).write_bytes(lines)
    return len({line.split(b"\t")[0] for line in lines.splitlines()})


class Contents(NamedTuple):
    """How much a folder holds."""

    games: int
    held_out: int  # of the games
    positions: int
    tokens: int  # of all their sequences
    size: int  # bytes of all shards

    def __str__(self) -> str:
        """In words, with how compact it is."""
        told = f"{self.games:,} games ({self.held_out:,} held out), {self.positions:,} positions"
        if not self.positions:
            return told
        plain, padded = 2 * self.tokens / self.positions, 8 * MAX_TOKENS
        return (
            f"{told}, {self.size / 1e6:,.1f} MB: {self.size / self.positions:.0f} bytes a position, labels and all "
            f"(its sequence alone as uint16: {plain:.0f}, as padded int64: {padded:,})"
        )


def contents(folder: Path) -> Contents:
    """How much a folder holds. Raises ValueError for damaged data."""
    games = np.concatenate([np.empty(0, dtype=GAME), *(load(folder, number).games for number in find(folder))])
    return Contents(
        len(games),
        np.count_nonzero(games["id"] % HELD_OUT_OF == 0),
        int(games["n_positions"].sum()),
        int(games["n_tokens"].sum(dtype=np.int64)),
        sum(path.stat().st_size for path in folder.glob("[0-9]*.npy")),
    )
