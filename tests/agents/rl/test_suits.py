"""A network sees a game in which pin and sou are swapped as the same game."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import ne
from pathlib import Path

import numpy as np
import pytest

from agents.rl.families import FAMILIES, features_named
from agents.rl.oracle import N_ORACLE, ORACLE, write_oracle
from agents.rl.rows import encode
from engine.actions import ANKAN, TSUMOGIRI
from engine.records.files import read_records
from engine.records.replay import Decision, Replay
from engine.table import TABLE
from engine.tiles import HONOUR, MJAI_NAMES, PIN, SOU
from tests.support.swapped_suits import counts_of_suits

GAME = Path(__file__).parents[3] / "examples" / "game.mjson"
N_TILES = ORACLE.line_up - ORACLE.opponents  # features of the tiles held and of the waits of both opponents


def swapped(text: str) -> str:
    """A line of mjai, with pin and sou swapped."""
    return re.sub(r'"(\d)([ps])(r?)"', lambda found: f'"{found[1]}{"sp"["ps".index(found[2])]}{found[3]}"', text)


def swapped_action(number: int) -> int:
    """What an action is in the swapped game; itself if it is none."""
    if 0 <= number < TSUMOGIRI:
        return MJAI_NAMES.index(swapped(f'"{MJAI_NAMES[number]}"').strip('"'))
    kind = (number - ANKAN) % 34 if number >= ANKAN else 0
    return number + (SOU - PIN if PIN <= kind < SOU else PIN - SOU if SOU <= kind < HONOUR else 0)


def tiles_of_opponents(decision: Decision) -> np.ndarray:
    """What the critic sees of the tiles of opponents, float32[N_TILES]."""
    out = np.empty((1, N_ORACLE), dtype=np.float32)
    players = np.zeros((1, 3), dtype=np.int8)
    write_oracle(decision.raw, players, np.zeros(1, np.int32), np.array([decision.seat], np.int8), out)
    return out[0, ORACLE.opponents : ORACLE.line_up]


@pytest.fixture
def games(tmp_path: Path) -> Iterator[Iterator[tuple[Decision, Decision]]]:
    """The decisions of a game and of the swapped one, except where pin and sou are held alike."""
    swapped_game = tmp_path / "swapped.mjson"
    swapped_game.write_text("".join(map(swapped, GAME.read_text().splitlines(keepends=True))))
    replays = [Replay(read_records(path)) for path in (GAME, swapped_game)]
    yield ((one, other) for one, other in zip(*replays, strict=True) if ne(*counts(one)))
    assert not any(replay.mismatches for replay in replays)


def counts(decision: Decision) -> tuple[list[int], list[int]]:
    """See `counts_of_suits`."""
    return counts_of_suits(decision.table, decision.seat)


@pytest.mark.parametrize("family", FAMILIES)
def test_pin_and_sou_are_alike(games: Iterator[tuple[Decision, Decision]], family: str) -> None:
    features, compared, ties = features_named(family), 0, 0
    for one, other in games:
        views = [np.array([each.view], dtype=TABLE) for each in (one, other)]
        (forced, rows), (their_forced, theirs) = (encode(features, view) for view in views)
        assert forced[0] == swapped_action(int(their_forced[0]))
        numbers = [swapped_action(number) for number in theirs.numbers.tolist()]
        order = np.argsort(numbers)
        assert rows.numbers.tolist() == sorted(numbers)
        np.testing.assert_allclose(rows.states, theirs.states, atol=1e-5)
        np.testing.assert_allclose(rows.actions, theirs.actions[order], atol=1e-5)
        np.testing.assert_allclose(rows.prior_logits, theirs.prior_logits[order], atol=1e-5)
        np.testing.assert_allclose(tiles_of_opponents(one), tiles_of_opponents(other), atol=1e-5)
        compared += len(rows.view)
        pin, sou = counts(one)
        ties += pin[0] == sou[0]
    assert compared > 30
    assert ties > 0
