"""The methods of inference that are compared: transformers, torch, ONNX Runtime, and the bot's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.bert.encoding import MAX_TOKENS, Encoded
from agents.bert.export.graph import GraphBuilder
from agents.bert.export.weights import read_checkpoint
from agents.bert.inference import (
    BATCH_SIZE,
    Predictor,
    load,
    load_torch_model,
    onnx_session,
    read_onnx,
    session_forward,
    torch_model_forward,
)

TORCH_BATCH_SIZE = {"cpu": 64, "cuda": BATCH_SIZE["cuda"]}

# policy(encoded) -> float32[n, N_LABELS]: logits
Policy = Callable[[Encoded], np.ndarray]


class Method(NamedTuple):
    """A method of inference."""

    name: str
    policy: Policy
    batched: bool  # all samples in one call, else one call for each

    def logits(self, encoded: Encoded) -> np.ndarray:
        """float32[n, N_LABELS] of `encoded`."""
        if self.batched:
            return self.policy(encoded)
        return np.concatenate([self.policy(encoded.select(slice(i, i + 1))) for i in range(len(encoded.input_ids))])


def all_methods(folder: Path, device: str) -> list[Method]:
    """All methods for the checkpoint `folder` on `device`; those of torch only if it is installed."""
    methods = torch_methods(folder, device)
    if device == "cpu":
        for name, predictor in (("float32", float32_predictor(folder)), ("8 bits", session_predictor(folder))):
            methods.append(Method(f"ONNX Runtime, batched, {name}", policy_of(predictor), batched=True))
    policy = policy_of(load(folder, device))
    return [*methods, Method("bot, one by one", policy, batched=False), Method("bot, batched", policy, batched=True)]


def torch_methods(folder: Path, device: str) -> list[Method]:
    """The methods that use torch, none if it is not installed.

    The first two are the baselines: a transformers BertModel that is called for each sample, with all the padding that
    `encode` writes, and without padding.
    """
    try:
        import torch

        model = load_torch_model(folder)
    except ImportError:
        return []
    torch.set_num_threads(1)
    model.to(device)
    methods = [
        Method("transformers, one by one, padded", partial(transformers_policy, model, device, True), batched=False),
        Method("transformers, one by one, unpadded", partial(transformers_policy, model, device, False), False),
    ]
    for name, bfloat16 in (("torch, batched, float32", False), ("torch, batched, bfloat16", True)):
        predictor = Predictor(torch_model_forward(model, device, bfloat16), TORCH_BATCH_SIZE[device])
        methods.append(Method(name, policy_of(predictor), batched=True))
    return methods


def transformers_policy(model: Any, device: str, padded: bool, encoded: Encoded) -> np.ndarray:
    """The policy of a PolicyValue by its transformers BertModel, as float32[n, N_LABELS]."""
    import torch

    width = MAX_TOKENS if padded else encoded.lengths.max()
    arrays = encoded.input_ids.astype(np.int64), encoded.attention_mask, encoded.position_ids
    input_ids, attention_mask, position_ids = (torch.from_numpy(array[:, :width]).to(device) for array in arrays)
    with torch.inference_mode():
        hidden = model.bert(input_ids=input_ids, attention_mask=attention_mask, position_ids=position_ids)
        logits: np.ndarray = model.policy(hidden.last_hidden_state[:, 0]).cpu().numpy()
    return logits


def float32_predictor(folder: Path) -> Predictor:
    """The checkpoint `folder` on ONNX Runtime without quantization."""
    model = GraphBuilder(read_checkpoint(folder)).model()
    return Predictor(session_forward(onnx_session(model.SerializeToString())), BATCH_SIZE["cpu"])


def session_predictor(folder: Path) -> Predictor:
    """The checkpoint `folder` as ONNX Runtime runs its ``model.onnx``."""
    return Predictor(session_forward(read_onnx(folder)[1]), BATCH_SIZE["cpu"])


def policy_of(predictor: Predictor) -> Policy:
    """The policy logits of a predictor."""
    return lambda encoded: predictor(encoded.input_ids, encoded.lengths, encoded.n_state).policy
