"""What the arena and the server count of a round, as one table: each count is a sum over rows of rounds.

To count something else, add a row here, or in `arena.tallies.counts` what only the arena counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from engine.ryukyoku import EXHAUSTIVE, NAGASHI_MANGAN
from engine.statistics.rounds import RON, TSUMO

Of = Callable[[np.ndarray], np.ndarray]  # rows ROUND[n, seats] -> integers or booleans, [n, seats]


class Count(NamedTuple):
    """A count: ``text`` is its definition, ``of`` what each row adds to it."""

    text: str
    of: Of


def won_by_tsumo(rows: np.ndarray) -> np.ndarray:
    """Whether each seat won by tsumo."""
    return rows["won"] & (rows["result"] == TSUMO)


def in_riichi(rows: np.ndarray) -> np.ndarray:
    """Whether each seat had an accepted riichi."""
    return rows["riichi_turn"] > 0


def drawn(rows: np.ndarray) -> np.ndarray:
    """Whether nobody won."""
    return (rows["result"] != TSUMO) & (rows["result"] != RON)


def exhausted(rows: np.ndarray) -> np.ndarray:
    """Whether the round ended without tiles to draw."""
    return (rows["result"] == EXHAUSTIVE) | (rows["result"] == NAGASHI_MANGAN)


COUNTS: dict[str, Count] = {
    "rounds": Count("rounds", lambda rows: np.ones(rows.shape, dtype=np.int64)),
    "wins": Count("hands won", lambda rows: rows["won"]),
    "tsumos": Count("hands won by tsumo", won_by_tsumo),
    "deal_ins": Count(
        "rounds in which others won on a tile of this player (discard, kan, nukidora)", lambda rows: rows["dealt_in"]
    ),
    "riichis": Count("rounds with an accepted riichi", in_riichi),
    "calls": Count("rounds with an open meld", lambda rows: rows["open"]),
    "draws": Count("rounds nobody won, abortive draws included", drawn),
    "nukidora": Count("Norths set aside", lambda rows: rows["nukidora"]),
    "win_points": Count("value of the hands won, without honba and riichi sticks", lambda rows: rows["points"]),
    "deal_in_points": Count(
        "value, likewise, of what others won on a tile of this player; a double ron is added up",
        lambda rows: rows["deal_in_points"],
    ),
}
