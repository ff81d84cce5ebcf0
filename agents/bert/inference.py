"""Running a network: on a CPU with compiled functions or ONNX Runtime, on a GPU with torch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

# Otherwise ONNX Runtime reports every session to Microsoft, and stores an id of the machine in the user's cache.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
import onnxruntime

from agents.bert.checkpoint import HEADS, N_OUTPUTS, POINTS_UNIT, Forward, check_files, how_to_export, weights_digest
from agents.bert.compiled.encoder import predict
from agents.bert.compiled.vectors import instruction_set
from agents.bert.compiled.weights import Network, read_network
from agents.bert.encoding import attention_mask, position_ids
from agents.bert.families import CONFIG, DEVICES, ONNX, WEIGHTS, family_of
from agents.cnn import inference as cnn

# Sequences are padded to a multiple of this, whatever else is in the batch: ONNX Runtime's sums over a sequence are the
# same to the last bit for the same padding, and rows of a batch do not depend on each other.
PAD_TO_MULTIPLE_OF = 4
BATCH_SIZE = {"cpu": 16, "cuda": 1024}  # on a CPU larger batches do not fit its caches
# These optimizers fuse sums with LayerNormalization into an operator that is slower on a CPU.
DISABLED_OPTIMIZERS = ["SkipLayerNormFusion", "EmbedLayerNormFusion"]
LOG_ERRORS_ONLY = 3

# The graph in model.onnx: its inputs, [n, L] each, and its output, float32[n, N_OUTPUTS]. DIGEST_KEY is the key of its
# metadata for the SHA-256 of the weights from which it was made.
INPUT_NAMES = ("input_ids", "attention_mask", "position_ids")
OUTPUT_NAME = "heads"
DIGEST_KEY = "safetensors_sha256"


class Predictions(NamedTuple):
    """The outputs of a network for n sequences."""

    policy: np.ndarray  # float32[n, N_LABELS]: logits, illegal labels included
    placement: np.ndarray  # float32[n, 3]: probabilities of finishing first, second and third
    points: np.ndarray  # float32[n]: expected final points, in thousands


class Predictor:
    """A loaded network: batches and pads encoded sequences, and runs the forward pass."""

    def __init__(self, forward: Forward, batch_size: int, family: str = "bert") -> None:
        """`forward` is called with at most `batch_size` sequences; `family` is that of the network."""
        self.family = family
        self._forward = forward
        self._batch_size = batch_size

    def __call__(self, input_ids: np.ndarray, lengths: np.ndarray, n_state: np.ndarray) -> Predictions:
        """Predict from n sequences as in `agents.bert.encoding.Encoded`.

        `input_ids` is integer[n, L], `lengths` and `n_state` are int64[n]. On a CPU a sequence's predictions are the
        same to the last bit whatever else is in the batch.
        """
        outputs = self._outputs(input_ids, lengths, n_state)
        policy, placement, points = np.split(outputs, np.cumsum(list(HEADS.values()))[:-1], axis=1)
        return Predictions(policy, softmax(placement), points[:, 0] * np.float32(POINTS_UNIT))

    def _outputs(self, input_ids: np.ndarray, lengths: np.ndarray, n_state: np.ndarray) -> np.ndarray:
        """The outputs of HEADS side by side, float32[n, N_OUTPUTS]."""
        outputs = np.empty((len(input_ids), N_OUTPUTS), dtype=np.float32)
        for rows, width in self._batches(lengths):
            padded = np.zeros((len(rows), width), dtype=np.int64)
            padded[:, : input_ids.shape[1]] = input_ids[rows, :width]
            mask = attention_mask(lengths[rows], width)
            outputs[rows] = self._forward(padded, mask, position_ids(mask, n_state[rows]))
        return outputs

    def _batches(self, lengths: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
        """The rows of sequences of similar length, int64[at most batch_size], and the length they are padded to."""
        widths = -(-lengths // PAD_TO_MULTIPLE_OF) * PAD_TO_MULTIPLE_OF
        for width in np.unique(widths).tolist():
            rows = np.flatnonzero(widths == width)
            for first in range(0, len(rows), self._batch_size):
                yield rows[first : first + self._batch_size], width


class CompiledPredictor(Predictor):
    """A BERT in 8 bits, run by `agents.bert.compiled`: predictions are the same on all processors that it supports."""

    def __init__(self, network: Network, isa: int) -> None:
        """`isa`: see `agents.bert.compiled.encoder.predict`."""
        self.family = "bert"
        self._predict = partial(predict, network, isa)

    def _outputs(self, input_ids: np.ndarray, lengths: np.ndarray, n_state: np.ndarray) -> np.ndarray:
        return self._predict(input_ids, lengths, n_state)


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities along the last axis, with the shape and dtype of `logits`."""
    odds = np.exp(logits - logits.max(axis=-1, keepdims=True, initial=-np.inf))
    return odds / odds.sum(axis=-1, keepdims=True)


