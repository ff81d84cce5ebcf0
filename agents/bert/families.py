"""The families of networks that share data, training, evaluation and play: ``bert``, and ``cnn`` of `agents.cnn`.

A network is named by a size or by its folder; both say which family it is. Needs no torch.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from agents.bert import sizes as bert
from agents.cnn import sizes as cnn

CONFIG, WEIGHTS, ONNX = "config.json", "model.safetensors", "model.onnx"  # files in the folder of a network
DEFAULT_SIZE = "laptop"  # of a network that is trained
DEVICES = ("cpu", "cuda")  # that networks are played on


class Family(NamedTuple):
    """A row of the table."""

    name: str  # of the bot
    title: str  # of the model card
    model_type: str  # in config.json
    sizes: dict[str, str]  # size -> description


FAMILIES = {
    "bert": Family(
        "bert",
        "A BERT",
        "bert",
        {name: f"{size.layers} x {size.width}" for name, size in bert.PRESETS.items()},
    ),
    "cnn": Family(
        "cnn",
        "Five CNNs",
        "nukidora-cnn",
        {name: f"{size.channels} channels" for name, size in cnn.PRESETS.items()},
    ),
}
SIZES = {size: family for family in FAMILIES.values() for size in family.sizes}


def family_of(model: str | Path) -> Family:
    """The family of a size or of a network's folder; BERT where the folder does not say."""
    if str(model) in SIZES:
        return SIZES[str(model)]
    try:
        found = json.loads((Path(model) / CONFIG).read_text(encoding="utf-8")).get("model_type")
    except (OSError, ValueError, AttributeError, RecursionError):
        found = None
    return next((family for family in FAMILIES.values() if family.model_type == found), FAMILIES["bert"])
