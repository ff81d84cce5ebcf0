"""The arena for Python callers: ``from arena import league, play``.

The names load what they need on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from arena.api import play
    from arena.leagues.api import league
    from arena.leagues.league import League
    from arena.match import Match
    from arena.stopping import Sprt, Until

__all__ = ["League", "Match", "Sprt", "Until", "league", "play"]

if not TYPE_CHECKING:  # for type checkers, no other name is there
    __getattr__ = lazy_names(
        __name__,
        {
            "League": "arena.leagues.league:League",
            "Match": "arena.match:Match",
            "Sprt": "arena.stopping:Sprt",
            "Until": "arena.stopping:Until",
            "league": "arena.leagues.api:league",
            "play": "arena.api:play",
        },
    )


def __dir__() -> list[str]:
    return __all__
