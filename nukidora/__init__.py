"""Three-player riichi mahjong: the public names of nukidora.

The names are loaded on first use, so that importing this package is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.common.lazy_names import lazy_names
from engine.common.program import version

if TYPE_CHECKING:
    from agents.registry import make as make_bot
    from arena.api import play
    from engine.game import Game
    from engine.mjai.player_state import PlayerState
    from engine.records.replay import Replay
    from engine.scoring.api import score
    from engine.tables import Tables

__version__: str
__all__ = ["Game", "PlayerState", "Replay", "Tables", "__version__", "make_bot", "play", "score"]

_load = lazy_names(
    __name__,
    {
        "Game": "engine.game:Game",
        "PlayerState": "engine.mjai.player_state:PlayerState",
        "Replay": "engine.records.replay:Replay",
        "Tables": "engine.tables:Tables",
        "make_bot": "agents.registry:make",
        "play": "arena.api:play",
        "score": "engine.scoring.api:score",
    },
)


if not TYPE_CHECKING:  # for type checkers, no other name is there

    def __getattr__(name: str) -> Any:
        return version() if name == "__version__" else _load(name)


def __dir__() -> list[str]:
    return __all__
