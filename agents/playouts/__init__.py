"""Playouts: a round played to its end by a compiled policy, many times, and what its end is worth.

- `policies`: the compiled policies, by name
- `quick`: a policy for playouts only, not a registered bot
- `value`: what the end of a round is worth to a seat, in placements
- `playouts`: `Playouts`, which tries actions at whole tables; the unseen tiles are shuffled before each playout
"""

from __future__ import annotations

from agents.playouts.playouts import Playouts
from agents.playouts.policies import POLICIES

__all__ = ["POLICIES", "Playouts"]
