"""Hides installed packages from every Python that has this folder in PYTHONPATH: as if they were not there.

The variable WITHOUT has their names, separated by commas. Python imports this module when it starts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

WITHOUT = frozenset(os.environ.get("WITHOUT", "").split(","))


class Others(PathFinder):
    """Finds all modules but those that are hidden."""

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A hidden one is found only where a package brings its own copy of it, as Ray does."""
        if path is None and fullname in WITHOUT:
            path = [entry for entry in sys.path if not entry.endswith("site-packages")]
        return PathFinder.find_spec(fullname, path, target)


if "WITHOUT" in os.environ:  # pytest imports it too, looking for doctests
    sys.meta_path[sys.meta_path.index(PathFinder)] = Others
