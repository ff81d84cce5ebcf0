"""Deepening: a deeper network from a trained one, which plays about as well and can learn more.

New layers are inserted as near-identities (as in Net2Net, Chen et al. 2016): little has to be learned again.
"""

from __future__ import annotations

import copy

import torch
from torch import nn
from transformers.models.bert.modeling_bert import BertLayer

from agents.bert.model import PolicyValue

MIN_LAYERS = 2


def deepen(model: PolicyValue, layers: int) -> PolicyValue:
    """A copy of `model` with `layers` layers. Raises ValueError unless that is more than it has.

    Each layer but the last, which computes [CLS] alone, is followed by its share of the new ones.
    """
    old = list(model.bert.encoder.layer)
    if len(old) < MIN_LAYERS:
        raise ValueError(f"a network of {len(old)} layer cannot be deepened: it needs at least {MIN_LAYERS}")
    if layers <= len(old):
        raise ValueError(f"a network of {len(old)} layers cannot be deepened to {layers}: give a larger number")
    deeper = copy.deepcopy(model)
    stack: list[nn.Module] = []
    for index, layer in enumerate(old[:-1]):
        n_new = (layers - len(old) + index) // (len(old) - 1)
        stack += [copy.deepcopy(layer), *(identity_layer(layer) for _ in range(n_new))]
    deeper.bert.encoder.layer = nn.ModuleList([*stack, copy.deepcopy(old[-1])])
    deeper.config.num_hidden_layers = layers
    return deeper


def identity_layer(layer: BertLayer) -> BertLayer:
    """A layer of the same size that is nearly the identity on the outputs of `layer`."""
    new = copy.deepcopy(layer)
    gain, bias = layer.output.LayerNorm.weight, layer.output.LayerNorm.bias
    with torch.no_grad():
        for part in (new.attention.output, new.output):
            nn.init.zeros_(part.dense.weight)
            nn.init.zeros_(part.dense.bias)
            # The input is gain * z + bias, z being normalized. The layer normalizes it again: gain and bias of that
            # normalization are set to undo it on average over the features.
            part.LayerNorm.weight.fill_(((gain**2).mean() + bias.var(correction=0)).sqrt())
            part.LayerNorm.bias.fill_(bias.mean())
    return new
