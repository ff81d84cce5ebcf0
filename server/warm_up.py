"""Everything that may halt the event loop once, done before the server accepts connections."""

from __future__ import annotations

import sys

from engine import compiling
from engine.game import Game
from engine.mjai.possible_actions import safe_default
from server.house_bots import try_out, try_out_all
from server.settings import Settings

SWITCH_INTERVAL = 0.001  # seconds that the event loop waits for Python's lock at most, while a house bot thinks


def warm_up(settings: Settings) -> None:
    """Compile, or load from the cache, all compiled code that games and their house bots need.

    Raises ValueError if a house bot of the settings cannot play.
    """
    try_out_all()
    for spec in (settings.house_bot, *settings.fill):
        try_out(spec)
    compiling.compile_imported()  # what the bots need in other positions, too
    game = Game(rules=settings.room.make_rules())
    while not game.over:
        for seat in game.asked:
            game.view(seat)
            game.act(seat, safe_default(game.legal(seat)))
    game.take_messages()
    sys.setswitchinterval(SWITCH_INTERVAL)
