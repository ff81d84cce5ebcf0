"""A decision has the same tokens from every source: a live table, records, or the messages that its seat receives."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import registry
from engine.game import Game
from engine.mjai.messages import Message, for_seat
from engine.mjai.player_state import PlayerState
from engine.records.files import find_records, read_records, write_record
from engine.records.model import GameRecord
from engine.records.replay import Decision, Replay
from engine.rules import MAJSOUL, TENHOU, Rules
from engine.table import TABLE
from engine.tables import Tables
from tests.support.bert_digest import digest
from tests.support.players import ALL_HABITS, efficient_driver, random_driver
from tests.support.reference_encoder import ROWS, reference, sequences, values
from tests.support.walls import clustered_wall

REPOSITORY = Path(__file__).resolve().parents[3]
ALL_RULES = (TENHOU, MAJSOUL, TENHOU.with_length("east"))
# (seat, number of messages before the decision) -> (action, tokens)
Decisions = dict[tuple[int, int], tuple[int, list[int]]]


class Listeners:
    """The three seats of a game, each of which knows only the messages it has received."""

    def __init__(self) -> None:
        self.states = [PlayerState() for _ in range(3)]
        self.received: list[list[Message]] = [[], [], []]  # start_game and the messages of this round

    def receive(self, message: Message) -> None:
        """Send a message to each seat, in the form it may see."""
        for seat, (state, received) in enumerate(zip(self.states, self.received, strict=True)):
            seen = for_seat(message, seat)
            state.update(seen)
            if seen["type"] == "start_kyoku":
                del received[1:]
            received.append(seen)

    def reference(self, seat: int) -> list[int]:
        """The tokens of `seat` by the reference encoder."""
        return reference(self.received[seat], seat, self.states[seat].legal)


def tokens(views: list[Any]) -> list[list[int]]:
    """The sequences of views, each a TABLE record."""
    return sequences(np.frombuffer(b"".join(view.tobytes() for view in views), dtype=TABLE))


def play(seed: int, rules: Rules) -> tuple[GameRecord, Decisions]:
    """A game with many rare events: its record, and its decisions as the live table shows them."""
    rng = random.Random(seed)
    choose = efficient_driver(rng, ALL_HABITS[seed % len(ALL_HABITS)]) if seed % 4 else random_driver(rng)
    game = Game(seed, rules, walls=[clustered_wall(rng) for _ in range(4)] if seed % 3 else [])
    keys, actions, views = [], [], []
    while not game.over:
        for seat in game.asked:
            t = game.table
            keys.append((seat, len(game.messages)))
            actions.append(choose(t.seat[seat].hand, int(t.seat[seat].n_melds), int(t.drawn), game.legal(seat)))
            views.append(game.view(seat))
            game.act(seat, actions[-1])
    return GameRecord(game.messages, rules, ""), dict(zip(keys, zip(actions, tokens(views), strict=True), strict=True))


def replayed(record: GameRecord, rules: Rules | None = None) -> Iterator[tuple[Decision, Listeners]]:
    """Replay a record: its decisions, with the seats that receive its messages."""
    replay, listeners, n_received = Replay(record, rules), Listeners(), 0
    start = record.events[0] | {"rules": replay.rules.name, "length": replay.rules.length}
    messages = [start, *record.events[1:]]
    for decision in replay:
        for message in messages[n_received : decision.n_before]:
            listeners.receive(message)
        n_received = decision.n_before
        yield decision, listeners
    assert replay.mismatches == []


def decisions_of(record: GameRecord, rules: Rules | None = None) -> Decisions:
    """The decisions of a record. Replayed tables, player states and reference encoder must agree on the tokens."""
    keys, actions, shown, followed, by_hand = [], [], [], [], []
    for decision, listeners in replayed(record, rules):
        keys.append((decision.seat, decision.n_before))
        actions.append(decision.action)
        shown.append(decision.view)
        followed.append(listeners.states[decision.seat].view)
        by_hand.append(listeners.reference(decision.seat))
    seen = tokens(shown)
    assert seen == tokens(followed)
    assert seen == by_hand
    return dict(zip(keys, zip(actions, seen, strict=True), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".mjson", ".json"])
@pytest.mark.parametrize("seed", range(12))
def test_records_of_our_games(seed: int, ending: str, tmp_path: Path) -> None:
    """In mjai and in Tenhou's format. A call that somebody's ron overrides is in no record."""
    rules = ALL_RULES[seed % 3]
    record, live = play(seed, rules)
    write_record(record, tmp_path / f"game{ending}")
    recorded = decisions_of(read_records(tmp_path / f"game{ending}"), rules)
    assert recorded.items() <= live.items()
    overridden = live.keys() - recorded.keys()
    assert {record.events[n_received]["type"] for _, n_received in overridden} <= {"hora"}
    assert len(overridden) < 8 < 50 < len(recorded)


def test_real_records(records_dir: Path) -> None:
    """In mjlog, Tenhou's JSON and mjai. They have tokens of every row, and every tile that is in use."""
    decisions = [found for path in find_records([records_dir]) for found in decisions_of(read_records(path)).values()]
    assert len(decisions) > 4_000
    seen = values(sorted({token for _, sequence in decisions for token in sequence}))
    assert {row.name for row in ROWS} - seen.keys() == {"[PAD]", "[MASK]", "[UNK]"}
    for name, size in (("style", 2), ("player_id", 3), ("kyoku", 3), ("honba", 4), ("kyotaku", 3), ("num_pipais", 12)):
        assert seen[name] == list(range(size))
    assert len(seen["tehai"]) == len(seen["tsumo"]) == 29


def test_tables_in_lock_step_and_one_game() -> None:
    bot = registry.make("efficiency")
    at_tables: list[list[int]] = []

    def watch(views: np.ndarray) -> np.ndarray:
        at_tables.extend(sequences(views))
        return bot.act(views)

    for _ in Tables([5]).play([watch], np.zeros((1, 3), dtype=np.int8)):
        pass
    game, views = Game(5), []
    while not game.over:
        for seat in game.asked:
            views.append(game.view(seat))
            game.act(seat, int(bot.act(np.array([views[-1]]))[0]))
    assert tokens(views) == at_tables


@pytest.mark.slow
def test_the_same_without_compiled_code() -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "tests.support.bert_digest", "7"],
        cwd=REPOSITORY,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.strip() == digest(7)
    assert digest(8) != digest(7)
