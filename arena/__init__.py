"""The arena for Python callers: ``from arena import play``.

The names load what they need on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from arena.api import Match, play
    from arena.stopping import Sprt, Until

__all__ = ["Match", "Sprt", "Until", "play"]

__getattr__ = lazy_names(
    __name__,
    {
        "Match": "arena.api:Match",
        "Sprt": "arena.stopping:Sprt",
        "Until": "arena.stopping:Until",
        "play": "arena.api:play",
    },
)


def __dir__() -> list[str]:
    return __all__
