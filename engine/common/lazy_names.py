"""Names of a package whose defining modules are imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of ``package`` (PEP 562), so that importing the package is quick.

    ``homes``: where each name is defined, as in ``"Game": "engine.game:Game"``.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, attribute = homes[name].partition(":")
        return getattr(import_module(module), attribute)

    return load
