"""Small networks with random weights, as checkpoints that training would write."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from agents.bert.checkpoint import Config
from agents.bert.encoding import N_POSITION_IDS
from agents.bert.export import export_checkpoint
from agents.bert.export.weights import tensor_shapes
from agents.bert.families import CONFIG, WEIGHTS
from agents.bert.vocabulary import N_TOKENS

TINY = Config(N_TOKENS, 32, 2, 2, 64, N_POSITION_IDS, 1, 1e-12, "relu")


def random_weights(config: Config, seed: int = 1) -> dict[str, np.ndarray]:
    """Random weights, with which predictions differ a lot between inputs."""
    random = np.random.default_rng(seed)
    tensors = {}
    for name, shape in tensor_shapes(config):
        spread = 1.0 if "embeddings.weight" in name or name.startswith("policy") else 2 / np.sqrt(config.hidden_size)
        tensors[name] = random.normal("LayerNorm.weight" in name, spread if len(shape) > 1 else 0.1, shape)
    return {name: tensor.astype(np.float32) for name, tensor in tensors.items()}


def write_weights(folder: Path, config: Config = TINY, tensors: dict[str, np.ndarray] | None = None) -> Path:
    """Write a checkpoint without ``model.onnx``, with random weights by default; replaces what is in `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / CONFIG).write_text(json.dumps(config._asdict() | {"model_type": "bert"}))
    save_file(random_weights(config) if tensors is None else tensors, folder / WEIGHTS)
    return folder


def write_network(folder: Path, config: Config = TINY, tensors: dict[str, np.ndarray] | None = None) -> Path:
    """Write a checkpoint that can be played, with random weights by default; replaces what is in `folder`."""
    write_weights(folder, config, tensors)
    export_checkpoint(folder)
    return folder
