"""Loading networks to start from, and saving networks to play with."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import cast

import torch
from transformers import PreTrainedModel
from transformers.utils import logging as transformers_logging

from agents.bert.checkpoint import CONFIG, WEIGHTS
from agents.bert.export import export_checkpoint
from agents.bert.model import PolicyValue, make_config
from agents.bert.sizes import PRESETS


def quiet_libraries() -> None:
    """Turn off progress bars and warnings of transformers and accelerate that mean nothing here.

    Networks load with new heads where the objective changes, and the tied weights of masked language models are stored
    once.
    """
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.getLogger("accelerate.utils.other").setLevel(logging.ERROR)


def create_or_load(kind: type[PreTrainedModel], model: str) -> PreTrainedModel:
    """A new network of a size in PRESETS, or one from a folder, float32. Raises ValueError if it is neither."""
    if model in PRESETS:
        return kind(make_config(PRESETS[model]))
    if not (Path(model) / "config.json").is_file():
        raise ValueError(f"{model}: neither a size ({', '.join(PRESETS)}) nor the folder of a network (config.json)")
    try:
        return kind.from_pretrained(model, dtype=torch.float32)
    except (OSError, ValueError, RuntimeError) as error:
        raise ValueError(f"{model}: cannot be loaded as a network of this bot ({error})") from error


def load_trained(model: str) -> PolicyValue:
    """The network in a folder, float32. Raises ValueError if there is none, or for a size."""
    if model in PRESETS:
        raise ValueError(f"{model} is a size: name the folder of a trained network")
    return cast(PolicyValue, create_or_load(PolicyValue, model))


def save_network(network: PreTrainedModel, folder: Path) -> None:
    """Write a network to `folder`: ``config.json`` and ``model.safetensors``.

    Networks with policy and value also get the ``model.onnx`` that the bot plays by.
    """
    network.save_pretrained(folder)
    (folder / WEIGHTS).chmod((folder / CONFIG).stat().st_mode)  # safetensors leaves it readable by its owner alone
    if isinstance(network, PolicyValue):
        export_checkpoint(folder)
