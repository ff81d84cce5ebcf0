"""Training files: positions with the label played, small enough to keep many millions of them.

A folder holds shards of a few hundred games, each of four arrays that are mapped into memory, never read as a whole:

``NNNNNN.state.npy``      uint16: [CLS] and the state tokens of all positions, one after the other
``NNNNNN.record.npy``     uint16: the record tokens of every round once, players being seats; a position has the
                          beginning of its round's, turned to its seat when it is read
``NNNNNN.positions.npy``  POSITION[n]
``NNNNNN.games.npy``      GAME[n]; written last
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from engine.table import N_SEATS, record

POSITION = record(
    [
        ("legal", "u8"),  # bit mask of the labels that are legal
        ("state_at", "u4"),  # place of its first state token
        ("record_at", "u4"),  # place of the first record token of its round
        ("game", "u4"),  # place in the shard's games
        ("round_points", "i4"),  # what the seat won or lost in this round, sticks included
        ("n_state", "u1"),
        ("n_record", "u1"),
        ("seat", "u1"),
        ("label", "u1"),
    ]
)
GAME = record(
    [
        ("id", "u8"),  # a hash of its file's name, or of the wall's seed
        ("points", "f4", N_SEATS),  # final points, uma and oka included, in thousands
        ("placement", "u1", N_SEATS),  # 0 first … 2 last
    ]
)


class Shard(NamedTuple):
    """The four arrays of a shard."""

    state: np.ndarray
    record: np.ndarray
    positions: np.ndarray
    games: np.ndarray


def part_path(folder: Path, number: int, part: str) -> Path:
    """Where one array of a shard lies."""
    return folder / f"{number:06}.{part}.npy"


def exists(folder: Path, number: int) -> bool:
    """Whether a shard has been written to its end."""
    return part_path(folder, number, Shard._fields[-1]).exists()


def save(shard: Shard, folder: Path, number: int) -> None:
    """Write a shard: its last array appears when all are whole. Raises OSError."""
    for part, array in zip(Shard._fields, shard, strict=True):
        path = part_path(folder, number, part)
        unfinished = path.with_suffix(".unfinished")
        with unfinished.open("wb") as file:
            np.save(file, array.view(np.uint8) if array.dtype.fields else array)
        unfinished.replace(path)


def load(folder: Path, number: int) -> Shard:
    """A shard, its arrays mapped into memory. Raises ValueError naming the file that is damaged or missing."""
    arrays = []
    for part in Shard._fields:
        path = part_path(folder, number, part)
        try:
            arrays.append(np.asarray(np.load(path, mmap_mode="r")))
        except (OSError, ValueError, EOFError) as error:
            raise ValueError(
                f"{path}: damaged or missing ({error}); delete the shard and make the data again"
            ) from error
    state, records, positions, games = arrays
    return Shard(state, records, positions.view(POSITION), games.view(GAME))


def find(folder: Path) -> list[int]:
    """The numbers of the shards in a folder."""
    return sorted(int(path.name.split(".")[0]) for path in folder.glob(f"*.{Shard._fields[-1]}.npy"))
