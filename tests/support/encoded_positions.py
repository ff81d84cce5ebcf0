"""The tokens of scripted positions, sorted by the rows of the reference table."""

from __future__ import annotations

from engine.tiles import MJAI_NAMES, MPSZ_NAMES
from tests.support.reference_encoder import CLS, EOS, SEP, TILES, sequences, values
from tests.support.scenario import Scenario
from tests.support.scripted_positions import view_of

# tiles in mpsz notation in the order of the reference table
ORDER = [MPSZ_NAMES[MJAI_NAMES.index(tile)] for tile in TILES]
# the tiles of three-player mahjong
IN_USE = [tile for tile in ORDER if tile in ("1m", "9m") or tile[1] != "m"]


def indices(text: str) -> list[int]:
    """Indices in ORDER of tiles in mpsz notation, each with its suit."""
    return [ORDER.index(text[i : i + 2]) for i in range(0, len(text), 2)]


def parts(scenario: Scenario, seat: int) -> tuple[list[int], list[int]]:
    """The state part and the record part of the sequence of `seat`, without [CLS], [SEP] and [EOS]."""
    (sequence,) = sequences(view_of(scenario.side.raw, seat))
    assert (sequence[0], sequence[-1], sequence.count(SEP)) == (CLS, EOS, 1)
    separator = sequence.index(SEP)
    return sequence[1:separator], sequence[separator + 1 : -1]


def state_of(scenario: Scenario, seat: int) -> dict[str, list[int]]:
    """The state part of `seat`: row -> values, tokens minus the row's first."""
    return values(parts(scenario, seat)[0])
