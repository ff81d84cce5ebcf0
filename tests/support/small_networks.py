"""Small networks with random weights, in folders as training leaves them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from agents.bert.checkpoint import CONFIG, N_POSITIONS, WEIGHTS, Config, shapes
from agents.bert.vocabulary import N_TOKENS

TINY = Config(N_TOKENS, 32, 2, 2, 64, N_POSITIONS, 1, 1e-12, "relu")


def weights(config: Config, seed: int = 1) -> dict[str, np.ndarray]:
    """Random weights; what a network with them says differs a lot from position to position."""
    random = np.random.default_rng(seed)
    made = {}
    for name, shape in shapes(config):
        spread = 1.0 if "embeddings.weight" in name or name.startswith("policy") else 2 / np.sqrt(config.hidden_size)
        made[name] = random.normal("LayerNorm.weight" in name, spread if len(shape) > 1 else 0.1, shape)
    return {name: weight.astype(np.float32) for name, weight in made.items()}


def write_network(folder: Path, config: Config = TINY, tensors: dict[str, np.ndarray] | None = None) -> Path:
    """A network in `folder`, which is made; its weights are random where they are not given."""
    folder.mkdir(parents=True)
    (folder / CONFIG).write_text(json.dumps(config._asdict() | {"model_type": "bert"}))
    save_file(weights(config) if tensors is None else tensors, folder / WEIGHTS)
    return folder
