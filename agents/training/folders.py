"""Whose run a folder holds: trainers use the same names for other files, so each run needs a folder of its own."""

from __future__ import annotations

from pathlib import Path

# Trainer -> files that only its runs have: what a run goes on from, and its bot, which may be all that was kept.
FILES = {
    "agents.bert": ("training_config.json",),
    "agents.linear": ("checkpoint.npz", "weights.json"),
    "agents.rl": ("state.pt", "network.npz"),
}


def check_folder(folder: Path, trainer: str) -> None:
    """Raise ValueError, in one line, if `folder` holds a run of another trainer than `trainer`."""
    for other, names in FILES.items():
        if other != trainer and any((folder / name).exists() for name in names):
            raise ValueError(f"{folder} holds a run of {other}; take another folder")