def load(folder: Path, device: str = "cpu") -> Predictor:
    """The network of the checkpoint `folder` on "cpu" (from ``model.onnx``) or "cuda" (from ``model.safetensors``).

    On a CPU `agents.bert.compiled` runs a BERT if it can, else ONNX Runtime. It uses one thread, as the arena plays in
    as many processes as there are cores. Raises ValueError, one line with the remedy, if checkpoint or device cannot be
    used.
    """
    if device not in DEVICES:
        raise ValueError(f"device {device!r}: choose {' or '.join(DEVICES)}")
    if device != "cpu":
        return Predictor(torch_forward(folder, device), BATCH_SIZE[device], family_of(folder).name)
    model, session, family = read_onnx(folder)
    if family == "cnn":
        return Predictor(cnn.session_forward(session), BATCH_SIZE[device], family)
    isa = None if numba.config.DISABLE_JIT else instruction_set()
    network = None if isa is None else read_network(model)
    if isa is None or network is None:
        return Predictor(session_forward(session), BATCH_SIZE[device], family)
    return CompiledPredictor(network, isa)


def read_onnx(folder: Path) -> tuple[bytes, onnxruntime.InferenceSession, str]:
    """The contents of a checkpoint's ``model.onnx``, a session of ONNX Runtime, and the family of the network.

    Raises ValueError if the file is missing, broken, or was made from other weights than those next to it.
    """
    check_files(folder, ONNX)
    path = folder / ONNX
    model = path.read_bytes()
    try:
        session = onnx_session(model)
    except Exception as error:  # ONNX Runtime's exceptions have no common base class but this
        reason = str(error).splitlines()[0]
        raise ValueError(f"{path}: cannot be loaded ({reason}); {how_to_export(folder)}") from None
    digest = session.get_modelmeta().custom_metadata_map.get(DIGEST_KEY)
    found = tuple(tuple(value.name for value in values) for values in (session.get_inputs(), session.get_outputs()))
    families = {"bert": (INPUT_NAMES, (OUTPUT_NAME,)), "cnn": (cnn.INPUT_NAMES, cnn.OUTPUT_NAMES)}
    family = next((name for name, names in families.items() if names == found), None)
    if digest is None or family is None:
        raise ValueError(f"{path}: was not made by this version of the bot; {how_to_export(folder)}")
    if (folder / WEIGHTS).is_file() and digest != weights_digest(folder):
        raise ValueError(f"{path}: was made from other weights than those in {WEIGHTS}; {how_to_export(folder)}")
    return model, session, family


def onnx_session(model: bytes) -> onnxruntime.InferenceSession:
    """A session of ONNX Runtime on the CPU for a serialized ONNX model."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # it would keep a memory plan for each shape ever seen
    options.log_severity_level = LOG_ERRORS_ONLY
    return onnxruntime.InferenceSession(
        model, options, ["CPUExecutionProvider"], disabled_optimizers=DISABLED_OPTIMIZERS
    )


def session_forward(session: onnxruntime.InferenceSession) -> Forward:
    """The forward pass of a session."""
    return lambda *inputs: run_session(session, [OUTPUT_NAME], *inputs)[0]


def run_session(session: onnxruntime.InferenceSession, outputs: Sequence[str], *inputs: np.ndarray) -> list[np.ndarray]:
    """The named outputs of a session for inputs in the order of INPUT_NAMES."""
    values: list[np.ndarray] = session.run(outputs, dict(zip(INPUT_NAMES, inputs, strict=True)))
    return values


def torch_forward(folder: Path, device: str) -> Forward:
    """The forward pass of a checkpoint's weights in bfloat16 on one of torch's devices.

    Raises ValueError if the checkpoint or the device cannot be used, ModuleNotFoundError without the extra `train`.
    """
    model = load_torch_model(folder)
    try:
        model.to(device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device={device} cannot be used ({error}); use device=cpu") from None
    return torch_model_forward(model, device, bfloat16=True)


def load_torch_model(folder: Path) -> Any:
    """The checkpoint as a PolicyValue in float32 on the CPU.

    Raises ValueError if it cannot be used, ModuleNotFoundError without torch.
    """
    from agents.bert.export.weights import read_checkpoint  # better error messages than transformers gives

    check_files(folder, CONFIG, WEIGHTS)
    if family_of(folder).name == "bert":
        read_checkpoint(folder)
    from agents.bert.training.networks import load_trained, quiet_libraries

    quiet_libraries()
    return load_trained(str(folder)).train(mode=False)


def torch_model_forward(model: Any, device: str, bfloat16: bool) -> Forward:
    """The forward pass of a PolicyValue, which must be on `device` already."""
    import torch

    def forward(*inputs: np.ndarray) -> np.ndarray:
        tensors = [torch.from_numpy(each).to(device) for each in inputs]
        with torch.inference_mode(), torch.autocast(device, torch.bfloat16, enabled=bfloat16):
            policy, placement, points = model(*tensors)
        heads: np.ndarray = torch.cat([policy, placement, points[:, None]], dim=1).float().cpu().numpy()
        return heads

    return forward
