"""Matches on Tenhou's walls: dealt by its seeds, kept in the saved games."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest

from agents.registry import make
from arena.api import play
from engine.game import Game
from engine.records.files import find_records, read_records
from engine.records.replay import Replay
from engine.tables import Tables
from engine.tenhou_walls import TenhouWalls, further_seed
from tests.conftest import DATA

BOTS = ["random", "tsumogiri", "random"]


@pytest.fixture(scope="module")
def seed() -> str:
    """The seed of a recorded game."""
    text: str = read_records(DATA / "tenhou_walls.mjson").events[0]["tenhou"]["seed"]
    return text


def test_saved_games_have_the_walls_of_their_seeds(seed: str, tmp_path: Path) -> None:
    match = play(BOTS, games=6, length="east", tenhou_seed=seed, save=tmp_path)
    assert "2 walls in 3 rotations by a seed of Tenhou, tenhou east" in str(match)
    deals: dict[str, set[str]] = {}
    for path in find_records([tmp_path]):
        record = read_records(path)
        replay = Replay(record)
        assert replay.check() == []
        rounds = sum(event["type"] == "start_kyoku" for event in record.events)
        assert (replay.walls.n_true, replay.walls.note) == (rounds, "")
        own_seed = record.events[0]["tenhou"]["seed"]
        deals.setdefault(own_seed, set()).add(str(record.events[1]["tehais"]))
    assert list(map(len, deals.values())) == [1, 1]  # by wall, in all rotations
    assert deals.keys() == {seed, further_seed(seed, 1)}


def test_tables_deal_what_a_game_of_the_seed_deals(seed: str) -> None:
    tables = Tables([1, 2], "tenhou", walls=[TenhouWalls(seed), TenhouWalls(further_seed(seed, 5))])
    rounds = 0
    for ended in tables.play([make("tsumogiri").act], np.zeros((2, 3), dtype=np.int8)):
        rounds += int((ended == 0).sum())
    game = Game(seed)
    while not game.over:
        for seat in game.asked:
            game.act(seat, int(make("tsumogiri").act(game.view(seat).reshape(1))[0]))
    assert rounds == sum(message["type"] == "end_kyoku" for message in game.messages) > 3
    assert tables.records["wall"][0].tolist() == game.table.wall.tolist()  # that of the last round
    assert tables.records["seat"]["score"][0].tolist() == game.scores


def test_a_copy_goes_on_with_the_same_walls(seed: str) -> None:
    tables, players = Tables([1], walls=[TenhouWalls(seed)]), np.zeros((1, 3), dtype=np.int8)
    next(tables.play([make("tsumogiri").act], players))
    copied = copy.deepcopy(tables)
    for each in (tables, copied):
        list(each.play([make("tsumogiri").act], players))
    assert (tables.raw == copied.raw).all()


def test_as_many_walls_as_seeds(seed: str) -> None:
    with pytest.raises(ValueError, match=r"1 games? .* 2 "):
        Tables([1, 2], walls=[TenhouWalls(seed)])
