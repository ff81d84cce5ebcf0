"""The first example of README.

>>> import numpy as np
>>> from nukidora import Game, make_bot
>>> game, bot = Game(seed=14, names=("Aki", "Ben", "Chi")), make_bot("rule")
>>> while not game.over:
...     for seat in game.asked:
...         game.act(seat, bot.act(np.array([game.view(seat)]))[0])
>>> print(game.results[0])
Ben wins by tsumo on 6p with 23457p 12350678s, ura indicators 1p
riichi 1, menzen tsumo 1, red dora 1, ura dora 1, nukidora 1: 5 han 30 fu, mangan, 6,000 points
Aki -4,000 · Ben +7,000 · Chi -2,000
"""

from __future__ import annotations

import numpy as np

from agents.registry import make as make_bot
from engine.game import Game


def test_a_round_whose_beginning_was_taken_is_not_in_the_results() -> None:
    whole, taken, bot = Game(seed=14), Game(seed=14), make_bot("rule")
    taken.take_messages()
    while not whole.over:
        seat = whole.asked[0]
        action = int(bot.act(np.array([whole.view(seat)]))[0])
        whole.act(seat, action)
        taken.act(seat, action)
    assert len(whole.results) > 1
    assert taken.results == whole.results[1:]
