"""Reading training files: which positions there are, in what order they are learned, and batches of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.bert.encoding import MAX_TOKENS, attention_mask, position_ids
from agents.bert.labels import N_LABELS
from agents.bert.symmetries import LABEL_MAPS, TOKEN_MAPS, sort_hand
from agents.bert.training.data.shards import N_REGRETS, POSITION, REGRETS, Shard, find, lengths_of, load
from agents.bert.vocabulary import EOS, FIRST_EVENT_TOKEN, N_EVENT_TOKENS, N_PLAYERS, SEP
from engine.compiling import kernel

HELD_OUT_OF = 20  # one game in so many is never trained on
MIXED_SHARDS = 16  # shards whose positions are shuffled together: some thousand games
LENGTH_STEP = 8  # sequences are padded to a multiple of it: kernels are prepared anew for every shape they meet
SORTED_BATCHES = 50  # batches that share out their positions by length


class Batch(NamedTuple):
    """Positions to learn from; L is the length of the longest or a little more."""

    ids: np.ndarray  # int64[n, L]
    mask: np.ndarray  # bool[n, L]
    positions: np.ndarray  # int64[n, L]
    legal: np.ndarray  # bool[n, N_LABELS]
    label: np.ndarray  # int64[n]
    placement: np.ndarray  # int64[n]: where the seat finished, 0 first
    points: np.ndarray  # float32[n]: its final points in thousands
    regret: np.ndarray  # float32[n, N_LABELS]: places lost against the best label, inf where nobody thought of it


@kernel
def _fill(
    state: np.ndarray, record: np.ndarray, regret: np.ndarray, positions: np.ndarray, places: np.ndarray,
    rows: np.ndarray, maps: np.ndarray, ids: np.ndarray, n_state: np.ndarray, lengths: np.ndarray, steps: np.ndarray,
) -> None:  # fmt: skip
    """Write the sequences of the positions at `places` of a shard to `rows` of `ids`, each through its token map.

    The regrets of their labels, as they were played, go to the rows of `steps`.
    """
    all_positions = positions.view(POSITION)
    for k in range(len(places)):
        p = all_positions[places[k]]
        row = rows[k]
        out, token_map = ids[row], maps[row]
        n = np.int64(p.n_state)
        for i in range(n):
            out[i] = token_map[state[p.state_at + i]]
        sort_hand(out, n)
        n_state[row] = n
        out[n] = SEP
        for i in range(p.n_record):
            deed = np.int64(record[p.record_at + i]) - FIRST_EVENT_TOKEN
            player = (deed // N_EVENT_TOKENS - np.int64(p.seat) + N_PLAYERS) % N_PLAYERS
            out[n + 1 + i] = token_map[FIRST_EVENT_TOKEN + player * N_EVENT_TOKENS + deed % N_EVENT_TOKENS]
        n += 1 + np.int64(p.n_record)
        out[n] = EOS
        lengths[row] = n + 1
        n_regrets = np.int64(0)
        for label in range(N_LABELS):
            if (p.legal >> np.uint64(label)) & np.uint64(1):
                steps[row, label] = regret[p.regret_at + n_regrets]
                n_regrets += 1


class Dataset:
    """The positions of a folder of shards: those of the games held out, or all others.

    A position is named by its place among all of the folder, int64.
    """

    def __init__(self, folder: Path, *, held_out: bool = False) -> None:
        """Raises ValueError where the folder holds no data, or damaged data."""
        self._numbers = find(folder)
        if not self._numbers:
            raise ValueError(f"{folder}: no training files here; make some with: python -m agents.bert data --help")
        self._held_out = held_out
        self._open = lru_cache(2 * MIXED_SHARDS)(partial(load, folder))  # each open one takes five file descriptors
        games = [np.array(self._open(number).games) for number in self._numbers]
        self._starts = np.cumsum([0, *(int(each["n_positions"].sum()) for each in games)])
        self._n = int(sum(each["n_positions"][self._is_chosen(each)].sum() for each in games))
        if not self._n:
            which = "held out" if held_out else "to train on"
            raise ValueError(f"{folder}: no games {which}, of so few; one in {HELD_OUT_OF} is held out: make more")

    def __len__(self) -> int:
        return self._n

    def _is_chosen(self, games: np.ndarray) -> np.ndarray:
        return np.asarray((games["id"] % HELD_OUT_OF == 0) == self._held_out)

    @property
    def places(self) -> np.ndarray:
        """int64[len]: the places of all positions."""
        return np.concatenate([self._places_in(index) for index in range(len(self._numbers))])

    def _places_in(self, index: int) -> np.ndarray:
        """The places of the positions in the shard at `index`."""
        games = self._open(self._numbers[index]).games
        return self._starts[index] + np.flatnonzero(np.repeat(self._is_chosen(games), games["n_positions"]))

    def lengths(self, places: np.ndarray) -> np.ndarray:
        """int64[n]: tokens of each position."""
        lengths = np.empty(len(places), dtype=np.int64)
        for shard, rows, inside in self._by_shard(places):
            lengths[rows] = lengths_of(shard.positions[inside])
        return lengths

    def game_ids(self, places: np.ndarray) -> np.ndarray:
        """uint64[n]: the game of each position, by its id."""
        ids = np.empty(len(places), dtype=np.uint64)
        for shard, rows, inside in self._by_shard(places):
            ids[rows] = shard.games["id"][shard.positions["game"][inside]]
        return ids

    def _by_shard(self, places: np.ndarray) -> Iterator[tuple[Shard, np.ndarray, np.ndarray]]:
        """Each shard with some of `places`: which rows of them, and their places in it."""
        index = np.searchsorted(self._starts, places, side="right") - 1
        for each in np.unique(index):
            rows = np.flatnonzero(index == each)
            yield self._open(self._numbers[each]), rows, places[rows] - self._starts[each]

    def batch(self, places: np.ndarray, variants: np.ndarray | None = None) -> Batch:
        """The positions at `places` int64[n], each in its variant int[n] of `symmetries` (None: as played)."""
        n = len(places)
        variants = np.zeros(n, dtype=np.int64) if variants is None else variants
        ids, maps = np.zeros((n, MAX_TOKENS + LENGTH_STEP), dtype=np.int64), TOKEN_MAPS[variants]
        n_state, lengths = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        chosen = np.empty(n, dtype=POSITION)
        placement, points = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.float32)
        steps = np.full((n, N_LABELS), N_REGRETS - 1, dtype=np.uint8)
        for shard, rows, inside in self._by_shard(places):
            raw = shard.positions.view(np.uint8)
            _fill(shard.state, shard.record, shard.regret, raw, inside, rows, maps, ids, n_state, lengths, steps)
            chosen[rows] = own = shard.positions[inside]
            placement[rows] = shard.games["placement"][own["game"], own["seat"]]
            points[rows] = shard.games["points"][own["game"], own["seat"]]
        longest = -(-lengths.max() // LENGTH_STEP) * LENGTH_STEP
        mask = attention_mask(lengths, longest)
        positions = position_ids(mask, n_state)
        legal = np.empty((n, N_LABELS), dtype=bool)
        as_played = (chosen["legal"][:, None] >> np.arange(N_LABELS, dtype=np.uint64) & np.uint64(1)).astype(bool)
        np.put_along_axis(legal, LABEL_MAPS[variants], as_played, axis=1)
        label = LABEL_MAPS[variants, chosen["label"]]
        regret = np.empty((n, N_LABELS), dtype=np.float32)
        np.put_along_axis(regret, LABEL_MAPS[variants], REGRETS[steps], axis=1)
        return Batch(ids[:, :longest], mask, positions, legal, label, placement, points, regret)

    def batches(self, size: int, seed: int, epoch: int) -> Iterator[np.ndarray]:
        """The places of one epoch in batches of `size`, each of positions of about the same length.

        The order depends on `seed` and `epoch` alone. Fewer than `size` positions, any ones, are left out in the end,
        unless they are all there are.
        """
        random = np.random.default_rng((seed, epoch))
        size = min(size, self._n)
        left = np.empty(0, dtype=np.int64)
        shards = random.permutation(len(self._numbers))
        for mixed in np.array_split(shards, -(-len(shards) // MIXED_SHARDS)):
            window = random.permutation(np.concatenate([left, *map(self._places_in, mixed)]))
            n = len(window) // size * size
            window, left = window[:n], window[n:]
            yield from self._by_length(window, size, random)

    def _by_length(self, window: np.ndarray, size: int, random: np.random.Generator) -> Iterator[np.ndarray]:
        """The places `window`, a multiple of `size` of them, in batches that share out positions by length."""
        stretch = size * SORTED_BATCHES
        for first in range(0, len(window), stretch):
            piece = window[first : first + stretch]
            batches = piece[np.argsort(self.lengths(piece), kind="stable")].reshape(-1, size)
            yield from random.permutation(batches)
