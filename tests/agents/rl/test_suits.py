"""A network sees a game in which pin and sou have changed places as the same game."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from agents.rl.families import FAMILIES, features_named
from agents.rl.oracle import N_ORACLE, TILES_AT, write_oracle
from agents.rl.rows import encode
from engine.actions import ANKAN, TSUMOGIRI
from engine.records.files import read_records
from engine.records.replay import Decision, Replay
from engine.table import TABLE
from engine.tiles import MJAI_NAMES, PIN, SOU

GAME = Path(__file__).parents[3] / "examples" / "game.mjson"


def other_suit(name: str) -> str:
    """The name of a tile, or a line of them, with pin and sou exchanged."""
    return re.sub(r'"(\d)([ps])(r?)"', lambda found: f'"{found[1]}{"sp"["ps".index(found[2])]}{found[3]}"', name)


def mirrored_action(number: int) -> int:
    """The action that it is in the mirrored game."""
    if number < TSUMOGIRI:
        return MJAI_NAMES.index(other_suit(f'"{MJAI_NAMES[number]}"').strip('"'))
    if number < ANKAN:
        return number
    kind = (number - ANKAN) % 34
    return number + (SOU - PIN if PIN <= kind < SOU else PIN - SOU if SOU <= kind < 27 else 0)


def more_of_a_suit(decision: Decision) -> bool:
    """Whether the seat has more of pin or of sou."""
    seat = decision.table["seat"][decision.seat]
    counts = [int(seat["hand"][at : at + 9].sum()) for at in (PIN, SOU)]
    for kind in seat["meld_kind"][: seat["n_melds"]].tolist():
        if PIN <= kind < 27:
            counts[kind // 9 - 1] += 3
    return counts[0] != counts[1]


def oracle_of(decision: Decision) -> np.ndarray:
    """What the critic sees of the tiles of opponents (the wall of a replay is unknown)."""
    out = np.empty((1, N_ORACLE), dtype=np.float32)
    players = np.zeros((1, 3), dtype=np.int8)
    write_oracle(decision.raw, players, np.zeros(1, np.int32), np.array([decision.seat], np.int8), out)
    return out[:, TILES_AT:]


@pytest.mark.parametrize("family", FAMILIES)
def test_pin_and_sou_are_alike(tmp_path: Path, family: str) -> None:
    mirror = tmp_path / "mirror.mjson"
    mirror.write_text("".join(map(other_suit, GAME.read_text().splitlines(keepends=True))))
    features, compared = features_named(family), 0
    replays = [Replay(read_records(path)) for path in (GAME, mirror)]
    for one, other in zip(*replays, strict=True):
        if not more_of_a_suit(one):
            continue
        views = [np.array([each.view], dtype=TABLE) for each in (one, other)]
        (_, rows), (_, mirrored) = (encode(features, view) for view in views)
        np.testing.assert_allclose(rows.states, mirrored.states, atol=1e-5)
        np.testing.assert_allclose(oracle_of(one), oracle_of(other), atol=1e-5)
        order = np.argsort([mirrored_action(number) for number in mirrored.numbers.tolist()])
        np.testing.assert_allclose(rows.actions, mirrored.actions[order], atol=1e-5)
        np.testing.assert_allclose(rows.base, mirrored.base[order], atol=1e-5)
        compared += len(rows.view)
    assert compared > 30
    assert not any(replay.mismatches for replay in replays)
