"""The settings of a training of `linear` and `softmax`, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass

HINGE, SOFTMAX = "hinge", "softmax"  # losses
CHECKPOINT = "checkpoint.npz"  # in the folder of a run


@dataclass(frozen=True)
class Config:
    """What is trained, and how. `digest` is a hash of the decisions in `data`, `start` names the weights."""

    data: str
    digest: str
    start: str
    loss: str = HINGE
    margin: float = 1_000.0  # of the hinge, in points
    temperature: float = 1.0  # of the softmax, in thousands of points
    alpha: float = 100.0  # learning rate at the start, in points
    epochs: int = 12
    batch_size: int = 256
    seed: int = 0
