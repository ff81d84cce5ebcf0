"""python -m agents.bert grow: makes a deeper network of a trained one; it plays about as before, and can learn more."""

from __future__ import annotations

import argparse
import copy
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import torch
from torch import nn
from transformers.models.bert.modeling_bert import BertLayer

from agents.bert.model import PolicyValue
from agents.bert.training.objectives import hush_transformers, trained
from engine.common.options import Parser, describe_error, positive

FINISHED = 0


def grown(model: PolicyValue, layers: int) -> PolicyValue:
    """A copy with `layers` layers. Raises ValueError where it has as many already.

    Every layer but the last, which reads for [CLS] alone, is followed by its share of new ones: copies that add nothing
    to what they are given, until they learn to.
    """
    old = cast(list[BertLayer], list(model.bert.encoder.layer))
    if not 1 < len(old) < layers:
        raise ValueError(f"a network of {len(old)} layers cannot grow to {layers}: it takes at least 2, and more after")
    deeper = copy.deepcopy(model)
    stack: list[nn.Module] = []
    for place, layer in enumerate(old[:-1]):
        new = (layers - len(old) + place) // (len(old) - 1)
        stack += [copy.deepcopy(layer), *(idle(layer) for _ in range(new))]
    deeper.bert.encoder.layer = nn.ModuleList([*stack, copy.deepcopy(old[-1])])
    deeper.config.num_hidden_layers = layers
    return deeper


def idle(layer: BertLayer) -> BertLayer:
    """A copy of `layer` that gives back nearly what the layer puts out."""
    new = copy.deepcopy(layer)
    gain, bias = layer.output.LayerNorm.weight, layer.output.LayerNorm.bias
    with torch.no_grad():
        for part in (new.attention.output, new.output):
            nn.init.zeros_(part.dense.weight)
            nn.init.zeros_(part.dense.bias)
            # What comes in is gain * z + bias with z normalized; normalizing it again is undone, on average.
            part.LayerNorm.weight.fill_(((gain**2).mean() + bias.var(correction=0)).sqrt())
            part.LayerNorm.bias.fill_(bias.mean())
    return new


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the deeper network and return the exit code."""
    parser = Parser("agents.bert grow", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="folder of a network")
    parser.add_argument("out", type=Path, help="folder of the deeper one, for: python -m agents.bert train --from")
    parser.add_argument("--layers", type=positive, required=True, metavar="N", help="that it has then")
    given = parser.parse_args(arguments)
    hush_transformers()
    try:
        grown(trained(given.model, "need not grow"), given.layers).save_pretrained(given.out)
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))
    return FINISHED
