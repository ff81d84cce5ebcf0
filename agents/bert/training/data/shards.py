"""The file format of training data: shards of five NumPy arrays, compact enough for many millions of samples.

A shard holds the samples of a few hundred games. Its arrays are mapped into memory, never read as a whole:

``NNNNNN.state.npy``    uint16: [CLS] and the state tokens of all samples, one after the other
``NNNNNN.record.npy``   uint16: the record tokens of each round once, players being seats; a sample has the first
                        `n_record` of its round, rotated to its seat when read
``NNNNNN.regret.npy``   uint8: the regret of each legal label of a sample, as index into REGRETS
``NNNNNN.samples.npy``  SAMPLE[n], game after game
``NNNNNN.games.npy``    GAME[m]; written last: a shard with this file is complete
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from engine.common.files import write_atomically
from engine.table import N_SEATS, record

SAMPLE = record(
    [
        ("legal", "u8"),  # bit mask of the legal labels
        ("state_start", "u4"),  # index of its first state token
        ("record_start", "u4"),  # index of the first record token of its round
        ("regret_start", "u4"),  # index of the regret of its first legal label
        ("game", "u4"),  # index into the shard's games
        ("n_state", "u1"),  # tokens
        ("n_record", "u1"),  # tokens
        ("seat", "u1"),
        ("label", "u1"),
    ]
)
GAME = record(
    [
        ("id", "u8"),  # a hash of its file's name, or the seed of its walls
        ("n_samples", "u4"),
        ("n_tokens", "u4"),  # of the sequences of all its samples
        ("points", "f4", N_SEATS),  # final points, uma and oka included, in thousands
        ("placement", "u1", N_SEATS),  # 0 first … 2 last
    ]
)

# The regret of a label is the best label's value minus its own, in units of placement (1: one rank lower), by a
# teacher or by rollouts; of a teacher that is a policy, REGRET_UNIT times the difference of the log probabilities. It
# is stored as one of 256 levels with cubic spacing: 0.0007 near 0.01 and 0.024 near 2, far less than the noise of a
# rollout. For a policy 0.01 is 2.5 nats, and the spacing there is 0.2 nats. The last level, inf, is for labels of
# unknown value.
N_REGRETS = 256
MAX_REGRET = 2.0
UNKNOWN_REGRET = 0.25  # the regret assumed for a label of unknown value that a policy chooses
REGRETS = np.append(MAX_REGRET * np.linspace(0, 1, N_REGRETS - 1) ** 3, np.inf).astype(np.float32)


class Shard(NamedTuple):
    """The five arrays of a shard."""

    state: np.ndarray
    record: np.ndarray
    regret: np.ndarray
    samples: np.ndarray
    games: np.ndarray


DTYPES = (np.dtype(np.uint16), np.dtype(np.uint16), np.dtype(np.uint8), SAMPLE, GAME)


def lengths_of(samples: np.ndarray) -> np.ndarray:
    """int64[n]: tokens in the sequences of SAMPLE[n], [SEP] and [EOS] included."""
    return samples["n_state"].astype(np.int64) + samples["n_record"] + 2


def array_path(folder: Path, number: int, name: str) -> Path:
    """The file of one array of a shard."""
    return folder / f"{number:06}.{name}.npy"


def exists(folder: Path, number: int) -> bool:
    """Whether a shard is complete."""
    return array_path(folder, number, Shard._fields[-1]).exists()


def save(shard: Shard, folder: Path, number: int) -> None:
    """Write a shard; it is complete once its last array is there. Raises OSError."""
    for name, array in zip(Shard._fields, shard, strict=True):
        with write_atomically(array_path(folder, number, name)) as file:
            np.save(file, array)


def load(folder: Path, number: int) -> Shard:
    """A shard, its arrays mapped into memory. Raises ValueError with the name of a damaged or missing file."""
    arrays = []
    for name, dtype in zip(Shard._fields, DTYPES, strict=True):
        path = array_path(folder, number, name)
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
    """The numbers of the complete shards in a folder, ascending."""
    return sorted(int(path.name.split(".")[0]) for path in folder.glob(f"*.{Shard._fields[-1]}.npy"))
