"""The networks that can be trained, and loading one to start from; `agents.bert.training.saving` writes one."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import cast

import torch
from safetensors import SafetensorError
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.utils import logging as transformers_logging

from agents.bert.families import CONFIG, SIZES, Family, family_of
from agents.bert.model import MaskedTokens
from agents.bert.model import PolicyValue as BertPolicyValue
from agents.bert.model import make_config as make_bert_config
from agents.bert.sizes import PRESETS as BERT_PRESETS
from agents.cnn.model import PolicyValue as CnnPolicyValue
from agents.cnn.model import make_config as make_cnn_config
from agents.cnn.sizes import PRESETS as CNN_PRESETS

# family -> the class with policy and value, and its configuration of a size
NETWORKS: dict[str, tuple[type[PreTrainedModel], Callable[[str], PreTrainedConfig]]] = {
    "bert": (BertPolicyValue, lambda size: make_bert_config(BERT_PRESETS[size])),
    "cnn": (CnnPolicyValue, lambda size: make_cnn_config(CNN_PRESETS[size])),
}
# Keys of a configuration that make transformers load third-party code, from a package or the internet.
FOREIGN = frozenset({"attn_implementation", "experts_implementation", "quantization_config"})


def quiet_libraries() -> None:
    """Turn off progress bars and warnings of transformers and accelerate that mean nothing here.

    Networks load with new heads where the objective changes, and the tied weights of masked language models are stored
    once.
    """
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    logging.getLogger("accelerate.utils.other").setLevel(logging.ERROR)


def create_or_load(model: str) -> PreTrainedModel:
    """A new network with policy and value of a size in SIZES, or one from a folder, float32.

    Raises ValueError if it is neither.
    """
    return _make_or_load(model, family_of(model))


def create_or_load_masked(model: str) -> MaskedTokens:
    """As `create_or_load`, a masked language model. Raises ValueError also if `model` is not a BERT."""
    if (family := family_of(model)).name != "bert":
        raise ValueError(f"{model}: is a network of the bot {family.name}; only a BERT can be pretrained")
    return cast(MaskedTokens, _make_or_load(model, family, MaskedTokens))


def _make_or_load(model: str, family: Family, kind: type[PreTrainedModel] | None = None) -> PreTrainedModel:
    """A network of a family; `kind` is the class, that with policy and value by default."""
    policy_value, make = NETWORKS[family.name]
    kind = kind or policy_value
    if model in SIZES:
        return kind(make(model))
    if not (Path(model) / CONFIG).is_file():
        raise ValueError(f"{model}: neither a size ({', '.join(SIZES)}) nor the folder of a network ({CONFIG})")
    if foreign := _keys_of_config(model) & FOREIGN:
        raise ValueError(f"{model}: {CONFIG} has {', '.join(sorted(foreign))}, which no network of this bot has")
    try:
        return kind.from_pretrained(model, dtype=torch.float32)
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise ValueError(f"{model}: cannot be loaded as a network of this bot ({error})") from error


def _keys_of_config(model: str) -> set[str]:
    """Return the keys of a network's configuration; none if it is damaged, which loading it reports."""
    with suppress(OSError, ValueError, TypeError, RecursionError):
        return set(json.loads((Path(model) / CONFIG).read_text(encoding="utf-8")))
    return set()


def load_trained(model: str) -> PreTrainedModel:
    """The network with policy and value in a folder, float32. Raises ValueError if there is none, or for a size."""
    if model in SIZES:
        raise ValueError(f"{model} is a size: name the folder of a trained network")
    if not (Path(model) / CONFIG).is_file():
        raise ValueError(f"{model}: is no folder of a network, with a {CONFIG}")
    return create_or_load(model)


def load_bert(model: str) -> BertPolicyValue:
    """As `load_trained`. Raises ValueError also if it is not a BERT."""
    network = load_trained(model)
    if not isinstance(network, BertPolicyValue):
        raise ValueError(f"{model}: is a network of the bot {family_of(model).name}; only a BERT can be deepened")
    return network
