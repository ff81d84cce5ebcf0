"""Noise that samples from a policy, compiled."""

from __future__ import annotations

import numpy as np

from agents.bert.labels import N_LABELS
from engine.compiling import kernel
from engine.kernels import hash_view
from engine.rng import GOLDEN, gumbel, splitmix
from engine.table import TABLE, raw_bytes


@kernel("uint8[::1], uint64, float64[:, ::1]")
def _gumbel_all(raw: np.ndarray, seed: np.uint64, noise: np.ndarray) -> None:
    views = raw.view(TABLE)
    for k in range(len(noise)):
        state = hash_view(views[k], seed)
        for label in range(noise.shape[1]):
            state = state + GOLDEN
            noise[k, label] = gumbel(splitmix(state))


def gumbel_noise(views: np.ndarray, seed: int) -> np.ndarray:
    """float64[n, N_LABELS] of the standard Gumbel distribution, a function of `views` TABLE[n] and the seed."""
    noise = np.empty((len(views), N_LABELS))
    _gumbel_all(raw_bytes(views), np.uint64(seed), noise)
    return noise
