"""Everything that may halt the event loop once, done before the server accepts connections."""

from __future__ import annotations

import gc

import numpy as np

from agents.registry import make
from engine.game import Game
from server.settings import Settings


def warm_up(settings: Settings) -> None:
    """Compile, or load from the cache, all compiled code that games need."""
    bots = [make(spec) for spec in (settings.house_bot, *settings.fill)]
    game = Game(rules=settings.room.make_rules())
    while not game.over:
        for seat in game.asked:
            views = np.array([game.view(seat)])
            action, *_ = (int(bot.act(views)[0]) for bot in bots)
            assert action in game.legal(seat)
            game.act(seat, action)
    game.take_messages()
    gc.collect()
    gc.freeze()  # else each full collection would go through all modules and halt all games for a quarter of a second
