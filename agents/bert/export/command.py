"""python -m agents.bert export: makes model.onnx, which the bot plays on a CPU, from a checkpoint's weights.

The graph is built, calibrated on games of the bot rule and quantized to 8 bits. The commands train, improve, average
and deepen do the same for the networks they write; this one is for weights that came from elsewhere or changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from onnx import helper

from agents.bert.checkpoint import ONNX, weights_digest
from agents.bert.export.calibration import activation_ranges
from agents.bert.export.quantization import QuantizedBuilder
from agents.bert.export.weights import read_checkpoint
from agents.bert.inference import DIGEST_KEY
from agents.bert.next_steps import arena_command, print_outcome
from engine.common.files import write_atomically
from engine.common.options import Parser, describe_error
from engine.common.program import OK


def export_checkpoint(folder: Path) -> Path:
    """Write ``model.onnx`` for the weights of the checkpoint `folder`, replacing an old one; returns its path.

    Raises ValueError, one line with the remedy, for a checkpoint that cannot be used, OSError where it cannot write.
    """
    checkpoint, digest = read_checkpoint(folder), weights_digest(folder)
    model = QuantizedBuilder(checkpoint, activation_ranges(checkpoint)).model()
    helper.set_model_props(model, {DIGEST_KEY: digest})
    path = folder / ONNX
    with write_atomically(path) as file:
        file.write(model.SerializeToString(deterministic=True))
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Export and return the exit code."""
    parser = Parser(
        "agents.bert export",
        description=(__doc__ or "").partition(": ")[2],
    )
    parser.add_argument(
        "checkpoint", metavar="NETWORK", type=Path, help="folder with config.json and model.safetensors"
    )
    options = parser.parse_args(arguments)
    try:
        path = export_checkpoint(options.checkpoint)
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))
    print_outcome(f"wrote {path}", arena_command(options.checkpoint))
    return OK
