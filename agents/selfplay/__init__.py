"""The bot `selfplay`: a small network that starts at random and learns from games against itself.

- `features`: what the network sees of a position and of each legal action
- `network`: the weights, their file, and the compiled forward pass; `bot` plays with it and needs numpy and numba only
- `games`, `buffer`, `replay`: generations of self-play, the ring of games on disk, and their decisions again
- `learning`, `training`, `measuring`: the loss, the loop of ``python -m agents.selfplay train``, and the strength
"""

from __future__ import annotations

from agents.selfplay.bot import make

__all__ = ["make"]
