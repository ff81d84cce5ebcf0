"""What must hold at every step of every game: nothing is lost or made, nothing hidden is told, and time can be turned back."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import make
from engine import entries, mjai
from engine.actions import N_ACTIONS
from engine.game import Game
from engine.shanten import hand_keys_of
from engine.table import EVERYBODY, TABLE, WALL_SIZE
from engine.tables import Policy, Tables
from engine.tiles import KIND_OF, N_KINDS, RED_INDEX
from tests.engine.conservation import FAULTS, find_fault
from tests.engine.drivers import ALL_HABITS, Chooser, efficient_driver, play, random_driver
