"""Writes networks to play with."""

from __future__ import annotations

from pathlib import Path

from transformers import PreTrainedModel

from agents.bert.export import export_checkpoint
from agents.bert.families import CONFIG, WEIGHTS
from agents.bert.model import MaskedTokens


def save_network(network: PreTrainedModel, folder: Path) -> None:
    """Write a network to `folder`: ``config.json`` and ``model.safetensors``.

    Networks with policy and value also get the ``model.onnx`` that the bot plays by.
    """
    network.save_pretrained(folder)
    (folder / WEIGHTS).chmod((folder / CONFIG).stat().st_mode)  # safetensors leaves it readable by its owner alone
    if not isinstance(network, MaskedTokens):
        export_checkpoint(folder)
