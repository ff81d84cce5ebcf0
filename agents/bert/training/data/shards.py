"""Training files: positions with the label played, small enough to keep many millions of them.

A folder holds shards of a few hundred games (see `manifest`), each of five arrays
that are mapped into memory, never read as a whole:

``NNNNNN.state.npy``      uint16: [CLS] and the state tokens of all positions, one after the other
``NNNNNN.record.npy``     uint16: the record tokens of every round once, players being seats; a position has the
                          beginning of its round's, turned to its seat when it is read
``NNNNNN.regret.npy``     uint8: what each legal label of a position would lose, as places in REGRETS
``NNNNNN.positions.npy``  POSITION[n], game after game
``NNNNNN.games.npy``      GAME[n]; written last
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from engine.common.files import write_atomically
from engine.table import N_SEATS, record

POSITION = record(
    [
        ("legal", "u8"),  # bit mask of the labels that are legal
        ("state_at", "u4"),  # place of its first state token
        ("record_at", "u4"),  # place of the first record token of its round
        ("regret_at", "u4"),  # place of the regret of its first legal label
        ("game", "u4"),  # place in the shard's games
        ("n_state", "u1"),
        ("n_record", "u1"),
        ("seat", "u1"),
        ("label", "u1"),
    ]
)
GAME = record(
    [
        ("id", "u8"),  # a hash of its file's name, or the seed of its walls
        ("n_positions", "u4"),
        ("n_tokens", "u4"),  # of all its positions' sequences
        ("points", "f4", N_SEATS),  # final points, uma and oka included, in thousands
        ("placement", "u1", N_SEATS),  # 0 first … 2 last
    ]
)

# Regret: how many places (a better placement by one is 1) a label promises less than the best one, in the eyes of a
# teacher or by trials. The steps widen: near 0.01 places they are 0.0007 apart, in the end 0.024, which is nothing
# beside the luck of a trial. The last one is for labels that it did not think of.
N_REGRETS = 256
WORST_REGRET = 2.0
NOT_THOUGHT_OF = 0.25  # places that such a label is taken to lose where one is played
REGRETS = np.append(WORST_REGRET * np.linspace(0, 1, N_REGRETS - 1) ** 3, np.inf).astype(np.float32)


class Shard(NamedTuple):
    """The five arrays of a shard."""

    state: np.ndarray
    record: np.ndarray
    regret: np.ndarray
    positions: np.ndarray
    games: np.ndarray


DTYPES = (np.dtype(np.uint16), np.dtype(np.uint16), np.dtype(np.uint8), POSITION, GAME)


def lengths_of(positions: np.ndarray) -> np.ndarray:
    """int64[n]: tokens in the sequences of POSITION[n], [SEP] and [EOS] included."""
    return positions["n_state"].astype(np.int64) + positions["n_record"] + 2


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
        with write_atomically(path) as file:
            np.save(file, array)


def load(folder: Path, number: int) -> Shard:
    """A shard, its arrays mapped into memory. Raises ValueError naming the file that is damaged or missing."""
    arrays = []
    for part, dtype in zip(Shard._fields, DTYPES, strict=True):
        path = part_path(folder, number, part)
        try:
            array = np.load(path, mmap_mode="r")
        except (OSError, ValueError, EOFError) as error:
            what = f"damaged or missing ({error}); delete {number:06}.* there and make the data again"
            raise ValueError(f"{path}: {what}") from error
        if array.dtype != dtype:
            raise ValueError(f"{path}: made by another version of this program; make the data again in a new folder")
        arrays.append(np.asarray(array).view(dtype))
    return Shard(*arrays)


def find(folder: Path) -> list[int]:
    """The numbers of the shards in a folder."""
    return sorted(int(path.name.split(".")[0]) for path in folder.glob(f"*.{Shard._fields[-1]}.npy"))
