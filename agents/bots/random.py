"""The bot that picks uniformly among its legal actions."""

from __future__ import annotations

from agents.base import compiled
from engine.kernels import random_actions

make = compiled("random", random_actions)
