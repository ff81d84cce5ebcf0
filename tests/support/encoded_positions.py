"""Positions played by script as their tokens, sorted by the document's rows."""

from __future__ import annotations

from engine.tiles import MJAI_NAMES, MPSZ_NAMES
from tests.support.reference_encoder import CLS, EOS, SEP, TILES, sequences, values
from tests.support.scenario import Scenario
from tests.support.scripted_positions import view_of

# tile37 in mpsz, in the document's order
ORDER = [MPSZ_NAMES[MJAI_NAMES.index(tile)] for tile in TILES]
# the tiles that three players use
IN_USE = [tile for tile in ORDER if tile in ("1m", "9m") or tile[1] != "m"]


def places(text: str) -> list[int]:
    """Places in the document's order of tiles written in mpsz, one after the other."""
    return [ORDER.index(text[i : i + 2]) for i in range(0, len(text), 2)]


def parts(scenario: Scenario, seat: int) -> tuple[list[int], list[int]]:
    """The state and the record of the sequence of `seat`, without what stands around them."""
    (sequence,) = sequences(view_of(scenario.side.raw, seat))
    assert (sequence[0], sequence[-1], sequence.count(SEP)) == (CLS, EOS, 1)
    middle = sequence.index(SEP)
    return sequence[1:middle], sequence[middle + 1 : -1]


def state_of(scenario: Scenario, seat: int) -> dict[str, list[int]]:
    """The state that `seat` is shown: row of the document -> the values there, counted from 0."""
    return values(parts(scenario, seat)[0])
