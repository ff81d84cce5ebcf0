"""The weights of a checkpoint, ``model.safetensors``, read and checked without torch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from agents.bert.checkpoint import HEADS, HOW_TO_TRAIN, Config, check_files, read_config
from agents.bert.families import CONFIG, WEIGHTS


class Checkpoint(NamedTuple):
    """A network as it is stored: names and shapes of the tensors are those of `agents.bert.model.PolicyValue`."""

    config: Config
    tensors: dict[str, np.ndarray]  # float32


def read_checkpoint(folder: Path) -> Checkpoint:
    """Configuration and weights of the checkpoint `folder`; float16 is widened to float32.

    Raises ValueError, one line with file, fault and remedy, if a file is missing or cannot be used.
    """
    check_files(folder, CONFIG, WEIGHTS)
    config = read_config(folder / CONFIG)
    return Checkpoint(config, _read_tensors(folder / WEIGHTS, dict(tensor_shapes(config))))


def _read_tensors(path: Path, shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """The tensors with these names and shapes as float32. Raises ValueError if one differs."""
    try:
        tensors: dict[str, Any] = load_file(path)
    except (OSError, SafetensorError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: cannot be read as safetensors ({error}); copy or train the network again") from None
    if missing := [name for name in shapes if name not in tensors]:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ValueError(f"{path}: has no tensor {missing[0]}{more}; {HOW_TO_TRAIN}")
    for name, shape in shapes.items():
        tensor = tensors[name]
        if tensor.shape != shape:
            raise ValueError(f"{path}: {name} has shape {list(tensor.shape)}, but {CONFIG} requires {list(shape)}")
        if tensor.dtype not in (np.float32, np.float16):
            raise ValueError(f"{path}: {name} is {tensor.dtype}, but must be float32 or float16")
        if not np.isfinite(tensor).all():
            raise ValueError(f"{path}: {name} contains NaN or infinity; train the network again")
    return {name: tensors[name].astype(np.float32, copy=False) for name in shapes}


def tensor_shapes(config: Config) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Name and shape of each tensor of a network; the weight of a linear layer is [out, in]."""
    width, inner = config.hidden_size, config.intermediate_size
    for name, rows in (
        ("word", config.vocab_size), ("position", config.max_position_embeddings),
        ("token_type", config.type_vocab_size),
    ):  # fmt: skip
        yield f"bert.embeddings.{name}_embeddings.weight", (rows, width)
    norms = ["bert.embeddings.LayerNorm"]
    linear = {name: (n_out, width) for name, n_out in HEADS.items()}
    for layer in map(layer_name, range(config.num_hidden_layers)):
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            linear[f"{layer}.attention.{part}"] = width, width
        linear[f"{layer}.intermediate.dense"] = inner, width
        linear[f"{layer}.output.dense"] = width, inner
    for name in norms:
        yield f"{name}.weight", (width,)
        yield f"{name}.bias", (width,)
    for name, shape in linear.items():
        yield f"{name}.weight", shape
        yield f"{name}.bias", shape[:1]


def layer_name(index: int) -> str:
    """The prefix of the names of a layer's tensors."""
    return f"bert.encoder.layer.{index}"
