"""One-time work that would block the event loop, done before the server accepts connections."""

from __future__ import annotations

import gc
import sys

from engine import kernel_registry
from engine.game import Game
from engine.mjai.possible_actions import safe_default
from server.house_bots import HOUSE_BOTS, HouseBots
from server.settings import Settings

SWITCH_INTERVAL = 0.001  # maximum seconds that the event loop waits for the GIL while a house bot computes
GC_THRESHOLDS = (10_000, 10, 20)  # so that a message of many lists triggers no full collection, which halts all games


def warm_up(settings: Settings, house_bots: HouseBots = HOUSE_BOTS) -> None:
    """Compile all code that games and their house bots need, or load it from the cache.

    Raises ValueError if a house bot of the settings cannot play.
    """
    house_bots.try_out_all()
    for spec in (settings.house_bot, *settings.fill):
        house_bots.try_out(spec)
    kernel_registry.compile_imported()  # including code that the bots need only in other positions
    game = Game(rules=settings.room.make_rules())
    while not game.over:
        for seat in game.asked:
            game.view(seat)
            game.act(seat, safe_default(game.legal(seat)))
    game.take_messages()


def settle() -> None:
    """Tune Python's garbage collector and threads for short halts; to be called once the server accepts connections.

    Objects that exist at that point live for ever. They are frozen, as full collections would otherwise traverse them
    and halt all games meanwhile.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    sys.setswitchinterval(SWITCH_INTERVAL)
