"""Everything that may halt the event loop once, done before the server accepts connections."""

from __future__ import annotations

import gc
import sys

from engine import kernel_registry
from engine.game import Game
from engine.mjai.possible_actions import safe_default
from server.house_bots import HOUSE_BOTS, HouseBots
from server.settings import Settings

SWITCH_INTERVAL = 0.001  # seconds that the event loop waits for Python's lock at most, while a house bot thinks
GC_THRESHOLDS = (10_000, 10, 20)  # so that a message of many lists causes no full collection, which halts all games


def warm_up(settings: Settings, house_bots: HouseBots = HOUSE_BOTS) -> None:
    """Compile, or load from the cache, all compiled code that games and their house bots need.

    Raises ValueError if a house bot of the settings cannot play.
    """
    house_bots.try_out_all()
    for spec in (settings.house_bot, *settings.fill):
        house_bots.try_out(spec)
    kernel_registry.compile_imported()  # what the bots need in other positions, too
    game = Game(rules=settings.room.make_rules())
    while not game.over:
        for seat in game.asked:
            game.view(seat)
            game.act(seat, safe_default(game.legal(seat)))
    game.take_messages()


def settle() -> None:
    """Set Python's garbage collector and threads up for short halts; to be called once the server accepts connections.

    What exists then stays for ever. Not frozen, each full collection would go through it, and halt all games that long.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    sys.setswitchinterval(SWITCH_INTERVAL)
