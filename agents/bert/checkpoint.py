"""The folder of a network, ``config.json`` and ``model.safetensors``, read and checked without torch.

Names and shapes are those of `agents.bert.model.PolicyValue`: a transformers BERT, and three linear heads on [CLS].
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from agents.bert.encoding import MAX_RECORD
from agents.bert.labels import N_LABELS
from agents.bert.vocabulary import N_PLAYERS, N_TOKENS

CONFIG, WEIGHTS = "config.json", "model.safetensors"
POINTS_UNIT = 50.0  # final points, in thousands, that the head `points` counts as 1
REGRET_UNIT = 0.004  # places that a label promises less, for it to be learned as e times less likely
N_POSITIONS = MAX_RECORD + 3  # 0, and those of [SEP], the record and [EOS]
HEADS = {"policy": N_LABELS, "placement": N_PLAYERS, "points": 1}
ACTIVATIONS = ("relu", "gelu")
MEND = "a network that plays is made by python -m agents.bert train"


class Config(NamedTuple):
    """What `config.json` says, under the names transformers gives them."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int
    layer_norm_eps: float
    hidden_act: str


class Network(NamedTuple):
    """A network as it is stored."""

    config: Config
    tensors: dict[str, np.ndarray]  # float32


def read(folder: Path) -> Network:
    """The network in `folder`; float16 is widened.

    Raises ValueError: one line saying what is wrong, where, and how to mend it.
    """
    for name in (CONFIG, WEIGHTS):
        if not (folder / name).is_file():
            raise ValueError(f"{folder}: {missing(folder, name)}")
    config = read_config(folder / CONFIG)
    return Network(config, read_tensors(folder / WEIGHTS, dict(shapes(config))))


def missing(folder: Path, name: str) -> str:
    """What to say where the file `name` of a network is missing."""
    if not folder.exists():
        return f"there is no such folder; a network is a folder with {CONFIG} and {WEIGHTS}"
    if not folder.is_dir():
        return f"is a file; a network is a folder with {CONFIG} and {WEIGHTS}"
    if (inside := folder / "model" / name).is_file():
        return f"has no {name}, but {inside.parent} has one: name that folder"
    return f"has no {name}; {MEND}"


def read_config(path: Path) -> Config:
    """The size of a network. Raises ValueError where it is none that this bot can run."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read as JSON ({error}); {MEND}") from None
    if not isinstance(said, dict) or (lacking := [key for key in Config._fields if key not in said]):
        raise ValueError(f"{path}: says nothing of {', '.join(lacking if isinstance(said, dict) else Config._fields)}")
    config = Config(**{key: said[key] for key in Config._fields})
    for what, expected in faults(config):
        raise ValueError(f"{path}: {what} is {getattr(config, what)!r}, but must be {expected}; {MEND}")
    return config


def faults(config: Config) -> Iterator[tuple[str, str]]:
    """The keys of a configuration whose values will not do, each with what would."""
    for key, value in config._asdict().items():
        if key not in ("hidden_act", "layer_norm_eps") and not (type(value) is int and value > 0):
            yield key, "a whole number from 1 up"
    if config.vocab_size != N_TOKENS:
        yield "vocab_size", f"{N_TOKENS}, the tokens of agents.bert.vocabulary"
    if config.max_position_embeddings < N_POSITIONS:
        yield "max_position_embeddings", f"at least {N_POSITIONS}, for the longest record of a round"
    if config.hidden_size % config.num_attention_heads:
        yield "hidden_size", f"a multiple of num_attention_heads, {config.num_attention_heads}"
    if config.hidden_act not in ACTIVATIONS:
        yield "hidden_act", " or ".join(ACTIVATIONS)
    if not isinstance(config.layer_norm_eps, float):
        yield "layer_norm_eps", "a number"


def read_tensors(path: Path, expected: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """The tensors of those names and shapes, as float32. Raises ValueError where one is not as expected."""
    try:
        found: dict[str, Any] = load_file(path)
    except (OSError, SafetensorError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: cannot be read as safetensors ({error}); copy or make it anew") from None
    if lacking := [name for name in expected if name not in found]:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise ValueError(f"{path}: has no tensor {lacking[0]}{more}; {MEND}")
    for name, shape in expected.items():
        tensor = found[name]
        if tensor.shape != shape:
            raise ValueError(f"{path}: {name} is {list(tensor.shape)}, but {CONFIG} beside it makes it {list(shape)}")
        if tensor.dtype not in (np.float32, np.float16):
            raise ValueError(f"{path}: {name} is {tensor.dtype}, but must be float32 or float16; store it as one")
        if not np.isfinite(tensor).all():
            raise ValueError(f"{path}: {name} holds what is no finite number; train the network again")
    return {name: found[name].astype(np.float32, copy=False) for name in expected}


def shapes(config: Config) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The names of a network's tensors with their shapes; a linear layer's weight is [out, in]."""
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
    """What the names of a layer's tensors begin with."""
    return f"bert.encoder.layer.{index}"
