"""What repr and str of games, actions, views and tables show."""

from __future__ import annotations

import copy
import json
import pickle
import re

import numpy as np
import pytest

from engine.actions import ACTION_NAMES, N_ACTIONS, Action, menu_text
from engine.game import Game
from engine.mjai.player_state import PlayerState
from engine.table import OFFER_DISCARD, RESPONSE, TABLE, TableRecord
from engine.tables import Tables
from engine.text import hand_text, limit_name, tile_text


def test_an_action_is_its_number_and_shows_its_name() -> None:
    actions = [Action(number) for number in range(N_ACTIONS)]
    assert actions == list(range(N_ACTIONS))
    assert [action.name for action in actions] == list(ACTION_NAMES)
    assert {repr(action) for action in actions} == {f"<Action {n}: {name}>" for n, name in enumerate(ACTION_NAMES)}
    assert json.dumps(actions) == json.dumps(list(range(N_ACTIONS)))
    assert np.array(actions).tolist() == list(range(N_ACTIONS))
    assert (f"{actions[37]}", f"{actions[37]:4}", str(actions[37])) == ("37", "  37", "37")
    assert repr(pickle.loads(pickle.dumps(copy.deepcopy(actions[3])))) == "<Action 3: discard 4m>"


def test_a_menu_in_short() -> None:
    assert menu_text([9, 10, 37, 38, 47]) == "discard 1p 2p, tsumogiri, riichi, ankan 1m"
    assert menu_text([40, 46]) == "pon with red, pass"


def test_repr_of_a_game_and_its_views() -> None:
    game = Game(7, names=("Aki", "Ben", "Chi"))
    may = "E1 honba 0, 54 draws left; seat 0 may discard 1p 2p 3p 4p 6p 7p 1s 6s 8s S C, tsumogiri>"
    assert repr(game) == f"<Game of Aki, Ben, Chi: {may}"
    assert repr(game.table) == f"<whole table: {may}"
    assert repr(game.view(0)) == f"<view of seat 0: {may}"
    assert repr(game.view(1)) == "<view of seat 1: E1 honba 0, 54 draws left; seat 0 is to act>"
    state = PlayerState()
    assert repr(state) == "<PlayerState before start_game>"
    for message in game.new_messages(0):
        state.update(message)
    assert repr(state) == f"<PlayerState: {game.view(0)!r}>"


def test_repr_of_parts_of_a_table_is_that_of_numpy() -> None:
    view = Game(7).view(0)
    assert isinstance(view, TableRecord)
    assert "35000" in repr(view.seat[0])
    assert "35000" in str(view.seat[0])
    assert "last_wind" in repr(view.rules)
    assert pickle.loads(pickle.dumps(view)).tobytes() == view.tobytes()
    assert np.array([view]).dtype == TABLE


def test_repr_of_tables_counts_the_games() -> None:
    tables = Tables(range(3), "majsoul")
    assert repr(tables) == "<Tables: 3 games by majsoul rules, 0 over, 0 decisions>"


def test_a_game_prints_its_table_and_hides_from_a_view_what_is_hidden() -> None:
    game = Game(7, names=("Aki", "Ben", "Chi"))
    text = str(game)
    own = hand_text(game.messages[1]["tehais"][1])
    assert text.startswith("E1 honba 0 · 0 riichi sticks · dora indicators ")
    assert f"seat 1 S Ben  35,000  {own}\n" in text
    assert "seat 0 may discard 1p" in text
    assert "': the tile just drawn · *: riichi · (): called by another seat" in text
    seen = str(game.view(0))
    assert own not in seen
    assert "seat 1 S      35,000  ?????????????\n" in seen


def test_marks_of_rivers_melds_nukidora_and_riichi() -> None:
    lines = ""
    for seed in range(30):  # games in which the first legal response and the last own action are chosen
        game = Game(seed)
        for _ in range(150):
            for seat in game.asked:
                menu = game.legal(seat)
                calls = [action for action in menu if action.name in ("pon", "nukidora", "daiminkan")]
                game.act(seat, calls[0] if calls else menu[-1])
        lines += str(game)
    for pattern in (
        r"river .*\d[mps]'",
        r"river .*\(\d[mps]'?\)",
        r"· pon (\d{3}[mps]|[ESWPFC]{3})",
        r"nukidora [1-4]",
    ):
        assert re.search(pattern, lines), pattern


def test_riichi_is_marked_in_the_river() -> None:
    record = Game(7).table.copy()
    river = record.seat[2]
    river.n_river, river.river[:3], river.riichi, river.riichi_river = 3, [9, 35, 27 | 0x40], 1, 1
    assert "    river 1p 0p* E'" in str(record).splitlines()
    assert " · riichi" in str(record)


def test_a_response_of_others_is_not_told() -> None:
    record = Game(7).view(2)
    record.phase, record.offer_type = RESPONSE, OFFER_DISCARD
    assert repr(record).endswith("other seats may call the tile>")


@pytest.mark.parametrize(("name", "text"), [("5pr", "0p"), ("1m", "1m"), ("E", "E"), ("?", "?")])
def test_tiles(name: str, text: str) -> None:
    assert tile_text(name) == text


@pytest.mark.parametrize(
    ("han", "fu", "limit"),
    [(2, 110, ""), (3, 60, ""), (3, 70, "mangan"), (4, 30, ""), (4, 40, "mangan"), (4, None, "mangan"), (2, None, ""),
     (5, 30, "mangan"), (7, 30, "haneman"), (8, 30, "baiman"), (11, 30, "sanbaiman"), (26, 30, "yakuman")],
)  # fmt: skip
def test_limits(han: int, fu: int | None, limit: str) -> None:
    assert limit_name(han, fu) == limit
