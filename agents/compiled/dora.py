"""What a tile of each kind counts as dora."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.table import DORA_AT
from engine.tiles import DORA_OF, KIND_OF


@inner
def fill_dora(t: np.record, dora: np.ndarray) -> None:
    """Fill `dora` int64[34] with what a tile of each kind counts, by the indicators shown; red fives apart."""
    dora[:] = 0
    for i in range(t.n_indicators):
        dora[DORA_OF[KIND_OF[t.wall[DORA_AT[i]]]]] += 1
