"""What decides how a network is trained."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Settings of one run. The same ones, data and machine give the same network."""

    task: str  # pretrain or train
    data: str  # folder of training files
    model: str  # a preset, or the folder of a network to start from
    batch: int = 512  # positions a step, over all processes
    steps: int = 0  # 0: as many as `epochs` take
    epochs: float = 1.0
    rate: float = 1e-3  # the highest learning rate
    warm_up: float = 0.05  # share of the steps in which the rate rises
    decay: float = 0.01  # AdamW's weight decay
    clip: float = 1.0  # norm of the gradient
    seed: int = 0
    augment: bool = True
    value: float = 0.25  # weight of the value head's losses
    every: int = 1000  # steps from one evaluation to the next
    patience: int = 0  # evaluations without a better one until training stops; 0: never


@dataclass
class Progress:
    """How far a run has come; saved with every checkpoint."""

    step: int = 0
    seconds: float = 0.0  # of training
    best: float = float("inf")  # lowest held-out loss
    best_step: int = 0
    waited: int = 0  # evaluations since then
