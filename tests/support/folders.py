"""What is in a folder."""

from __future__ import annotations

from pathlib import Path


def folder_bytes(folder: Path) -> dict[str, bytes]:
    """The content of every file, by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
