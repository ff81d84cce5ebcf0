"""Weight averaging: the mean of a network before and after more training.

The command improve changes not only the decisions that the rollouts cover, but all others a little. The mean of the
weights before and after keeps most of the gain and loses most of the unintended change (docs/experiments.md). It works
only if one network was trained from the other, or both from a third one: the mean of independently trained networks
plays badly.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from transformers import PreTrainedModel

from agents.bert.training.networks import load_trained

MIN_NETWORKS = 2


def average(folders: Sequence[str]) -> PreTrainedModel:
    """The network whose weights are the means of those in `folders`, float32.

    Raises ValueError for fewer than two networks, for networks of different sizes, or if one cannot be loaded.
    """
    if len(folders) < MIN_NETWORKS:
        raise ValueError(f"{folders[0]}: name at least two networks, then the folder of their mean")
    models = [load_trained(folder) for folder in folders]
    mean = models[0]
    for folder, model in zip(folders[1:], models[1:], strict=True):
        if shapes(model) != shapes(mean):
            raise ValueError(f"{folder} differs in size from {folders[0]}: only networks of one size have a mean")
    others = [model.state_dict() for model in models[1:]]
    with torch.no_grad():
        for name, weight in mean.state_dict().items():  # its tensors are those of the network
            if not weight.is_floating_point():  # how many batches a batch normalization has seen
                continue
            weight.copy_(torch.stack([weight, *(other[name] for other in others)]).mean(dim=0))
    return mean


def shapes(model: PreTrainedModel) -> dict[str, torch.Size]:
    """The shapes of a network's parameters, by name."""
    return {name: weight.shape for name, weight in model.named_parameters()}
