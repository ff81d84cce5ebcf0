"""A checkpoint: a folder with ``config.json``, ``model.safetensors`` and ``model.onnx``; its configuration and checks.

``config.json`` and ``model.safetensors`` are what transformers writes for `agents.bert.model.PolicyValue`.
``model.onnx`` is the same network as ONNX Runtime plays it on a CPU, made by ``python -m agents.bert export``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.bert.encoding import N_POSITION_IDS
from agents.bert.families import CONFIG, ONNX, WEIGHTS
from agents.bert.labels import N_LABELS
from agents.bert.vocabulary import N_TOKENS
from engine.rules import N_SEATS

POINTS_UNIT = 50.0  # thousand points: the output 1.0 of the head `points`
REGRET_UNIT = 0.004  # placements: a label whose regret is larger by this has a target probability smaller by a factor e
HEADS = {"policy": N_LABELS, "placement": N_SEATS, "points": 1}  # linear heads on [CLS] -> their outputs
N_OUTPUTS = sum(HEADS.values())
ACTIVATIONS = ("relu", "gelu")
MAX_SIZE = 65_536  # of each number in a configuration: a small file must not allocate all memory
HOW_TO_TRAIN = "python -m agents.bert train makes a network that plays"

# forward(input_ids int64[n, L], attention_mask bool[n, L], position_ids int64[n, L]) -> float32[n, N_OUTPUTS]: the
# outputs of HEADS side by side
Forward = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Config(NamedTuple):
    """The keys of ``config.json`` that determine a network, as transformers names them."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int
    layer_norm_eps: float
    hidden_act: str


def check_files(folder: Path, *names: str) -> None:
    """Raise ValueError, with a one-line remedy, if `folder` lacks one of the files `names`."""
    for name in names:
        if not (folder / name).is_file():
            raise ValueError(f"{folder}: {_missing(folder, name)}")


def _missing(folder: Path, name: str) -> str:
    if not folder.exists():
        return f"there is no such folder; a checkpoint is a folder with {CONFIG}, {WEIGHTS} and {ONNX}"
    if not folder.is_dir():
        return f"is a file; a checkpoint is a folder with {CONFIG}, {WEIGHTS} and {ONNX}"
    if (inside := folder / "model" / name).is_file():
        return f"has no {name}, but {inside.parent} has one: name that folder"
    if name == ONNX and (folder / WEIGHTS).is_file():
        return f"has no {ONNX}; {how_to_export(folder)}"
    return f"has no {name}; {HOW_TO_TRAIN}"


def how_to_export(folder: Path) -> str:
    """The remedy for a missing, stale or broken ``model.onnx``."""
    return f"make it with: python -m agents.bert export {folder}"


def weights_digest(folder: Path) -> str:
    """SHA-256 of ``model.safetensors`` in hexadecimal; ``model.onnx`` stores that of the weights it was made from."""
    with (folder / WEIGHTS).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_config(path: Path) -> Config:
    """The configuration in a ``config.json``. Raises ValueError if it cannot be read or the bot cannot run it."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: cannot be read as JSON ({error}); {HOW_TO_TRAIN}") from None
    missing = [key for key in Config._fields if not isinstance(values, dict) or key not in values]
    if missing:
        raise ValueError(f"{path}: lacks {', '.join(missing)}; {HOW_TO_TRAIN}")
    config = Config(**{key: values[key] for key in Config._fields})
    for key, expected in _faults(config):
        raise ValueError(f"{path}: {key} is {getattr(config, key)!r}, but must be {expected}; {HOW_TO_TRAIN}")
    return config


def _faults(config: Config) -> Iterator[tuple[str, str]]:
    """Yield each key whose value the bot does not support, and what the value must be."""
    for key, value in config._asdict().items():
        if key not in ("hidden_act", "layer_norm_eps") and not (type(value) is int and 0 < value <= MAX_SIZE):
            yield key, f"a whole number from 1 to {MAX_SIZE}"
    if config.vocab_size != N_TOKENS:
        yield "vocab_size", f"{N_TOKENS}, the tokens of agents.bert.vocabulary"
    if config.max_position_embeddings < N_POSITION_IDS:
        yield "max_position_embeddings", f"at least {N_POSITION_IDS}, for the longest record of a round"
    if config.hidden_size % config.num_attention_heads:
        yield "hidden_size", f"a multiple of num_attention_heads, {config.num_attention_heads}"
    if config.hidden_act not in ACTIVATIONS:
        yield "hidden_act", " or ".join(ACTIVATIONS)
    if not isinstance(config.layer_norm_eps, float):
        yield "layer_norm_eps", "a number"
