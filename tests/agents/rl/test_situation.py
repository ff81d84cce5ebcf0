"""Situations at the start of rounds, said again in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytest

from agents.registry import make
from agents.rl.situation import situations_of
from engine import kernels
from engine.rules import TENHOU, Rules
from engine.table import GAME_OVER, TABLE, packed_rules
from engine.tables import Tables

HANDICAPS = np.array([[35_000, 35_000, 35_000], [25_000, 40_000, 40_000], [45_000, 25_000, 35_000]])


def starts_of_rounds(rules: Rules, n: int = 30) -> np.ndarray:
    """TABLE[:]: the tables of `n` games between `rule` at the start of each round."""
    tables, bot = Tables(range(n), rules, scores=HANDICAPS[np.arange(n) % len(HANDICAPS)]), make("rule")
    found: list[np.ndarray] = []
    while kernels.next_rounds(tables.raw):  # games are not over
        found.append(tables.records[tables.records["phase"] != GAME_OVER])
        tables.play_round([bot.act], np.zeros((n, 3), dtype=np.int8))
    return np.concatenate(found)


def one_of(n: int, at: int) -> list[float]:
    """`n` numbers of which that at `at` is 1, the others 0."""
    assert 0 <= at < n
    return [float(i == at) for i in range(n)]


def plain_situation(t: Any, seat: int, players: Sequence[int], first_wind: int) -> list[float]:
    """The numbers of the situation of `seat` at the table `t`, whose East is `first_wind` of a hanchan."""
    scores, dealer = t["seat"]["score"].tolist(), int(t["dealer"])
    seats = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]  # from each seat on, in turn
    return [
        *((scores[each] - 35_000) / 20_000 for each in seats[seat]),
        *one_of(3, seats[dealer].index(seat)),
        *one_of(9, 3 * (first_wind + int(t["round_wind"])) + dealer),
        int(t["honba"]) / 4,
        int(t["sticks"]) / 3,
        *one_of(3, TENHOU.ranks(scores)[seat] - 1),
        *one_of(3, seat),
        1.0,
        *(float(players[each] != 0) for each in seats[seat]),
    ]


@pytest.mark.parametrize(("length", "first_wind"), [("east", 1), ("hanchan", 0)])
def test_situations_are_those_of_the_tables(length: Literal["east", "hanchan"], first_wind: int) -> None:
    tables = starts_of_rounds(TENHOU.with_length(length))
    players = np.random.default_rng(1).integers(3, size=(len(tables), 3)).astype(np.int8)
    expected = [
        [plain_situation(t, seat, row, first_wind) for seat in range(3)] for t, row in zip(tables, players.tolist())
    ]
    np.testing.assert_allclose(situations_of(tables, players), expected, rtol=0, atol=1e-6)
    for name in ("dealer", "honba", "sticks"):
        assert tables[name].any(), name
    assert length == "east" or tables["round_wind"].any()


@pytest.mark.parametrize("dealer", range(3))
def test_ties_go_to_the_seat_nearer_the_first_dealer_whoever_deals(dealer: int) -> None:
    tables = np.zeros(3, dtype=TABLE)
    tables["rules"], tables["dealer"] = packed_rules(TENHOU), dealer
    tables["seat"]["score"] = [[35_000, 35_000, 35_000], [25_000, 40_000, 40_000], [40_000, 25_000, 40_000]]
    ranks = situations_of(tables, np.zeros((3, 3), dtype=np.int8))[:, :, 17:20].argmax(axis=2)
    assert ranks.tolist() == [[0, 1, 2], [2, 0, 1], [0, 2, 1]]
