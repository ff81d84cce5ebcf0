"""The sizes of networks. Needs no torch, so that a command line can name them at once."""

from __future__ import annotations

from typing import NamedTuple


class Preset(NamedTuple):
    """The size of a network."""

    layers: int
    width: int
    heads: int


# The names are those of the published BERT sizes; micro and laptop are ours.
PRESETS: dict[str, Preset] = {
    "micro": Preset(2, 64, 2),
    "tiny": Preset(2, 128, 4),
    "laptop": Preset(3, 128, 4),
    "mini": Preset(4, 256, 4),
    "small": Preset(4, 512, 8),
    "medium": Preset(8, 512, 8),
    "base": Preset(12, 768, 12),
}
