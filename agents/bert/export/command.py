"""The command ``python -m agents.bert export``: makes ``model.onnx`` from a checkpoint.

The graph is built, calibrated on games of the bot rule and quantized to 8 bits.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from onnx import ModelProto, helper

from agents.bert.checkpoint import check_files, weights_digest
from agents.bert.export.calibration import activation_ranges
from agents.bert.export.quantization import QuantizedBuilder
from agents.bert.export.weights import read_checkpoint
from agents.bert.families import CONFIG, ONNX, WEIGHTS, family_of
from agents.bert.inference import DIGEST_KEY
from agents.bert.next_steps import arena_command, print_outcome
from engine.common.files import write_atomically
from engine.common.options import Parser, describe_error
from engine.common.program import OK


def build_bert(folder: Path) -> ModelProto:
    """The graph of a BERT, calibrated and quantized. Raises ValueError."""
    checkpoint = read_checkpoint(folder)
    return QuantizedBuilder(checkpoint, activation_ranges(checkpoint)).model()


def build_cnn(folder: Path) -> ModelProto:
    """The graph of a CNN. Raises ValueError."""
    from agents.cnn.export import build  # needs torch, which the export of a BERT does not

    check_files(folder, CONFIG, WEIGHTS)
    return build(folder)


BUILD: dict[str, Callable[[Path], ModelProto]] = {"bert": build_bert, "cnn": build_cnn}


def export_checkpoint(folder: Path) -> Path:
    """Write ``model.onnx`` for the weights of the checkpoint `folder`, replacing an old one; returns its path.

    Raises ValueError, one line with the remedy, for a checkpoint that cannot be used, OSError where it cannot write.
    """
    model, digest = BUILD[family_of(folder).name](folder), weights_digest(folder)
    helper.set_model_props(model, {DIGEST_KEY: digest})
    path = folder / ONNX
    with write_atomically(path) as file:
        file.write(model.SerializeToString(deterministic=True))
    return path


def run(parser: Parser, options: Namespace) -> int:
    """Export and return the exit code."""
    try:
        path = export_checkpoint(options.checkpoint)
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))
    print_outcome(f"wrote {path}", arena_command(options.checkpoint))
    return OK
