"""Fits the model of hidden hands to games: what opponents hold, and the shanten of their hands.

The tile weights are those of a logistic regression: whether a tile that the viewer does not see is in the hand of an
opponent, by its features, with the share of the unseen tiles that are in that hand as offset. The shanten weights make
the hands in sampled worlds have the shanten of the true hands: each round adds the logarithm of the ratio of the two
frequencies.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agents.compiled.dora import fill_dora
from agents.compiled.seats import in_riichi
from agents.compiled.unseen import unseen
from agents.registry import make_bots
from agents.search.model import Model
from agents.search.tiles import N_FEATURES, tile_features
from agents.search.worlds import BUCKET, N_BUCKETS, N_MELDS, N_SHANTENS, SAMPLER, fill_sampler, next_world
from engine.compiling import kernel
from engine.seeds import derive_seed
from engine.shanten import shanten
from engine.table import N_SEATS, TABLE, raw_bytes
from engine.table_kernels import write_view
from engine.tables import Policy, PolicyFault, Tables
from engine.tiles import N_KINDS, N_SANMA, SANMA_KINDS

EVERY = 11  # of the decisions, one is used
RIDGE = 0.05  # of the regression, for each position
PIECE = 2_000  # positions whose features are in memory at once
NEWTON_STEPS = 12
ROUNDS = 6  # of the shanten weights
WORLDS = 4  # of each position in a round
PSEUDO_COUNT = 2.0


@kernel("uint8[::1], float64[:, ::1], float64[::1], float64[::1], float64[::1]")
def write_tiles(raw: np.ndarray, features: np.ndarray, held: np.ndarray, left: np.ndarray, offset: np.ndarray) -> int:
    """Write a row for each opponent and kind of each whole table with a viewer; returns how many.

    `held`: how many of the `left` unseen tiles the opponent holds; `offset`: the log odds if all tiles were alike.
    """
    tables = raw.view(TABLE)
    dora = np.empty(N_KINDS, dtype=np.int64)
    row = np.int64(0)
    for i in range(len(tables)):
        t = tables[i]
        fill_dora(t, dora)
        total = np.int64(0)
        for kind in SANMA_KINDS:
            total += unseen(t, kind)
        for step in range(1, N_SEATS):
            seat = (np.int64(t.viewer) + step) % 3
            size = 13 - 3 * np.int64(t.seat[seat].n_melds)
            for kind in SANMA_KINDS:
                n = unseen(t, kind)
                if n > 0:
                    tile_features(t, seat, kind, dora, features[row])
                    held[row], left[row] = t.seat[seat].hand[kind], n
                    offset[row] = np.log(size / (total - size))
                    row += 1
    return row


@kernel("uint8[::1], float64[:, :, ::1]")
def count_shantens(raw: np.ndarray, counts: np.ndarray) -> None:
    """Count the shanten of the opponents' hands that are not in riichi, by melds and discards."""
    tables = raw.view(TABLE)
    for i in range(len(tables)):
        t = tables[i]
        for step in range(1, N_SEATS):
            seat = (np.int64(t.viewer) + step) % 3
            p = t.seat[seat]
            if not in_riichi(t, seat):
                n_melds = np.int64(p.n_melds)
                distance = min(max(shanten(p.hand_keys, n_melds), np.int64(0)), np.int64(N_SHANTENS - 1))
                counts[n_melds, min(np.int64(p.n_river) // BUCKET, np.int64(N_BUCKETS - 1)), distance] += 1


@kernel("uint8[::1], uint64, float64[::1], float64[:, :, ::1], uint8[::1], uint8[::1]")
def lay_worlds(
    raw: np.ndarray,
    seed: np.uint64,
    tile_weights: np.ndarray,
    shanten_weights: np.ndarray,
    sampler: np.ndarray,
    worlds: np.ndarray,
) -> None:
    """Lay worlds for each view in `raw` into `worlds`, as many for each as fit; `sampler` uint8[SAMPLER.itemsize]."""
    views, laid, s = raw.view(TABLE), worlds.view(TABLE), sampler.view(SAMPLER)
    each = len(laid) // len(views)
    for i in range(len(views)):
        fill_sampler(views[i], tile_weights, seed + np.uint64(i), s[0])
        for k in range(each):
            laid[i * each + k] = views[i] if k == 0 else laid[i * each + k - 1]
            next_world(laid[i * each + k], s[0], shanten_weights)


def positions(bots: tuple[str, ...], games: int, seed: int) -> np.ndarray:
    """Whole tables TABLE[n] of games between three bots, each with the seat that acts as its `viewer`.

    Raises ValueError.
    """
    kept: list[np.ndarray] = []
    tables = Tables([derive_seed(seed, "worlds", game) for game in range(games)])
    made = make_bots(bots, seed)
    count = 0

    def acting(i: int) -> Policy:
        def act(views: np.ndarray) -> np.ndarray:
            nonlocal count
            rows = np.arange(-count % EVERY, len(views), EVERY)
            count += len(views)
            chosen = tables.records[tables.asked_tables[rows]]
            chosen["viewer"] = views["viewer"][rows]
            kept.append(chosen)
            return made[i].act(views)

        return act

    players = np.array([np.roll(np.arange(N_SEATS), game) for game in range(games)], dtype=np.int8)
    try:
        for _ in tables.play([acting(i) for i in range(N_SEATS)], players):
            pass
    except PolicyFault as fault:
        raise ValueError(f"{bots[fault.policy]}, game {fault.table}, seat {fault.seat}: {fault.what}") from fault
    return np.concatenate(kept)


def views_of(tables: np.ndarray) -> np.ndarray:
    """What the viewers of whole tables see, TABLE[n]."""
    views = np.zeros(len(tables), dtype=TABLE)
    raw, seen = raw_bytes(tables), raw_bytes(views)
    for i in range(len(tables)):
        write_view(raw, i, int(tables["viewer"][i]), seen, i)
    return views


def fit_tiles(tables: np.ndarray) -> np.ndarray:
    """The tile weights float64[N_FEATURES] that make what opponents hold likeliest: Newton's method with a ridge."""
    weights = np.zeros(N_FEATURES)
    for _ in range(NEWTON_STEPS):
        ridge = RIDGE * len(tables)
        gradient, curvature = -ridge * weights, ridge * np.eye(N_FEATURES)
        for piece in np.array_split(tables, len(tables) // PIECE + 1):
            most = 2 * N_SANMA * len(piece)
            features = np.empty((most, N_FEATURES))
            held, left, offset = np.empty(most), np.empty(most), np.empty(most)
            n = write_tiles(raw_bytes(piece), features, held, left, offset)
            x, chance = features[:n], 1 / (1 + np.exp(-(offset[:n] + features[:n] @ weights)))
            gradient += x.T @ (held[:n] - left[:n] * chance)
            curvature += (x * (left[:n] * chance * (1 - chance))[:, None]).T @ x
        weights += np.linalg.solve(curvature, gradient)
    return weights


def fit(bots: tuple[str, ...], games: int, seed: int) -> Iterator[tuple[str, Model]]:
    """Fit a model to games between three bots; yields a report of each step, and the model so far."""
    tables = positions(bots, games, seed)
    views = views_of(tables)
    tiles = fit_tiles(tables)
    shape = (N_MELDS, N_BUCKETS, N_SHANTENS)
    true, shantens = np.zeros(shape), np.zeros(shape)
    count_shantens(raw_bytes(tables), true)
    yield f"tile weights fitted to {len(tables):,} positions", Model(tiles, shantens)
    sampler, worlds = np.zeros(SAMPLER.itemsize, dtype=np.uint8), np.zeros(WORLDS * len(tables), dtype=TABLE)
    for i in range(ROUNDS):
        lay_worlds(
            raw_bytes(views), np.uint64(derive_seed(seed, "round", i)), tiles, shantens, sampler, raw_bytes(worlds)
        )
        found = np.zeros(shape)
        count_shantens(raw_bytes(worlds), found)
        found /= WORLDS
        divergence = float((true * np.log((true + PSEUDO_COUNT) / (found + PSEUDO_COUNT))).sum() / true.sum())
        shantens = shantens + np.log((true + PSEUDO_COUNT) / (found + PSEUDO_COUNT))
        shantens -= shantens.mean(axis=2, keepdims=True)
        yield f"shanten of the worlds before round {i + 1}: divergence {divergence:.4f} nats", Model(tiles, shantens)
