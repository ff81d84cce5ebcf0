"""The view that `PlayerState` rebuilds from messages equals the view of the table."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.actions import PASS, PON, RON, actions_of
from engine.game import Game
from engine.mjai.messages import Message, for_seat
from engine.mjai.player_state import PlayerState
from engine.mjai.schema import EVENTS
from engine.records.files import read_records
from engine.records.replay import Replay
from engine.rules import MAJSOUL, TENHOU
from engine.table import GAME_OVER, RESPONSE, ROUND_OVER, packed_rules
from engine.tiles import MJAI_TILES
from tests.support.players import ALL_HABITS, Chooser, efficient_driver, play, random_driver
from tests.support.walls import build_wall, clustered_wall

ALL_RULES = [TENHOU, MAJSOUL, TENHOU.with_length("east"), replace(MAJSOUL.with_length("east"), red_fives=False)]
RESPONDABLE = ("nukidora", "kakan", "ankan")  # a dora indicator may follow while the tile is still on offer


def differences(one: np.record, other: np.record) -> list[str]:
    """Fields, with both their values, in which two views differ."""
    pairs = [("", one, other), *((f"seat {seat} ", one.seat[seat], other.seat[seat]) for seat in range(3))]
    return [
        f"{whose}{name}: {mine[name]} / {theirs[name]}"
        for whose, mine, theirs in pairs
        for name in mine.dtype.names
        if name != "seat" and mine[name].tobytes() != theirs[name].tobytes()
    ]


class TrackedGame:
    """A game with a `PlayerState` for every seat, compared with the table after every action."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.states = [PlayerState() for _ in range(3)]
        self.messages: list[Message] = []  # by seat 0
        self.check()

    def check(self) -> None:
        """Give every seat its new messages, and compare the views."""
        for seat, state in enumerate(self.states):
            fresh = self.game.new_messages(seat)
            for message, following in zip(fresh, [*fresh[1:], {}]):
                state.update(message)
                if following and not (message["type"] in RESPONDABLE and following["type"] == "dora"):
                    assert state.legal == [], f"legal actions between {message} and {following}"
            self.messages += fresh if seat == 0 else []
            view, shown = state.view, self.game.view(seat)
            if self.game.over:
                assert view.seat["score"].tolist() == self.game.scores
                assert (view.phase, state.legal) == (GAME_OVER, [])
            elif view.tobytes() != shown.tobytes():
                raise AssertionError(f"seat {seat} after {self.messages[-4:]}: {differences(view, shown)}")
            elif seat in self.game.asked:
                assert state.legal == self.game.legal(seat) != []
            else:  # no message tells that this seat has passed while another has not answered yet
                assert state.legal == actions_of(*shown.legal[seat].tolist())

    def play(self, choose: Callable[[int], int]) -> TrackedGame:
        """Play to the end by `choose(seat)`; compare after every answer."""
        while not self.game.over:
            for seat in self.game.asked:
                self.game.act(seat, choose(seat))
                self.check()
        return self

    def play_by(self, driver: Chooser) -> TrackedGame:
        def choose(seat: int) -> int:
            hand = self.game.table.seat[seat]
            return driver(hand.hand, int(hand.n_melds), int(self.game.table.drawn), self.game.legal(seat))

        return self.play(choose)


def track_games(seeds: Iterable[int]) -> set[str]:
    """Track games of many kinds; returns the types of all messages seen."""
    kinds: set[str] = set()
    for seed in seeds:
        rng = random.Random(seed)
        driver = efficient_driver(rng, rng.choice(ALL_HABITS)) if seed % 5 else random_driver(rng)
        rules = ALL_RULES[seed % len(ALL_RULES)]
        walls = [clustered_wall(rng) for _ in range(5)] if rules.red_fives and seed % 3 else []
        kinds |= {message["type"] for message in TrackedGame(Game(seed, rules, walls=walls)).play_by(driver).messages}
    return kinds


# Equal to the view of the table ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_views_of_games_with_every_event() -> None:
    assert track_games(range(60)) == EVENTS.keys()


