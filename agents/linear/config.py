"""The settings of a training of `linear` and `softmax`, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass

from agents.training.settings import one_of, setting
from engine.common.options import non_negative_number, positive, positive_number
from engine.common.options import seed as seed_type

HINGE, SOFTMAX = "hinge", "softmax"  # losses
CHECKPOINT, WEIGHTS = "checkpoint.npz", "weights.json"  # in the folder of a run


@dataclass(frozen=True)
class Config:
    """What is trained, and how. `digest` is a hash of the decisions in `data`."""

    data: str
    digest: str
    start: str = setting("start", str, "initial weights: a file, or start")
    loss: str = setting(HINGE, one_of(HINGE, SOFTMAX), "what is minimised: hinge or softmax")
    margin: float = setting(1_000.0, non_negative_number, "of hinge, in points")
    temperature: float = setting(1.0, positive_number, "T of softmax, in thousands of points")
    alpha: float = setting(100.0, positive_number, "learning rate at the start, in points")
    epochs: int = setting(12, positive, "passes over the choices")
    batch_size: int = setting(256, positive, "decisions a step")
    seed: int = setting(0, seed_type, "of the order of the choices")
