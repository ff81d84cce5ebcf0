"""Wrong calls from Python: each raises one clear line and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine.actions import KAKAN, N_ACTIONS, PASS, TSUMOGIRI
from engine.game import Game, IllegalAction
from engine.mjai.player_state import PlayerState
from engine.records.replay import Replay
from engine.rules import MAJSOUL
from engine.tables import Tables

Call = Callable[[], Any]
SEED = "^seed must be an integer from 0 to 2\\^64 - 1, not "
SEAT = "^seat must be 0, 1 or 2, not "
GAME = Game(7)
TABLES = Tables(range(2))
SEATS = np.zeros((2, 3), dtype=np.int8)


def any_policy(views: np.ndarray) -> np.ndarray:
    return np.full(len(views), TSUMOGIRI)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Game("7"), TypeError, SEED + "'7'$"),  # type: ignore[arg-type]
        (lambda: Game(True), TypeError, SEED + "True$"),
        (lambda: Game(1.0), TypeError, SEED),  # type: ignore[arg-type]
        (lambda: Game(-1), ValueError, SEED + "-1$"),
        (lambda: Game(1 << 64), ValueError, SEED),
        (lambda: Game(rules="majsou"), ValueError, "^unknown rules 'majsou': choose one of tenhou, majsoul$"),
        (lambda: Game(rules=3), TypeError, "^rules must be one of 'tenhou', 'majsoul', or .*, not 3$"),  # type: ignore[arg-type]
        (lambda: Game(names=("a", "b")), ValueError, "^names must be three, one for each seat, not 2"),
        (lambda: Game(names="abc"), TypeError, "^names must be three texts, such as .*, not 'abc'$"),
        (lambda: Game(scores=(1, 2)), ValueError, "^scores must be three, one for each seat, not 2"),
        (lambda: Game(scores=(0, 0, 0)), ValueError, r"^starting scores must add up to 105000, not 0: \(0, 0, 0\)$"),
        (lambda: Game(scores=(-100, 35_000, 70_100)), ValueError, "multiple of 100 from 0 to 105000, not -100$"),
        (lambda: Game(scores=(50, 35_000, 69_950)), ValueError, "multiple of 100 from 0 to 105000, not 50$"),
        (lambda: Game(scores=3), TypeError, "^scores must be three integers, .* not 3$"),  # type: ignore[arg-type]
        (lambda: Tables([1], scores=np.zeros((2, 3), dtype=np.int64)), ValueError, r"int\[1, 3\] .* not \[2, 3\]$"),
        (
            lambda: GAME.act(0, "tsumogiri"),
            TypeError,
            r"tsumogiri is 37\), or one of game.legal\(0\), not 'tsumogiri'$",
        ),  # type: ignore[arg-type]
        (lambda: GAME.act(0, "nonsense"), TypeError, "^action must be a number of engine.actions, or one of"),  # type: ignore[arg-type]
        (lambda: GAME.act(0, None), TypeError, "not None$"),  # type: ignore[arg-type]
        (lambda: GAME.act(0, 3.0), TypeError, "not 3.0$"),  # type: ignore[arg-type]
        (lambda: GAME.act(0, True), TypeError, "not True$"),
        (lambda: GAME.act(0, np.int64(N_ACTIONS)), IllegalAction, f"not {N_ACTIONS}$"),
        (lambda: GAME.act(0, 999), IllegalAction, "^seat 0 may not answer 999; legal: discard"),
        (lambda: GAME.act(0, 1 << 70), IllegalAction, "^seat 0 may not answer"),
        (lambda: GAME.act(0, -1), IllegalAction, "^seat 0 may not answer -1; legal: discard"),
        (lambda: GAME.act(0, PASS), IllegalAction, "^seat 0 may not pass; legal: discard"),
        (lambda: GAME.act(1, PASS), IllegalAction, r"^seat 1 is not asked now \(asked: \[0\]\), so it cannot pass$"),
        (lambda: GAME.act(3, PASS), ValueError, SEAT + "3$"),
        (lambda: GAME.act([0], PASS), TypeError, SEAT),  # type: ignore[arg-type]
        (lambda: GAME.legal(-1), ValueError, SEAT + "-1$"),
        (lambda: GAME.legal(1 << 64), ValueError, SEAT),
        (lambda: GAME.legal("0"), TypeError, SEAT + "'0'$"),  # type: ignore[arg-type]
        (lambda: GAME.view(3), ValueError, SEAT + "3$"),
        (lambda: GAME.view(None), TypeError, SEAT + "None$"),  # type: ignore[arg-type]
        (lambda: GAME.new_messages(-1), ValueError, SEAT + "-1$"),
        (lambda: Tables(5), TypeError, "^seeds must be a sequence with a seed for each game, .* not 5$"),  # type: ignore[arg-type]
        (lambda: Tables("12"), TypeError, "^seeds must be a sequence"),  # type: ignore[arg-type]
        (lambda: Tables([1, -1]), ValueError, SEED + "-1$"),
        (lambda: Tables([0.5]), TypeError, SEED + "0.5$"),  # type: ignore[list-item]
        (lambda: Tables(np.array([3, -1])), ValueError, SEED + "-1$"),
        (lambda: Tables(np.zeros(3)), TypeError, r"^seeds must be one row of integers, not float64\[3\]$"),
        (lambda: Tables([1], rules="emaj"), ValueError, "^unknown rules 'emaj'"),
        (lambda: Tables([1], batch=1), ValueError, "^batch must be a number of views from 2 on, not 1$"),
        (lambda: TABLES.play_round(any_policy, SEATS), TypeError, "^policies must be a sequence of functions"),  # type: ignore[arg-type]
        (lambda: TABLES.play_round([any_policy], SEATS[0]), ValueError, r"^players must be integers\[2, 3\], .*\[3\]$"),
        (lambda: TABLES.play_round([any_policy], SEATS + 1), ValueError, "^players must be 0 to 0, the indices"),
        (lambda: next(TABLES.play([any_policy], SEATS - 1)), ValueError, "^players must be 0 to 0"),
        (lambda: PlayerState("emaj"), ValueError, "^unknown rules 'emaj'"),
        (lambda: PlayerState().update("tsumo"), ValueError, "^a message is a dict, such as .*, not 'tsumo'$"),  # type: ignore[arg-type]
        (lambda: Replay("game.mjson"), TypeError, "read_records.FILE. returns, not 'game.mjson'$"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_call_raises_one_line(call: Call, error: type[Exception], message: str) -> None:
    before = GAME.snapshot(), TABLES.raw.tobytes()
    with pytest.raises(error, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)
    assert type(raised.value) is error
    assert (GAME.snapshot(), TABLES.raw.tobytes()) == before


def test_what_is_accepted_beside_plain_numbers() -> None:
    game = Game(np.uint64(7), "majsoul", ["Aki", "Ben", "Chi"])
    assert (game.rules, game.names) == (MAJSOUL, ("Aki", "Ben", "Chi"))
    seat = np.int8(game.asked[0])
    game.act(seat, np.int16(game.legal(seat)[0]))
    assert Tables([(1 << 64) - 1, 3], "majsoul").records["rules"]["double_yakuman"].tolist() == [1, 1]
    assert Tables(np.array([1, 2], dtype=np.int32)).records["seed"].tolist() == Tables([1, 2]).records["seed"].tolist()


def test_every_number_of_an_action_is_checked_by_the_rules() -> None:
    game = Game(7)
    legal = set(game.legal(0))
    for action in set(range(KAKAN)) - legal:
        with pytest.raises(IllegalAction):
            game.act(0, action)
    game.act(0, legal.pop())