@pytest.mark.slow
def test_views_of_real_games(records_dir: Path) -> None:
    """Every decision of real records, with the view of the seat that made it."""
    n_decisions = 0
    for path in sorted(records_dir.iterdir()):
        record = read_records(path)
        replayed = Replay(record)
        start = record.events[0] | {"rules": replayed.rules.name, "length": replayed.rules.length}
        states, n_received = [PlayerState() for _ in range(3)], 0
        for decision in replayed:
            for event in [start, *record.events[1:]][n_received : decision.n_before]:
                for seat, state in enumerate(states):
                    state.update(for_seat(event, seat))
            n_received = decision.n_before
            view = states[decision.seat].view
            assert differences(view, decision.view) == []
            n_decisions += 1
    assert n_decisions > 4_000


# Where the view is not that of the table ------------------------------------------------------------------------------


def offered_to_both() -> TrackedGame:
    """Seat 0 has discarded a 5p that seat 1 wins on and seat 2 may pon."""
    return TrackedGame(Game(walls=[build_wall(["5p", "46p12345699s777z", "55p"])]))


def test_legal_stays_after_a_pass_until_the_next_message() -> None:
    tracked = offered_to_both()
    game, (_, winner, caller) = tracked.game, tracked.states
    game.act(0, MJAI_TILES["5p"])
    tracked.check()
    assert RON in winner.legal
    assert PON in caller.legal
    game.act(1, PASS)
    tracked.check()
    assert game.legal(1) == []
    assert RON in winner.legal
    game.act(2, PASS)
    tracked.check()
    assert winner.view.seat[1].temporary_furiten


def test_the_last_discard_is_on_offer() -> None:
    game = Game(3)
    game.act(0, game.legal(0)[0])
    messages = game.new_messages(0)
    assert [message["type"] for message in messages[-2:]] == ["dahai", "tsumo"]
    state = PlayerState()
    for message in messages[:-1]:
        state.update(message)
    assert (state.view.phase, state.legal) == (RESPONSE, [])


@pytest.mark.parametrize("without", [(), ("scores",), ("deltas",)])
def test_scores_after_a_round(without: tuple[str, ...]) -> None:
    game = play(Game(5), efficient_driver(random.Random(5), ALL_HABITS[0]))
    state = PlayerState()
    n_ended = 0
    for message in game.new_messages(2):
        ended = message["type"] in ("hora", "ryukyoku")
        state.update({key: value for key, value in message.items() if not ended or key not in without})
        if ended:
            view, n_ended = state.view, n_ended + 1
            assert view.seat["score"].tolist() == message["scores"]
            assert (view.phase, state.legal) == (ROUND_OVER, [])
    assert n_ended > 3


# Rules and games ------------------------------------------------------------------------------------------------------


def test_rules_that_start_game_does_not_name_are_those_given() -> None:
    unnamed = {"type": "start_game", "id": 1, "names": ["a", "b", "c"]}
    for given_rules, expected in [(None, TENHOU), (MAJSOUL, MAJSOUL)]:
        state = PlayerState(given_rules)
        state.update(unnamed)
        assert state.view.rules == packed_rules(expected)
    state.update(unnamed | {"rules": "tenhou", "length": "east"})
    assert state.view.rules == packed_rules(TENHOU.with_length("east"))


def test_a_new_game_starts_anew() -> None:
    used, fresh = PlayerState(), PlayerState()
    first, second = Game(1), Game(2)
    play(first, random_driver(random.Random(1)), 100)
    for message in [*first.new_messages(0), *(messages := second.new_messages(2))]:
        used.update(message)
    for message in messages:
        fresh.update(message)
    assert (used.seat, fresh.seat) == (2, 2)
    assert used.view.tobytes() == fresh.view.tobytes() == second.view(2).tobytes()


# Impossible messages --------------------------------------------------------------------------------------------------


def refused(state: PlayerState, message: Message) -> str:
    """Why a message is refused; the view must not change."""
    before = state.view.tobytes()
    with pytest.raises(ValueError, match=r".") as error:
        state.update(message)
    assert state.view.tobytes() == before
    assert "\n" not in str(error.value)
    return str(error.value)


def tsumo(seat: int, tile: str = "?") -> Message:
    return {"type": "tsumo", "actor": seat, "pai": tile}


