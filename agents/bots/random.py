"""The bot that picks uniformly among its legal actions."""

from __future__ import annotations

from agents.base import compiled_factory
from engine.kernels import random_actions

make = compiled_factory("random", random_actions)
