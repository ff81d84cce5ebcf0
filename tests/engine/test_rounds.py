"""The fold over a finished round, `engine.statistics.rounds`: what games rarely have, and every round of real records.

That whole games add up is tested with the statistics (tests/arena/test_tallies.py, tests/server/test_store_statistics).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from engine.game import Game
from engine.records.files import find_records, read_records
from engine.records.replay import Replay
from engine.ryukyoku import KYUSHU_KYUHAI, NAGASHI_MANGAN
from engine.statistics.counts import COUNTS
from engine.statistics.rounds import DAMA, NEVER, RON, TSUMO, add_round, rounds_of
from server.counting import count_rounds
from tests.conftest import DATA
from tests.engine.conftest import Deal
from tests.engine.test_rules_draws import nagashi
from tests.support.plain_plays import count_messages
from tests.support.scenario import Scenario
from tests.support.sides import State

LATER = State(0, 0, 2, 1, (34_000, 35_000, 35_000))


def round_of(table: Scenario) -> np.ndarray:
    """The round that is over."""
    return rounds_of(table.side.raw, np.zeros(1, dtype=np.int64))


def seats_of(table: Scenario, *names: str) -> list[tuple[Any, ...]]:
    """These fields of each seat in the round that is over."""
    (seats,) = round_of(table)
    return [tuple(seat[name].tolist() for name in names) for seat in seats]


def test_a_double_ron_is_one_round_with_a_deal_in_to_two_hands(deal: Deal) -> None:
    table = deal(["234678p2288846s", "5s", "234678p3337746s"], "1z", state=LATER).quiet(1).do("5s", "ron")
    won = ("won", "points", "result", "win_turn", "played")
    assert seats_of(table, *won) == [
        (True, 2_000, RON, 1, DAMA), (False, 0, RON, 0, DAMA), (True, 1_300, RON, 1, DAMA),
    ]  # fmt: skip
    lost = ("dealt_in", "deal_in_points", "lost_points", "change")
    nothing = (False, 0, [0, 0])
    assert seats_of(table, *lost) == [
        (*nothing, 2_000), (True, 3_300, [1_300, 2_000], -3_700), (*nothing, 2_700),
    ]  # fmt: skip
    assert seats_of(table, "honba", "sticks", "final_place") == [(2, 1, 0)] * 3
    assert COUNTS["deal_ins"].of(round_of(table)).tolist() == [[0, 1, 0]]


def test_kyushu_kyuhai_is_of_the_seat_that_declares_it(deal: Deal) -> None:
    table = deal(["1z", "19m19p19s1234z", ""], "2p5z").quiet(1).do("kyushu kyuhai")
    assert seats_of(table, "kyushu", "result", "tenpai") == [
        (False, KYUSHU_KYUHAI, False), (True, KYUSHU_KYUHAI, False), (False, KYUSHU_KYUHAI, False),
    ]  # fmt: skip


def test_nagashi_mangan_is_an_exhaustive_draw_at_which_hands_are_tenpai(deal: Deal) -> None:
    table = nagashi(deal, "123670p123567s5z").quiet(55)
    assert seats_of(table, "result", "tenpai", "nagashi", "repeats", "tenpai_turn") == [
        (NAGASHI_MANGAN, True, True, True, 0),
        (NAGASHI_MANGAN, False, False, False, NEVER),
        (NAGASHI_MANGAN, False, False, False, NEVER),
    ]
    assert [count.of(round_of(table)).tolist() for count in (COUNTS["draws"], COUNTS["wins"])] == [
        [[True, True, True]], [[False, False, False]],
    ]  # fmt: skip


def test_places_at_the_start_and_at_the_end_of_the_game(deal: Deal) -> None:
    """The dealer of the last round wins: the game ends if that makes it the first."""
    hands, fields = ["234678p2288846s"], ("won", "result", "behind", "start_place", "final_place")
    table = deal(hands, "1z2z3z5s", state=State(1, 2, 0, 0, (55_000, 35_000, 15_000))).quiet(3).do("tsumo")
    assert seats_of(table, *fields) == [
        (False, TSUMO, False, 1, 0), (False, TSUMO, True, 2, 0), (True, TSUMO, True, 3, 0),
    ]  # fmt: skip
    table = deal(hands, "1z2z3z5s", state=State(1, 2, 0, 0, (35_000, 30_000, 40_000))).quiet(3).do("tsumo")
    assert seats_of(table, *fields) == [
        (False, TSUMO, False, 2, 2), (False, TSUMO, False, 3, 3), (True, TSUMO, False, 1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("rules", ["tenhou", "majsoul"])
def test_a_game_hands_over_each_round_that_is_over(rules: str) -> None:
    rounds: list[np.ndarray] = []
    game = Game(5, rules, round_over=partial(add_round, rounds))
    choices = np.random.default_rng(1)
    while not game.over:
        assert len(rounds) == sum(message["type"] == "end_kyoku" for message in game.messages)
        for seat in game.asked:
            game.act(seat, int(choices.choice(game.legal(seat))))
    assert count_rounds(rounds) == count_messages(game.messages)
    assert [row["final_place"].tolist() for row in rounds[-1]] == [game.ranks]


def test_counts_of_records_are_those_of_their_messages() -> None:
    """Of games on Tenhou and Mahjong Soul, with all that the fold reads of the messages of each round."""
    n = 0
    for path in find_records([DATA / "records"]):
        record = read_records(path)
        rounds: list[np.ndarray] = []
        replay = Replay(record, round_over=partial(add_round, rounds))
        assert replay.check() == []
        events = [replay.results.get(index, event) for index, event in enumerate(record.events)]
        assert count_rounds(rounds) == count_messages(events)
        n += len(rounds)
    assert n > 100
