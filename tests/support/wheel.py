"""Our wheel, built from the sources."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def build_wheel(folder: Path) -> Path:
    """Build it into a folder; nothing is downloaded."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", folder, REPOSITORY], check=True)
    (path,) = folder.glob("nukidora-*.whl")
    return path