def dahai(seat: int, tile: str, tsumogiri: bool = False) -> Message:
    return {"type": "dahai", "actor": seat, "pai": tile, "tsumogiri": tsumogiri}


def pon(seat: int, tile: str, *consumed: str) -> Message:
    return {"type": "pon", "actor": seat, "target": 0, "pai": tile, "consumed": list(consumed)}


def ankan(seat: int, tile: str) -> Message:
    return {"type": "ankan", "actor": seat, "consumed": [tile] * 4}


def daiminkan(seat: int, tile: str) -> Message:
    return {"type": "daiminkan", "actor": seat, "target": 0, "pai": tile, "consumed": [tile] * 3}


def dora(tile: str) -> Message:
    return {"type": "dora", "dora_marker": tile}


def reach(seat: int) -> Message:
    return {"type": "reach", "actor": seat}


RYUKYOKU = {"type": "ryukyoku", "reason": "fanpai", "deltas": [0, 0, 0]}
START = {
    "type": "start_kyoku", "bakaze": "E", "kyoku": 1, "honba": 0, "kyotaku": 0, "oya": 0, "dora_marker": "9s",
    "scores": [35_000] * 3, "tehais": [["?"] * 13, ["5p", "5p", "5p", "5pr", *"ESWNPFC", "1m", "9m"], ["?"] * 13],
}  # fmt: skip
NOT_NOW, TOO_MANY, NOT_ALLOWED = "not this seat's turn", "not that many such tiles", "rules do not allow"


