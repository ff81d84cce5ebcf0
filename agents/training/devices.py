"""What the devices of PyTorch can do. Needs torch."""

from __future__ import annotations

import torch


def has_bf16(device: torch.device) -> bool:
    """Whether the device has hardware for products of matrices in bf16."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return device.type == "cpu" and torch.cpu._is_avx512_bf16_supported()
