"""The hyperparameters of a training run, and its progress."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingConfig:
    """The configuration of one run. The same config, data and machine give the same network."""

    objective: str  # pretrain, train or improve
    data: str  # data folder
    model: str  # a size (`agents.bert.sizes.PRESETS`), or the folder of a network to start from
    batch_size: int = 512  # samples a step, over all processes
    steps: int = 0  # 0: as many as `epochs` need
    epochs: float = 1.0
    learning_rate: float = 1e-3  # the peak; linear warm-up and linear decay
    warmup_ratio: float = 0.05  # share of the steps in which the learning rate rises
    weight_decay: float = 0.01  # of AdamW
    max_grad_norm: float = 1.0  # gradients are clipped to this norm
    seed: int = 0
    augment: bool = True  # train on a random one of the 12 variants of each sample
    value_weight: float = 0.25  # weight of the value losses in the loss
    eval_steps: int = 1000  # steps between validations
    patience: int = 0  # validations without a lower loss before training stops; 0: never


@dataclass
class TrainingProgress:
    """How far a run has come; saved with every checkpoint."""

    step: int = 0
    seconds: float = 0.0  # of training
    best_loss: float = float("inf")  # lowest validation loss
    best_step: int = 0
    evaluations_since_best: int = 0
