"""The manifest of a data folder: its sources, their shards, bad record files, and how much it holds.

In addition to the shards (`agents.bert.training.data.shards`) a folder has

``manifest.json``         the sources and their shards
``NNNNNN.bad_files.txt``  the faults of record files that were read for a shard, if any
``bad_files.txt``         all of these together: a line has file, location and fault, with tabs between
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.bert.encoding import MAX_TOKENS
from agents.bert.training.data.dataset import is_validation
from agents.bert.training.data.records import RecordFault
from agents.bert.training.data.shards import GAME, find, load, save
from agents.bert.training.data.sources import Chunk, Source
from engine.common.files import write_atomically

MANIFEST, BAD_FILES = "manifest.json", "bad_files.txt"


@dataclass(frozen=True)
class Part:
    """A source of a folder and its shards: number `first_shard` and the following, `n_shards` in all."""

    options: str  # see Source
    extent: str
    first_shard: int
    n_shards: int


def foreign_file(folder: Path) -> str | None:
    """Return the name of a file in a folder that none of our commands wrote, or None."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    ours = re.compile(rf"{MANIFEST}|(\d+\.)?{BAD_FILES}|\d+\.\w+\.npy|\..*")
    return next((name for name in names if not ours.fullmatch(name)), None)


def add_sources(folder: Path, sources: Sequence[Source], *, add: bool) -> list[tuple[int, Chunk]]:
    """Write `sources` into the manifest of a folder, if they are not there; returns each shard's number and chunk.

    A folder that has data of other sources is refused unless `add`. Raises ValueError, OSError.
    """
    made = find(folder)
    parts = read_manifest(folder) if made or add else []
    if not parts and made:
        raise ValueError(f"{folder} has training files but no {MANIFEST}: choose another folder")
    if not parts and (foreign := foreign_file(folder)):
        raise ValueError(f"{folder} has files that are no training data, such as {foreign}: name another folder")
    others = "; ".join(part.options for part in parts)
    tasks: list[tuple[int, Chunk]] = []
    for source in sources:
        part = next((part for part in parts if part.options == source.options), None)
        chunks = source.chunks()
        if part is None:
            if others and not add:
                raise ValueError(f"{folder} has other data ({others}); to add more data to it give --add")
            first = sum(part.n_shards for part in parts)
            part = Part(source.options, source.extent, first, len(chunks))
            parts.append(part)
        elif part.extent != source.extent:
            raise ValueError(
                f"{folder} was started with {part.extent} of {part.options}, not {source.extent}: choose another folder"
            )
        elif part.n_shards != len(chunks):
            raise ValueError(f"{folder} was started by another version of this program: choose another folder")
        tasks += enumerate(chunks, part.first_shard)
    write_manifest(folder, parts)
    return tasks


def read_manifest(folder: Path) -> list[Part]:
    """The parts of a data folder; none if it has no manifest. Raises ValueError if the manifest is damaged."""
    path = folder / MANIFEST
    if not path.exists():
        return []
    try:
        return [Part(**part) for part in json.loads(path.read_text(encoding="utf-8"))["parts"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: choose another folder") from error


def has_rollouts(folder: Path) -> bool:
    """Whether one of the sources of a folder was made with rollouts. Raises ValueError if the manifest is damaged."""
    return any("--rollouts" in shlex.split(part.options) for part in read_manifest(folder))


def write_manifest(folder: Path, parts: Sequence[Part]) -> None:
    """Write ``manifest.json``. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"parts": [asdict(part) for part in parts]}
    with write_atomically(folder / MANIFEST) as file:
        file.write(json.dumps(content, indent=1).encode() + b"\n")


def fill(folder: Path, number: int, chunk: Chunk) -> int:
    """Collect the samples of a chunk and write its shard; returns the number of games. Raises SourceError, OSError."""
    shard, faults = chunk.collect()
    write_faults(folder / f"{number:06}.{BAD_FILES}", faults)
    save(shard, folder, number)
    return chunk.n_games


def clear(folder: Path) -> None:
    """Delete the manifest and the shards of a folder, which is then free for other sources. Raises OSError."""
    for number in find(folder):
        for path in folder.glob(f"{number:06}.*"):
            path.unlink()
    (folder / MANIFEST).unlink()


def write_faults(path: Path, faults: Sequence[RecordFault]) -> None:
    """Write one line per fault; no file if there are none."""
    path.unlink(missing_ok=True)
    if faults:
        path.write_text("".join(f"{fault}\n" for fault in faults), encoding="utf-8", errors="surrogateescape")


def join_bad_files(folder: Path) -> int:
    """Join the lists of all shards in ``bad_files.txt``; returns the number of files on them. Raises OSError."""
    lists = sorted(folder.glob(f"*.{BAD_FILES}"))
    lines = b"".join(path.read_bytes() for path in lists)
    if lines or (folder / BAD_FILES).exists():
        (folder / BAD_FILES).write_bytes(lines)
    return len({line.split(b"\t")[0] for line in lines.splitlines()})


class Contents(NamedTuple):
    """How much a folder holds."""

    games: int
    validation_games: int
    samples: int
    tokens: int  # of the sequences of all samples
    size: int  # bytes of all shards

    def __str__(self) -> str:
        """One line, with the bytes a sample takes."""
        counts = f"{self.games:,} games ({self.validation_games:,} for validation), {self.samples:,} samples"
        if not self.samples:
            return counts
        plain, padded = 2 * self.tokens / self.samples, 8 * MAX_TOKENS
        return (
            f"{counts}, {self.size / 1e6:,.1f} MB: {self.size / self.samples:.0f} bytes a sample with its labels "
            f"(its tokens alone: {plain:.0f} as uint16, {padded:,} padded as int64)"
        )


def contents(folder: Path) -> Contents:
    """How much a folder holds. Raises ValueError for damaged data."""
    games = np.concatenate([np.empty(0, dtype=GAME), *(load(folder, number).games for number in find(folder))])
    return Contents(
        len(games),
        np.count_nonzero(is_validation(games)),
        int(games["n_samples"].sum()),
        int(games["n_tokens"].sum(dtype=np.int64)),
        sum(path.stat().st_size for path in folder.glob("[0-9]*.npy")),
    )
