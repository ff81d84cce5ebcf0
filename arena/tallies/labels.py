"""The names of what is counted by shape of the wait, by places and by yaku. Needs no numba, so that --help has them."""

from __future__ import annotations

from engine.rules import N_SEATS
from engine.scoring.yaku import YAKU

SHAPES = {  # of waits, see `engine.statistics.waits`
    "ryanmen": "two tiles in a row, open at both ends",
    "kanchan": "two tiles with a gap",
    "penchan": "1-2 or 8-9",
    "shanpon": "two pairs",
    "tanki": "a single tile, also of seven pairs or thirteen orphans",
    "multi": "any other, such as nobetan and every wait on three kinds or more",
}
YAKU_LABELS = {yaku.number: yaku.name.replace(" ", "_").replace("-", "_") for yaku in YAKU}
PLACES = tuple(f"{before}_to_{after}" for before in range(1, N_SEATS + 1) for after in range(1, N_SEATS + 1))
