"""Export of a checkpoint to ``model.onnx``: graph, calibration, quantization. Needs the packages onnx and safetensors.

`export_checkpoint` does it all; every command that writes a network to be played calls it.
"""

from __future__ import annotations

from agents.bert.export.command import export_checkpoint

__all__ = ["export_checkpoint"]
