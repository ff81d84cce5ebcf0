"""The hyperparameters of a training run, and its progress."""

from __future__ import annotations

from dataclasses import dataclass

from agents.training.settings import setting, share, true_or_false
from engine.common.options import non_negative, non_negative_number, positive, positive_number
from engine.common.options import seed as seed_type


@dataclass(frozen=True)
class TrainingConfig:
    """The configuration of one run. The same config, data and machine give the same network."""

    objective: str  # pretrain, train or improve
    data: str  # data folder
    model: str  # a size (`agents.bert.sizes.PRESETS`), or the folder of a network to start from
    batch_size: int = setting(512, positive, "samples a step, over all processes", "N")
    steps: int = setting(0, positive, "number of steps (default: one pass over the data, or epochs)", "N")  # 0: epochs
    epochs: float = setting(1.0, positive_number, "passes over the data, without --steps")
    minutes: float = setting(
        0.0,
        positive_number,
        "time to train in place of steps, validations included; the learning rate follows the clock (default: steps)",
        "MINUTES",
    )  # 0: steps
    learning_rate: float = setting(1e-3, positive_number, "peak; linear warm-up and linear decay")
    warmup_ratio: float = setting(0.05, share, "share of the steps in which the learning rate rises")
    weight_decay: float = setting(0.01, non_negative_number, "of AdamW")
    max_grad_norm: float = setting(1.0, positive_number, "norm to which gradients are clipped")
    seed: int = setting(0, seed_type, "of initial weights, order of samples and augmentation")
    augment: bool = setting(True, true_or_false, "train on a random one of the 12 variants of each sample")
    value_weight: float = setting(0.25, non_negative_number, "weight of the value losses in the loss")
    teacher: str = setting(
        "", str, "train: folder of a network whose probabilities are learned in place of the data's (default: none)"
    )
    eval_steps: int = setting(1000, positive, "steps between validations")
    patience: int = setting(
        0,
        non_negative,
        "validations without a lower policy_loss (pretrain: loss) before training stops (default 0: no limit)",
    )


@dataclass
class TrainingProgress:
    """How far a run has come; saved with every checkpoint."""

    step: int = 0
    seconds: float = 0.0  # of training
    best_loss: float = float("inf")  # lowest validation loss, of those that select
    best_step: int = 0
    evaluations_since_best: int = 0
