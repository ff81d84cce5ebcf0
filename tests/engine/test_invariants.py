"""Invariants of every step of a game: points and tiles are conserved, views hide what they must, snapshots restore."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import make
from engine import table_kernels
from engine.game import Game
from engine.mjai.messages import Message, for_seat
from engine.mjai.round_events import round_messages
from engine.table import DEALT, EVERYBODY, SEAT, TABLE, URA_AT, WALL_SIZE
from engine.tables import Policy, Tables
from engine.tiles import N_TILES
from tests.support.conservation import DRAWS, FAULTS, HAND_SIZE, KEYS, POINTS, SEEN, TILES, find_fault
from tests.support.players import ALL_HABITS, efficient_driver, play, random_driver

TABLES_AT_ONCE = 1_000


# Nothing is lost or made ----------------------------------------------------------------------------------------------


def check(tables: Tables) -> None:
    table, fault = find_fault(tables.raw)
    assert fault < 0, f"table {table} (seed {tables.records['seed'][table]}): {FAULTS[fault]}"


def checked(policy: Policy, tables: Tables) -> Policy:
    """The policy, with a check of all tables before each of its actions."""

    def act(views: np.ndarray) -> np.ndarray:
        check(tables)
        return policy(views)

    return act


@pytest.mark.parametrize("bot", ["random", "efficiency"])
def test_points_and_tiles_are_conserved(bot: str, conservation_games: int) -> None:
    """Random play makes calls and kans, efficient play wins; mixed tables have both."""
    games, rounds = conservation_games, 0
    for first in range(0, games, TABLES_AT_ONCE):
        seeds = np.arange(first, min(first + TABLES_AT_ONCE, games), dtype=np.uint64)
        tables = Tables(seeds)
        players = np.zeros((len(seeds), 3), dtype=np.int8)
        players[::3, 1] = 1
        policies = [make(bot, 1).act, make("random", 2).act]
        for ended in tables.play([checked(policy, tables) for policy in policies], players):
            rounds += len(ended)
            check(tables)
        check(tables)
        assert (tables.records["sticks"] == 0).all()
    assert rounds >= 3 * games // 2


@pytest.mark.parametrize(
    ("fault", "spoil"),
    [
        (POINTS, lambda t: t.seat[2].__setattr__("score", t.seat[2].score + 100)),
        (HAND_SIZE, lambda t: t.seat[0].hand.__setitem__(30, t.seat[0].hand[30] + 1)),
        (KEYS, lambda t: t.seat[1].hand_keys.__setitem__(0, 1)),
        (SEEN, lambda t: t.seen.__setitem__(30, t.seen[30] + 1)),
        (TILES, lambda t: t.wall.__setitem__(WALL_SIZE - 1, (t.wall[WALL_SIZE - 1] + 1) % 2)),
        (DRAWS, lambda t: t.__setattr__("live_left", t.live_left + 1)),
    ],
    ids=["points", "hand size", "keys", "seen", "tiles", "draws"],
)
def test_the_checks_find_each_fault(fault: int, spoil: Callable[[np.record], None]) -> None:
    tables = Tables([1, 2, 3])
    assert find_fault(tables.raw) == (-1, -1)
    spoil(tables.records[1])
    assert find_fault(tables.raw) == (1, fault)


# Positions to look at -------------------------------------------------------------------------------------------------


@st.composite
def positions(draw: st.DrawFn) -> Game:
    """A game after some random actions, in which a seat is asked."""
    rng = random.Random(draw(st.integers(0, 1 << 32)))
    driver = draw(st.sampled_from([random_driver(rng), *(efficient_driver(rng, habits) for habits in ALL_HABITS)]))
    game = Game(seed=draw(st.integers(0, (1 << 64) - 1)))
    play(game, driver, draw(st.integers(0, 300)))
    return game if not game.over else Game(seed=game.table.seed)


# Hidden information is not sent ------------------------------------------------------------------------------------

# What is not listed counts as hidden: a new field of the records must be blanked in views or listed here.
PUBLIC_IN_SEAT = {
    "discarded", "score", "start_score", "n_melds", "meld_type", "meld_kind", "meld_red", "meld_called", "meld_from",
    "open", "nukidora", "n_river", "river", "riichi", "riichi_river", "ippatsu", "nagashi", "pao_daisangen",
    "pao_daisuushii",
}  # fmt: skip
PUBLIC = {
    "log", "ryukyoku_deltas", "n_log", "honba", "sticks", "rules", "viewer", "phase", "wall_given", "round_wind",
    "dealer", "turn", "after_replacement", "offer", "offer_type", "riichi_pending", "kuikae", "first_turn", "live_left",
    "n_replacements", "n_indicators", "pending_indicators", "n_kans", "n_wins", "ryukyoku_reason", "ryukyoku_tenpai",
    "dealer_stays", "seen", "known_by",
}  # fmt: skip
PARTLY_PUBLIC = {"seat", "legal", "win", "answer", "drawn", "wall"}
# What the scorer leaves in the second win when it has looked at somebody's hand and nobody, or one seat, has won.
SCRATCH = ("basic", "fu", "han", "yakuman", "yaku")


def noise(record: np.record, name: str, rng: np.random.Generator) -> None:
    """Random bytes for one field."""
    field = record[name]
    random = np.frombuffer(rng.bytes(field.nbytes), dtype=field.dtype)
    record[name] = random.reshape(field.shape) if field.shape else random[0]


def shuffle_hidden(table: np.ndarray, viewer: int, rng: np.random.Generator) -> None:
    """Change everything `viewer` may not know on the one table in `table`, TABLE[1]."""
    t = table[0]
    for name in set(TABLE.names) - PUBLIC - PARTLY_PUBLIC:
        noise(t, name, rng)
    for other in range(3):
        t.answer[other] = rng.integers(-1, 100)
        if other != viewer:
            t.legal[other] = rng.integers(1 << 63, size=2, dtype=np.uint64)
            for name in set(SEAT.names) - PUBLIC_IN_SEAT:
                noise(t.seat[other], name, rng)
    if t.turn != viewer:
        t.drawn = rng.integers(N_TILES)
    if t.n_wins < 2:
        for name in SCRATCH:
            noise(t.win[1], name, rng)
    hidden = np.flatnonzero((t.known_by != viewer) & (t.known_by != EVERYBODY))
    assert np.isin(URA_AT[:3], hidden).all()
    assert (hidden < DEALT).any()
    t.wall[hidden] = rng.integers(N_TILES, size=len(hidden))


@pytest.mark.slow
@settings(max_examples=200)
@given(positions(), st.integers(0, 2), st.integers(0, 1 << 32))
def test_a_view_does_not_depend_on_what_is_hidden(game: Game, viewer: int, seed: int) -> None:
    before = game.view(viewer)
    changed = np.array([game.table], dtype=TABLE)
    shuffle_hidden(changed, viewer, np.random.default_rng(seed))
    assert changed.tobytes() != np.array([game.table], dtype=TABLE).tobytes()
    seen = np.zeros(1, dtype=TABLE)
    table_kernels.write_view(changed.view(np.uint8), 0, viewer, seen.view(np.uint8), 0)
    different = [name for name in TABLE.names if seen[0][name].tobytes() != before[name].tobytes()]
    assert different == []


@settings(max_examples=100)
@given(positions())
def test_a_view_shows_what_its_seat_may_know(game: Game) -> None:
    for seat in range(3):
        view, t = game.view(seat), game.table
        assert view.viewer == seat
        assert view.seat[seat].tobytes() == t.seat[seat].tobytes()
        known = [index for index in range(WALL_SIZE) if t.known_by[index] in (seat, EVERYBODY)]
        assert (view.wall[known] == t.wall[known]).all()
        assert view.legal[seat].tolist() == t.legal[seat].tolist()
        for name in ("log", "seen", "honba", "sticks", "live_left", "offer", "n_indicators", "phase"):
            assert view[name].tobytes() == t[name].tobytes()


@pytest.mark.slow
@settings(max_examples=100)
@given(positions(), st.integers(0, 2))
def test_messages_for_a_seat_are_those_of_its_view(game: Game, seat: int) -> None:
    """So they contain nothing that the view does not contain."""
    view = game.view(seat)
    assert round_messages(view) == [for_seat(message, seat) for message in round_messages(game.table)]


@pytest.mark.slow
@settings(max_examples=30)
@given(st.integers(0, 1 << 32), st.integers(0, 2))
def test_messages_for_a_seat_name_no_hidden_tile(seed: int, seat: int) -> None:
    """In a whole game: tiles of others are unknown until shown, ura indicators are shown only after riichi."""
    rng = random.Random(seed)
    game = play(Game(seed=seed), efficient_driver(rng, rng.choice(ALL_HABITS)))
    messages = game.new_messages(seat)
    assert len(messages) == len(game.messages)
    riichi: set[int] = set()
    for message, whole in zip(messages, game.messages, strict=True):
        name, actor = message["type"], message.get("actor")
        if name == "start_kyoku":
            riichi.clear()
            assert [hand == ["?"] * 13 for hand in message["tehais"]] == [other != seat for other in range(3)]
        elif name == "tsumo":
            assert (message["pai"] == "?") == (actor != seat)
        elif name == "reach_accepted":
            riichi.add(actor)
        elif name == "hora":
            assert bool(message["uradora_markers"]) == (actor in riichi)
        elif name == "ryukyoku":
            for hand, tenpai in zip(message["tehais"], message["tenpais"], strict=True):
                assert ("?" in hand) != tenpai
        else:
            assert {"?"}.isdisjoint(map(str, message.values()))
        assert message == whole or name in ("start_game", "start_kyoku", "tsumo")


# Time can be turned back ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=50)
@given(positions(), st.integers(0, 1 << 32))
def test_a_restored_game_has_the_same_future(game: Game, seed: int) -> None:
    def future() -> tuple[list[Message], list[int], list[float]]:
        play(game, efficient_driver(random.Random(seed), ALL_HABITS[seed % len(ALL_HABITS)]))
        return list(game.messages), game.scores, game.final_points

    snapshot = game.snapshot()
    past = len(game.messages)
    first = future()
    assert len(first[0]) > past
    game.restore(snapshot)
    assert len(game.messages) == past
    assert future() == first
