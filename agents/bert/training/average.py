"""python -m agents.bert average: the mean of networks of which one came of another by more training.

`improve` shifts what trials bear on, and a little of everything else. The mean of the network before and after keeps
most of the first and loses most of the second (docs/training.md has figures). Networks that were trained apart from
each other have no mean that plays.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

from agents.bert.model import PolicyValue
from agents.bert.training.objectives import hush_transformers, trained
from engine.common.options import Parser, describe_error

FINISHED = 0
FEWEST = 2  # networks that have a mean


def averaged(folders: Sequence[str]) -> PolicyValue:
    """A network each of whose weights is the mean of those in `folders`. Raises ValueError."""
    if len(folders) < FEWEST:
        raise ValueError(f"{folders[0]} alone has no mean: name at least two networks, then the folder of the new one")
    models = [trained(folder, "has nothing to keep") for folder in folders]
    mean = models[0]
    for folder, model in zip(folders[1:], models[1:], strict=True):
        if shapes(model) != shapes(mean):
            raise ValueError(f"{folder} is not of the size of {folders[0]}: only networks of one size have a mean")
    others = [dict(model.named_parameters()) for model in models[1:]]
    with torch.no_grad():
        for name, weight in mean.named_parameters():
            weight.copy_(torch.stack([weight, *(other[name] for other in others)]).mean(dim=0))
    return mean


def shapes(model: PolicyValue) -> dict[str, torch.Size]:
    """How large each of a network's tensors is."""
    return {name: weight.shape for name, weight in model.named_parameters()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the mean and return the exit code."""
    parser = Parser("agents.bert average", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="+", help="folders of networks, two or more")
    parser.add_argument("out", type=Path, help="folder of their mean")
    given = parser.parse_args(arguments)
    hush_transformers()
    try:
        averaged(given.model).save_pretrained(given.out)
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))
    return FINISHED
