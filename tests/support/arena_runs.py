"""What several tests of the arena need."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]

# The fixture `arena`: takes the arguments of the command line.
Arena = Callable[..., subprocess.CompletedProcess[str]]


def without_speed(path: Path) -> dict[str, Any]:
    """A JSON file of results without the one part that differs from run to run."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    del document["speed"]
    return document
