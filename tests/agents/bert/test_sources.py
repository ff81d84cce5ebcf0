"""A decision has the same tokens from every source: a replayed table, or the messages that its seat receives."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.game import Game
from engine.mjai.messages import Message, for_seat
from engine.mjai.player_state import PlayerState
from engine.records.files import find_records, read_records
from engine.records.model import GameRecord
from engine.records.replay import Decision, Replay
from engine.rules import MAJSOUL, TENHOU, Rules
from engine.table import TABLE
from tests.support.players import ALL_HABITS, efficient_driver, play, random_driver
from tests.support.reference_encoder import ROWS, reference, sequences, values
from tests.support.walls import clustered_wall

ALL_RULES = (TENHOU, MAJSOUL, TENHOU.with_length("east"))


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


def recorded_game(seed: int, rules: Rules) -> GameRecord:
    """A game with many rare events."""
    rng = random.Random(seed)
    choose = efficient_driver(rng, ALL_HABITS[seed % len(ALL_HABITS)]) if seed % 4 else random_driver(rng)
    game = play(Game(seed, rules, walls=[clustered_wall(rng) for _ in range(4)] if seed % 3 else []), choose)
    return GameRecord(game.messages, rules, "")


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


def tokens_of(record: GameRecord, rules: Rules | None = None) -> list[list[int]]:
    """The tokens of each decision. Replayed tables, player states and the reference encoder must agree on them."""
    shown, followed, by_hand = [], [], []
    for decision, listeners in replayed(record, rules):
        shown.append(decision.view)
        followed.append(listeners.states[decision.seat].view)
        by_hand.append(listeners.reference(decision.seat))
    seen = sequences(np.array(shown, dtype=TABLE))
    assert seen == sequences(np.array(followed, dtype=TABLE))
    assert seen == by_hand
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_records_of_our_games(seed: int) -> None:
    """Replayed tables have the views of live ones: see tests/engine/test_replay.py."""
    rules = ALL_RULES[seed % 3]
    assert len(tokens_of(recorded_game(seed, rules), rules)) > 50


def test_real_records(records_dir: Path) -> None:
    """In mjlog, Tenhou's JSON and mjai. They have tokens of every row, and every tile that is in use."""
    decisions = [found for path in find_records([records_dir]) for found in tokens_of(read_records(path))]
    assert len(decisions) > 4_000
    seen = values(sorted({token for sequence in decisions for token in sequence}))
    assert {row.name for row in ROWS} - seen.keys() == {"[PAD]", "[MASK]", "[UNK]"}
    for name, size in (("style", 2), ("player_id", 3), ("kyoku", 3), ("honba", 4), ("kyotaku", 3), ("num_pipais", 12)):
        assert seen[name] == list(range(size))
    assert len(seen["tehai"]) == len(seen["tsumo"]) == 29
