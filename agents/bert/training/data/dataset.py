"""Reading training data: the training and validation split, the order of samples in an epoch, and batches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.bert.encoding import MAX_TOKENS, attention_mask, position_ids
from agents.bert.labels import N_LABELS
from agents.bert.symmetries import LABEL_MAPS, TOKEN_MAPS, sort_hand
from agents.bert.training.data.shards import N_REGRETS, REGRETS, SAMPLE, Shard, find, lengths_of, load
from agents.bert.vocabulary import EOS, FIRST_EVENT_TOKEN, N_EVENT_TOKENS, SEP
from engine.compiling import kernel
from engine.rules import N_SEATS

VALIDATION_ONE_IN = 20  # share of the games that is for validation, never for training
SHUFFLED_SHARDS = 16  # shards whose samples are shuffled together: some thousand games
PAD_TO_MULTIPLE_OF = 8  # of sequence lengths: fewer shapes, as torch prepares kernels for each
BUCKETED_BATCHES = 50  # batches whose samples are sorted by length together


class Batch(NamedTuple):
    """n samples, padded with [PAD] (0) to the length L."""

    input_ids: np.ndarray  # int64[n, L]
    attention_mask: np.ndarray  # bool[n, L]: true where there is a token
    position_ids: np.ndarray  # int64[n, L]
    legal: np.ndarray  # bool[n, N_LABELS]
    label: np.ndarray  # int64[n]: the best label
    placement: np.ndarray  # int64[n]: the final rank of the seat, 0 first
    points: np.ndarray  # float32[n]: its final points in thousands
    regret: np.ndarray  # float32[n, N_LABELS]: placement lost against the best label, inf if unknown


@kernel(
    "const(uint16[::1]), const(uint16[::1]), const(uint8[::1]), const(uint8[::1]), int64[::1],"
    "int64[::1], uint16[:, ::1], int64[:, ::1], int64[::1], int64[::1], uint8[:, ::1]"
)
def _fill(
    state: np.ndarray, record: np.ndarray, regret: np.ndarray, raw: np.ndarray, indices: np.ndarray,
    rows: np.ndarray, maps: np.ndarray, ids: np.ndarray, n_state: np.ndarray, lengths: np.ndarray, levels: np.ndarray,
) -> None:  # fmt: skip
    """Write the sequences of the samples at `indices` of a shard to `rows` of `ids`, each through its token map.

    The regrets of their labels, as stored and without the symmetry, go to the rows of `levels`.
    """
    samples = raw.view(SAMPLE)
    for k in range(len(indices)):
        p = samples[indices[k]]
        row = rows[k]
        out, token_map = ids[row], maps[row]
        n = np.int64(p.n_state)
        for i in range(n):
            out[i] = token_map[state[p.state_start + i]]
        sort_hand(out, n)
        n_state[row] = n
        out[n] = SEP
        for i in range(p.n_record):
            token = np.int64(record[p.record_start + i]) - FIRST_EVENT_TOKEN
            player = (token // N_EVENT_TOKENS - np.int64(p.seat) + N_SEATS) % N_SEATS
            out[n + 1 + i] = token_map[FIRST_EVENT_TOKEN + player * N_EVENT_TOKENS + token % N_EVENT_TOKENS]
        n += 1 + np.int64(p.n_record)
        out[n] = EOS
        lengths[row] = n + 1
        n_regrets = np.int64(0)
        for label in range(N_LABELS):
            if (p.legal >> np.uint64(label)) & np.uint64(1):
                levels[row, label] = regret[p.regret_start + n_regrets]
                n_regrets += 1


class Dataset:
    """The training or the validation samples of a folder of shards.

    The split is by game: all samples of a game are in one part. Samples are addressed by their index among all samples
    of the folder, int64.
    """

    def __init__(self, folder: Path, *, validation: bool = False) -> None:
        """Raises ValueError if the folder holds no data, or damaged data."""
        self._numbers = find(folder)
        if not self._numbers:
            raise ValueError(f"{folder}: no training files here; make some with: python -m agents.bert data --help")
        self._validation = validation
        self._open = lru_cache(2 * SHUFFLED_SHARDS)(partial(load, folder))  # each open one takes five file descriptors
        games = [np.array(self._open(number).games) for number in self._numbers]
        self._starts = np.cumsum([0, *(int(each["n_samples"].sum()) for each in games)])
        self._n = int(sum(each["n_samples"][self._is_chosen(each)].sum() for each in games))
        if not self._n:
            which = "validation" if validation else "training"
            raise ValueError(
                f"{folder}: no games for {which}; one in {VALIDATION_ONE_IN} is for validation: add games, or more "
                "records, with python -m agents.bert data --add"
            )

    def __len__(self) -> int:
        return self._n

    def _is_chosen(self, games: np.ndarray) -> np.ndarray:
        return np.asarray(is_validation(games) == self._validation)

    @property
    def indices(self) -> np.ndarray:
        """int64[len]: the indices of all samples of this part, ascending."""
        return np.concatenate([self._indices_in(shard) for shard in range(len(self._numbers))])

    def _indices_in(self, shard: int) -> np.ndarray:
        """The indices of the samples in one of the shards."""
        games = self._open(self._numbers[shard]).games
        return self._starts[shard] + np.flatnonzero(np.repeat(self._is_chosen(games), games["n_samples"]))

    def lengths(self, indices: np.ndarray) -> np.ndarray:
        """int64[n]: tokens of each sample."""
        lengths = np.empty(len(indices), dtype=np.int64)
        for shard, rows, inside in self._by_shard(indices):
            lengths[rows] = lengths_of(shard.samples[inside])
        return lengths

    def game_ids(self, indices: np.ndarray) -> np.ndarray:
        """uint64[n]: the id of each sample's game."""
        ids = np.empty(len(indices), dtype=np.uint64)
        for shard, rows, inside in self._by_shard(indices):
            ids[rows] = shard.games["id"][shard.samples["game"][inside]]
        return ids

    def _by_shard(self, indices: np.ndarray) -> Iterator[tuple[Shard, np.ndarray, np.ndarray]]:
        """Each shard with some of the samples: which rows of `indices` they are, and their indices in the shard."""
        shards = np.searchsorted(self._starts, indices, side="right") - 1
        for shard in np.unique(shards):
            rows = np.flatnonzero(shards == shard)
            yield self._open(self._numbers[shard]), rows, indices[rows] - self._starts[shard]

    def batch(self, indices: np.ndarray, variants: np.ndarray | None = None) -> Batch:
        """The samples at `indices` int64[n], each in its variant int[n] of `symmetries` (None: as played)."""
        n = len(indices)
        variants = np.zeros(n, dtype=np.int64) if variants is None else variants
        ids, maps = np.zeros((n, MAX_TOKENS + PAD_TO_MULTIPLE_OF), dtype=np.int64), TOKEN_MAPS[variants]
        n_state, lengths = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        samples = np.empty(n, dtype=SAMPLE)
        placement, points = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.float32)
        levels = np.full((n, N_LABELS), N_REGRETS - 1, dtype=np.uint8)
        for shard, rows, inside in self._by_shard(indices):
            raw = shard.samples.view(np.uint8)
            _fill(shard.state, shard.record, shard.regret, raw, inside, rows, maps, ids, n_state, lengths, levels)
            samples[rows] = own = shard.samples[inside]
            placement[rows] = shard.games["placement"][own["game"], own["seat"]]
            points[rows] = shard.games["points"][own["game"], own["seat"]]
        longest = -(-lengths.max() // PAD_TO_MULTIPLE_OF) * PAD_TO_MULTIPLE_OF
        mask = attention_mask(lengths, longest)
        legal = np.empty((n, N_LABELS), dtype=bool)
        as_played = (samples["legal"][:, None] >> np.arange(N_LABELS, dtype=np.uint64) & np.uint64(1)).astype(bool)
        np.put_along_axis(legal, LABEL_MAPS[variants], as_played, axis=1)
        label = LABEL_MAPS[variants, samples["label"]]
        regret = np.empty((n, N_LABELS), dtype=np.float32)
        np.put_along_axis(regret, LABEL_MAPS[variants], REGRETS[levels], axis=1)
        return Batch(ids[:, :longest], mask, position_ids(mask, n_state), legal, label, placement, points, regret)

    def batches(self, size: int, seed: int, epoch: int) -> Iterator[np.ndarray]:
        """The indices of one epoch in batches of `size`, each of samples of similar length (bucketing).

        The order depends on `seed` and `epoch` alone. A random remainder of fewer than `size` samples is left out at
        the end. If there are no more than `size` samples, they are one batch.
        """
        random = np.random.default_rng((seed, epoch))
        size = min(size, self._n)
        left = np.empty(0, dtype=np.int64)
        shards = random.permutation(len(self._numbers))
        for some in np.array_split(shards, -(-len(shards) // SHUFFLED_SHARDS)):
            window = random.permutation(np.concatenate([left, *map(self._indices_in, some)]))
            n = len(window) // size * size
            window, left = window[:n], window[n:]
            yield from self._bucketed(window, size, random)

    def _bucketed(self, window: np.ndarray, size: int, random: np.random.Generator) -> Iterator[np.ndarray]:
        """The indices `window`, a multiple of `size` of them, in batches of similar length."""
        bucket = size * BUCKETED_BATCHES
        for first in range(0, len(window), bucket):
            piece = window[first : first + bucket]
            batches = piece[np.argsort(self.lengths(piece), kind="stable")].reshape(-1, size)
            yield from random.permutation(batches)


def is_validation(games: np.ndarray) -> np.ndarray:
    """bool[n]: which of GAME[n] are for validation; follows from the game's id alone."""
    return np.asarray(games["id"] % VALIDATION_ONE_IN == 0)
