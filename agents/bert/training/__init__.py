"""Training networks; needs torch, transformers, accelerate and tensorboard, the extra `train`.

==============  ======================================================================================================
`commands`      ``python -m agents.bert pretrain | train | improve | average | deepen``
`config`        `TrainingConfig`, the hyperparameters of a run, and its progress
`objectives`    the losses: masked tokens, imitation, improvement by rollouts
`trainer`       a run in a folder: steps, validation, checkpoints; `agents.training` has the loop
`metrics`       metrics of a run, as CSV and for TensorBoard
`model_card`    the README.md next to a trained network
`networks`      loading networks to start from, and saving networks to play with
`average`       the mean of the weights of several networks
`deepen`        a deeper network from a trained one
`data`          the package that makes and reads training data
`targets`       the package that chooses samples and computes their targets
==============  ======================================================================================================

`data` and `targets` need none of these libraries.
"""

from __future__ import annotations

import os

# Threads of OpenMP that wait for others spin by default: with another program on the cores, a step of training takes up
# to ten times as long. torch reads this when it is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
