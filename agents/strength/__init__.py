"""The strength dial: any bot, weaker by a number of points (``rule@-300``)."""

from __future__ import annotations

from agents.strength.spec import split_strength

__all__ = ["split_strength"]
