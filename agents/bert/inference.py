"""Running a network: by ONNX Runtime on the CPU, without torch, or by torch on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime

from agents.bert.checkpoint import HEADS, POINTS_UNIT, Network, read
from agents.bert.encoding import Encoded, encode
from agents.bert.export.calibration import positions
from agents.bert.export.graph import OUTPUT, Value
from agents.bert.export.quantization import Quantized, Reach, Watched

DEVICES = ("cpu", "cuda")
# A sequence is padded to a multiple of this, whatever the sequences beside it: in ONNX Runtime sums over a sequence
# come out the same to the last bit for the same padding, and rows of a batch do not depend on each other.
PADDED_TO = 4
# Positions that go through the network together. On a CPU more do not fit its caches.
SLICE = {"cpu": 16, "cuda": 1024}
# ONNX Runtime would join sums and LayerNormalization to an operator that is slower on a CPU.
UNWANTED = ["SkipLayerNormFusion", "EmbedLayerNormFusion"]
ERRORS_ONLY = 3

TYPICAL_WALLS = range(1000, 1004)
TYPICAL = 128  # positions that tell how far the steps of rounded numbers are apart

# run(ids int64[n, L], mask bool[n, L], positions int64[n, L]) -> float32[n, 50]: the heads' outputs side by side
Run = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Predictions(NamedTuple):
    """What a network says of n positions."""

    policy: np.ndarray  # float32[n, N_LABELS]: logits, illegal labels included
    placement: np.ndarray  # float32[n, 3]: probabilities of finishing first, second and third
    points: np.ndarray  # float32[n]: expected final points, in thousands


class Net:
    """A network, ready to run."""

    def __init__(self, run: Run, slice_size: int) -> None:
        """`slice_size` positions at most go through `run` together."""
        self._run = run
        self._slice_size = slice_size

    def __call__(self, ids: np.ndarray, lengths: np.ndarray, n_state: np.ndarray) -> Predictions:
        """Predict from n sequences, as `agents.bert.encoding.encode` makes them.

        They are ids integer[n, L], lengths and n_state int64[n]. On a CPU, with one thread, a position's prediction is
        the same, to the last bit, whatever the positions beside it.
        """
        made = np.empty((len(ids), sum(HEADS.values())), dtype=np.float32)
        for rows, width in self._slices(lengths):
            places = np.arange(width)
            mask = places < lengths[rows, None]
            positions = np.where(mask, np.maximum(places - n_state[rows, None] + 1, 0), 0)
            tokens = np.zeros((len(rows), width), dtype=np.int64)
            tokens[:, : ids.shape[1]] = ids[rows, :width]
            made[rows] = self._run(tokens, mask, positions)
        policy, placement, points = np.split(made, np.cumsum(list(HEADS.values()))[:-1], axis=1)
        return Predictions(policy, softmax(placement), points[:, 0] * np.float32(POINTS_UNIT))

    def _slices(self, lengths: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
        """The rows of sequences of like length, some at a time, with the length they are padded to."""
        widths = -(-lengths // PADDED_TO) * PADDED_TO
        for width in np.unique(widths).tolist():
            rows = np.flatnonzero(widths == width)
            for first in range(0, len(rows), self._slice_size):
                yield rows[first : first + self._slice_size], width


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities along the last axis."""
    odds = np.exp(logits - logits.max(axis=-1, keepdims=True, initial=-np.inf))
    return odds / odds.sum(axis=-1, keepdims=True)


def load(folder: Path, device: str = "cpu", threads: int = 1) -> Net:
    """The network in `folder` on "cpu" or "cuda".

    On a CPU it takes `threads` threads: one, as the arena plays in as many processes as there are cores.
    Raises ValueError for a folder or a device that will not do, saying how to mend it.
    """
    if device not in DEVICES:
        raise ValueError(f"device {device!r}: there are {' and '.join(DEVICES)}")
    run = on_cpu(folder, threads) if device == "cpu" else by_torch(folder, device)
    return Net(run, SLICE[device])


def on_cpu(folder: Path, threads: int) -> Run:
    """The network run by ONNX Runtime, with products of 8 bits. Raises ValueError for a bad folder."""
    network = read(folder)
    return onnx_run(Quantized(network, reach(network)).model(), threads)


@cache
def typical() -> Encoded:
    """TYPICAL positions."""
    return encode(positions(TYPICAL_WALLS)[:TYPICAL])


def reach(network: Network) -> Reach:
    """How far the inputs of linear layers reach in typical positions."""
    watched = Watched(network)
    run = onnx_outputs(watched.model(), [OUTPUT, *watched.told.values()], threads=1)
    seen: list[list[np.ndarray]] = []

    def watch(ids: np.ndarray, mask: np.ndarray, positions: np.ndarray) -> np.ndarray:
        heads, *told = run(ids, mask, positions)
        seen.append(told)
        return heads

    sample = typical()
    Net(watch, SLICE["cpu"])(sample.ids, sample.lengths, sample.n_state)
    return {
        name: np.stack([np.min(ends, axis=0)[0], np.max(ends, axis=0)[1]]) for name, *ends in zip(watched.told, *seen)
    }


def onnx_run(model: onnx.ModelProto, threads: int) -> Run:
    """A graph run by ONNX Runtime on the CPU."""
    run = onnx_outputs(model, [OUTPUT], threads)
    return lambda ids, mask, positions: run(ids, mask, positions)[0]


def onnx_outputs(
    model: onnx.ModelProto, outputs: list[Value], threads: int
) -> Callable[[np.ndarray, np.ndarray, np.ndarray], list[np.ndarray]]:
    """A graph run by ONNX Runtime on the CPU, for those of its outputs."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # a plan of memory would be kept for each shape there ever was
    options.log_severity_level = ERRORS_ONLY
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, ["CPUExecutionProvider"], disabled_optimizers=UNWANTED
    )

    def run(ids: np.ndarray, mask: np.ndarray, positions: np.ndarray) -> list[np.ndarray]:
        made: list[np.ndarray] = session.run(outputs, {"ids": ids, "mask": mask, "positions": positions})
        return made

    return run


def by_torch(folder: Path, device: str) -> Run:
    """The network run by torch in bfloat16 on one of its devices. Raises ValueError for a bad folder or device."""
    read(folder)
    try:
        model = torch_model(folder)
    except ImportError as error:
        raise ValueError(
            f"device={device} needs torch and transformers ({error}): pip install 'nukidora[train]'"
        ) from None
    try:
        model.to(device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device={device} cannot be used ({error}); device=cpu can") from None
    return torch_run(model, device, bfloat16=True)


def torch_model(folder: Path) -> Any:
    """The network as a PolicyValue on the CPU. Raises ImportError where torch or transformers is missing."""
    import torch
    from transformers.utils import logging

    from agents.bert.model import PolicyValue

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    model: torch.nn.Module = PolicyValue.from_pretrained(folder, dtype=torch.float32)
    return model.eval()


def torch_run(model: Any, device: str, bfloat16: bool) -> Run:
    """A PolicyValue run by torch on the device where it is."""
    import torch

    def run(ids: np.ndarray, mask: np.ndarray, positions: np.ndarray) -> np.ndarray:
        inputs = [torch.from_numpy(each).to(device) for each in (ids, mask, positions)]
        with torch.inference_mode(), torch.autocast(device, torch.bfloat16, enabled=bfloat16):
            policy, placement, points = model(*inputs)
        heads: np.ndarray = torch.cat([policy, placement, points[:, None]], dim=1).float().cpu().numpy()
        return heads

    return run