@pytest.mark.parametrize(
    ("earlier", "message", "why"),
    [
        ([], {"type": "hello"}, "'hello' is no message of a game"),
        ([], {}, "None is no message of a game"),
        ([], {"type": "start_game", "id": 3}, "start_game needs 'id', a seat 0 to 2, not 3"),
        ([], {"type": "start_game", "id": 0, "rules": "mine"}, "unknown rules 'mine'"),
        ([], START | {"tehais": [["?"] * 13] * 3}, "start_kyoku needs the 13 tiles of seat 1"),
        ([], START | {"dora_marker": "5p"}, "more tiles of a kind than there are"),
        ([], START | {"dora_marker": "2m"}, "more tiles of a kind than there are"),
        ([], START | {"scores": [35_000] * 4}, "start_kyoku needs 'scores'"),
        ([], START | {"bakaze": "X"}, "start_kyoku is malformed or incomplete"),
        ([], START | {"honba": 1 << 20}, "start_kyoku is malformed or incomplete"),
        ([], {"type": "start_kyoku"}, "start_kyoku needs 'oya'"),
        ([], tsumo(0), NOT_NOW),
        ([], RYUKYOKU, "ryukyoku cannot follow"),
        ([START], tsumo(1, "5s"), NOT_NOW),
        ([START], dahai(0, "5s"), f"dahai 5s of seat 0 cannot follow the messages before it: .*{NOT_NOW}"),
        ([START], {"type": "tsumo", "pai": "?"}, "tsumo needs 'actor'"),
        ([START, tsumo(0)], START, "start_kyoku cannot follow"),
        ([START, tsumo(0)], tsumo(0), NOT_NOW),
        ([START, tsumo(0)], dahai(1, "E"), NOT_NOW),
        ([START, tsumo(0)], dahai(0, "?"), "dahai needs 'pai'"),
        ([START, tsumo(0)], dahai(0, "5p"), TOO_MANY),
        ([START, tsumo(0)], ankan(0, "E"), TOO_MANY),
        ([START, tsumo(0)], {"type": "kakan", "actor": 0, "pai": "8s", "consumed": ["8s"] * 3}, NOT_ALLOWED),
        ([START, tsumo(0)], {"type": "reach_accepted", "actor": 0}, NOT_NOW),
        ([START, tsumo(0)], dora("8s"), "no dora indicator is due"),
        ([START, tsumo(0)], {"type": "end_kyoku"}, "end_kyoku cannot follow"),
        ([START, tsumo(0), dahai(0, "8s")], tsumo(2), NOT_NOW),
        ([START, tsumo(0), dahai(0, "8s")], tsumo(1), "tsumo needs 'pai'"),
        ([START, tsumo(0), dahai(0, "8s")], tsumo(1, "5p"), TOO_MANY),
        ([START, tsumo(0), dahai(0, "8s")], pon(1, "8s", "8s", "8s"), NOT_ALLOWED),
        ([START, tsumo(0), dahai(0, "8s")], pon(2, "7s", "7s", "7s"), NOT_NOW),
        ([START, tsumo(0), dahai(0, "8s")], pon(2, "8s", "8s", "7s"), "pon of 8s cannot consume"),
        ([START, tsumo(0), dahai(0, "8s")], pon(0, "8s", "8s", "8s"), NOT_NOW),
        ([START, tsumo(0), dahai(0, "8s"), pon(2, "8s", "8s", "8s")], dahai(2, "8s"), NOT_ALLOWED),
        ([START, tsumo(0), dahai(0, "8s"), pon(2, "8s", "8s", "8s")], tsumo(2), NOT_NOW),
        ([START, tsumo(0), dahai(0, "8s"), tsumo(1, "E")], dahai(1, "S", True), NOT_ALLOWED),
        ([START, tsumo(0), dahai(0, "8s"), tsumo(1, "E")], dahai(1, "9s"), NOT_ALLOWED),
        ([START, tsumo(0), dahai(0, "8s"), tsumo(1, "E")], reach(1), NOT_ALLOWED),
        ([START, tsumo(0), ankan(0, "8s")], tsumo(0), "a dora indicator must be shown first"),
        ([START, tsumo(0), dahai(0, "8s"), daiminkan(2, "8s"), tsumo(2)], dahai(2, "E"), "a dora indicator must be"),
        ([START, tsumo(0), ankan(0, "8s"), dora("8p")], dora("8p"), "no dora indicator"),
        ([START, tsumo(0), ankan(0, "8s")], dora("5p"), TOO_MANY),
        ([START, tsumo(0), reach(0)], reach(0), NOT_ALLOWED),
        ([START, tsumo(0), reach(0), dahai(0, "8s")], {"type": "reach_accepted", "actor": 2}, NOT_NOW),
        ([START, tsumo(0), RYUKYOKU], RYUKYOKU, "ryukyoku cannot follow"),
        ([START, tsumo(0), RYUKYOKU], tsumo(0), NOT_NOW),
    ],
)
def test_a_message_that_cannot_follow_is_refused(earlier: list[Message], message: Message, why: str) -> None:
    state = PlayerState()
    state.update({"type": "start_game", "id": 1})
    for before in earlier:
        state.update(before)
    assert refused(state, message)
    with pytest.raises(ValueError, match=why):
        state.update(message)


def test_messages_before_start_game_are_refused() -> None:
    for message in (START, tsumo(0), dora("8p"), RYUKYOKU, {"type": "end_game", "scores": [0, 0, 0]}):
        assert refused(PlayerState(), message) == f"{message['type']} before start_game"


@pytest.mark.slow
@settings(max_examples=100)
@given(st.integers(0, 1 << 32), st.integers(0, 2), st.integers(0, 200))
def test_a_message_at_a_wrong_time_is_refused_or_leaves_a_valid_view(seed: int, seat: int, index: int) -> None:
    """Most are refused and leave the view unchanged; the others are possible in that position."""
    rng = random.Random(seed)
    game = play(Game(seed), efficient_driver(rng, rng.choice(ALL_HABITS)), 300)
    messages = game.new_messages(seat)
    state = PlayerState()
    for message in messages[: index + 1]:
        state.update(message)
    taken = 0
    for message in rng.sample(messages, min(len(messages), 150)):
        if message["type"] == "start_game":
            continue
        before = state.view.tobytes()
        try:
            state.update(message)
            taken += 1
        except ValueError:
            assert state.view.tobytes() == before
    view = state.view
    assert taken < 150
    assert (view.seat["hand"][[(seat + 1) % 3, (seat + 2) % 3]] == 0).all()
    assert (view.seat["hand"] >= 0).all()
    assert (view.seen + view.seat[seat].hand <= 4).all()
