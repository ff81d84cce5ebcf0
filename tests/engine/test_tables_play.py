"""`Tables.play` with seats that nobody is asked for."""

from __future__ import annotations

import numpy as np

from agents.registry import make
from engine import kernels, table_kernels
from engine.table import GAME_OVER
from engine.tables import Tables

N = 20


def test_games_go_on_until_they_wait_for_seats_without_a_policy() -> None:
    """Asked for by hand whenever `play` returns, the seat 1 plays the same games as with a policy."""
    bot = make("efficiency")
    players = np.tile(np.array([1, 0, 1], dtype=np.int8), (N, 1))
    whole, parts = Tables(range(N)), Tables(range(N))
    ends = sum(len(ended) for ended in whole.play([bot.act, bot.act], players))
    found, calls = 0, 0
    while True:
        found += sum(len(ended) for ended in parts.play([None, bot.act], players))
        playing = np.flatnonzero(parts.records["phase"] != GAME_OVER)
        if not len(playing):
            break
        assert [table_kernels.asked_seats(parts.raw, i) for i in playing] == [1 << 1] * len(playing)
        seats = np.ones(len(playing), dtype=np.int8)
        views = np.zeros(len(playing), dtype=parts.records.dtype)
        for k, i in enumerate(playing):
            table_kernels.write_view(parts.raw, i, 1, views.view(np.uint8), k)
        assert kernels.apply_actions(parts.raw, np.array(playing, dtype=np.int32), seats, bot.act(views)) == -1
        calls += 1
    assert (found, calls > 100) == (ends, True)
    assert parts.raw.tobytes() == whole.raw.tobytes()
