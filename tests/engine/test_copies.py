"""Copies of games, by `copy.deepcopy` and `pickle`, go on by themselves."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agents.registry import make
from engine.game import Game
from engine.tables import Tables

COPIES = pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])


def play(game: Game, decisions: int) -> None:
    """Play some decisions of a game; which, depends on the game alone."""
    for _ in range(decisions):
        if game.over:
            return
        seat = game.asked[-1]
        legal = game.legal(seat)
        game.act(seat, legal[len(game.messages) % len(legal)])


@COPIES
@pytest.mark.parametrize("decisions", [0, 1, 40, 300, 100_000])
def test_a_copy_of_a_game_plays_on_as_the_game(copied: Callable[[Any], Any], decisions: int) -> None:
    game = Game(seed=5, rules="majsoul", names=("a", "b", "c"))
    game.new_messages(1)
    play(game, decisions)
    before, n = game.view(0).tobytes(), len(game.messages)
    other = copied(game)
    play(other, 100_000)
    assert (game.view(0).tobytes(), len(game.messages)) == (before, n), "the game has changed with its copy"
    play(game, 100_000)
    assert game.over
    assert (game.messages, game.scores) == (other.messages, other.scores)
    assert game.new_messages(1) == other.new_messages(1)


@COPIES
def test_a_copy_of_tables_plays_on_as_the_tables(copied: Callable[[Any], Any]) -> None:
    policies, players = [make("efficiency").act], np.zeros((3, 3), dtype=np.int8)
    tables = Tables([1, 2, 3], "tenhou")
    playing = tables.play(policies, players)
    next(playing)
    before = tables.raw.tobytes()
    other = copied(tables)
    list(other.play(policies, players))
    assert tables.raw.tobytes() == before, "the tables have changed with their copy"
    list(playing)
    assert (tables.records == other.records).all()
