"""The kinds of network that can be trained, and the features that each sees."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agents.rl.rows import Features

# Name of the bot -> the module with its FEATURES.
FAMILIES = {"residual": "agents.residual.features", "selfplay": "agents.selfplay.features"}
DEFAULT_FAMILY = "residual"


def features_named(name: str) -> Features:
    """The features of a name in FAMILIES."""
    found: Features = import_module(FAMILIES[name]).FEATURES
    return found
