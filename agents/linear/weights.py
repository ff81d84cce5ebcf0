"""Weights files: JSON with a weight for each feature, by name.

=======================  ===============================================================================================
``format``               ``nukidora linear 1``
``weights``              feature -> its weight in points of value; all features of `agents.linear.features` and no other
``placements_per_point`` what a point of value is worth in placements, for action values; see `agents.linear.scale`
``temperature``          of the policy, in thousands of points: what ``softmax`` plays with by default
``trained``              how, for people
=======================  ===============================================================================================
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from agents.linear.config import WEIGHTS
from agents.linear.features import NAMES, START
from agents.options import read_path
from engine.common.files import write_atomically

FORMAT = "nukidora linear 1"
BUNDLED = Path(__file__).parent / "weights"  # NAME.json for the bots `linear` and `softmax`
START_UNIT = 2.7e-6  # `placements_per_point` of the starting weights
STARTING = "start"  # names the starting weights where a file is expected
DEFAULT_TEMPERATURE = 1.0
MAX_SIZE = 1 << 20  # bytes of a weights file


@dataclass(frozen=True)
class Weights:
    """Weights and what goes with them."""

    values: np.ndarray = field(default_factory=START.copy)  # float64[N_FEATURES], in points of value
    placements_per_point: float = START_UNIT
    temperature: float = DEFAULT_TEMPERATURE  # in thousands of points
    trained: str = "not: the starting weights"

    def write(self, path: Path) -> None:
        """Write a weights file. Raises OSError."""
        document = {
            "format": FORMAT,
            "trained": self.trained,
            "placements_per_point": self.placements_per_point,
            "temperature": self.temperature,
            "weights": dict(zip(NAMES, (float(f"{value:.7g}") for value in self.values), strict=True)),
        }
        with write_atomically(path) as file:
            file.write(json.dumps(document, indent=1).encode() + b"\n")


def load_weights(name: str) -> Weights:
    """The weights in a file, or the starting weights by the name ``start``.

    Raises ValueError, one line, for any other file; OSError if it cannot be read.
    """
    if name == STARTING:
        return Weights()
    path = read_path(name)
    if (inside := path / WEIGHTS).is_file():
        raise ValueError(f"{path}: is the folder of a run; name {inside}")
    with path.open("rb") as file:
        data = file.read(MAX_SIZE + 1)
    try:
        document = json.loads(data.decode("utf-8-sig")) if len(data) <= MAX_SIZE else None
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        made = "python -m agents.linear train"
        raise ValueError(f"{path}: no weights file: expected JSON with the format {FORMAT!r}, as {made} writes it")
    return Weights(
        np.array(_check_weights(path, document.get("weights"))),
        _check_number(path, document, "placements_per_point", above=True),
        _check_number(path, document, "temperature", above=False),
        str(document.get("trained", "")),
    )


def _is_number(value: Any) -> bool:
    """Whether a value of JSON is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300 and isfinite(value)


def _check_weights(path: Path, weights: Any) -> list[float]:
    """The weights in the order of NAMES. Raises ValueError."""
    if not isinstance(weights, dict):
        raise ValueError(f"{path}: 'weights' must be an object of feature names and numbers")
    known = set(NAMES)
    for what, names in (("lacks", known - weights.keys()), ("has the unknown", weights.keys() - known)):
        if names:
            more = f" and {len(names) - 1} more" * (len(names) > 1)
            raise ValueError(
                f"{path}: {what} feature {min(names)!r}{more}; python -m agents.linear show lists the features"
            )
    if bad := [name for name in NAMES if not _is_number(weights[name])]:
        raise ValueError(f"{path}: the weight of {bad[0]!r} is {weights[bad[0]]!r}, not a finite number")
    return [float(weights[name]) for name in NAMES]


def _check_number(path: Path, document: dict[str, Any], key: str, *, above: bool) -> float:
    """A number of the document, > 0 if `above` or else >= 0. Raises ValueError."""
    value: Any = document.get(key)
    if not _is_number(value) or value < 0 or (above and value == 0):
        raise ValueError(f"{path}: {key!r} is {value!r}, not a number {'> 0' if above else '>= 0'}")
    return float(value)
