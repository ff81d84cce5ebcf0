"""The sizes of networks. Needs no torch, so that a command line can name them at once."""

from __future__ import annotations

from typing import NamedTuple


class Preset(NamedTuple):
    """The size of each of the five networks."""

    channels: int
    dense: int


# 'published' is the published size: 5 x 0.95 million weights, 4.7 MB at 8 bits. 'compact' fits into 2 MB.
PRESETS: dict[str, Preset] = {
    "dwarf": Preset(8, 16),
    "compact": Preset(40, 300),
    "published": Preset(100, 300),
}
