"""The learning rate over a run."""

from __future__ import annotations


def linear_decay(done: float, start: float, total: float) -> float:
    """The factor of a learning rate that is 1 up to `start`, then falls linearly to 0 at `total`."""
    return min(max((total - done) / max(total - start, 1e-9), 0.0), 1.0)
