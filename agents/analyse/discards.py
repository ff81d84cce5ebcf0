"""The hand of a view after each discard: shanten, ukeire, and the chance to deal in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.bots.rule.context import CONTEXT, CONTEXT_SIZE, fill_context
from engine.actions import TSUMOGIRI
from engine.compiling import kernel
from engine.hand import move
from engine.legal import ron_situation, tsumo_situation
from engine.shanten import shanten, ukeire_kinds
from engine.table import RESPONSE, TABLE, raw_bytes
from engine.tiles import KIND_OF, N_KINDS

AS_IT_IS = N_KINDS  # index of the hand with nothing discarded


@dataclass(frozen=True, slots=True)
class Hand:
    """A hand between two draws: as it is, or after a discard."""

    tile: int  # tile37 discarded, -1: none
    shanten: int
    ukeire: dict[int, int]  # kinds that lower the shanten, with the tiles of each that the seat does not see
    danger: float  # chance that the discard deals in, by the model of the bot rule

    @property
    def left(self) -> int:
        """How many tiles lower the shanten."""
        return sum(self.ukeire.values())


@kernel("uint8[::1], int64[::1], uint64[::1], float64[::1], int64[::1]")
def look(raw: np.ndarray, shantens: np.ndarray, ukeire: np.ndarray, danger: np.ndarray, unseen: np.ndarray) -> int:
    """Fill in the arrays for the view in `raw`, uint8[TABLE.itemsize]; returns the situation bits of a win now.

    By the kind discarded, [34] each but `shantens` and `ukeire`, whose [34] is the hand as it is; `unseen`: tiles of
    each kind that the viewer does not see.
    """
    t = raw.view(TABLE)[0]
    contexts = np.zeros(CONTEXT_SIZE, dtype=np.uint8).view(CONTEXT)
    fill_context(t, contexts[0])
    seat = np.int64(t.viewer)
    p = t.seat[seat]
    n_melds = np.int64(p.n_melds)
    for kind in range(N_KINDS):
        danger[kind] = contexts[0].deal_in[kind]
        unseen[kind] = np.int64(contexts[0].unseen[kind])
        if p.hand[kind] > 0:
            move(p, np.int64(kind), np.int64(-1))
            shantens[kind] = shanten(p.hand_keys, n_melds)
            ukeire[kind] = ukeire_kinds(p.hand, p.hand_keys, n_melds)
            move(p, np.int64(kind), np.int64(1))
    shantens[AS_IT_IS] = shanten(p.hand_keys, n_melds)
    if t.phase == RESPONSE:
        ukeire[AS_IT_IS] = ukeire_kinds(p.hand, p.hand_keys, n_melds)
        return ron_situation(t, seat)
    return tsumo_situation(t, seat)


class Look:
    """What is known of the hand of a view with these `legal` actions."""

    def __init__(self, view: Any, legal: list[int]) -> None:
        self._shantens = np.zeros(N_KINDS + 1, dtype=np.int64)
        self._ukeire = np.zeros(N_KINDS + 1, dtype=np.uint64)
        self._danger = np.zeros(N_KINDS)
        self.unseen = np.zeros(N_KINDS, dtype=np.int64)
        views = np.array([view])
        self.situation = int(look(raw_bytes(views), self._shantens, self._ukeire, self._danger, self.unseen))
        self.shanten = int(self._shantens[AS_IT_IS])
        drawn = int(view["drawn"])
        tiles = {drawn if action == TSUMOGIRI else int(action) for action in legal if action <= TSUMOGIRI}
        self.discards = [self._hand(tile) for tile in sorted(tiles, key=lambda tile: (int(KIND_OF[tile]), tile))]

    def as_it_is(self) -> Hand:
        """The hand with nothing discarded, where it answers a tile of another seat."""
        return Hand(-1, self.shanten, self._left(AS_IT_IS), 0.0)

    def _hand(self, tile: int) -> Hand:
        kind = int(KIND_OF[tile])
        return Hand(tile, int(self._shantens[kind]), self._left(kind), float(self._danger[kind]))

    def _left(self, index: int) -> dict[int, int]:
        return {kind: int(self.unseen[kind]) for kind in range(N_KINDS) if int(self._ukeire[index]) >> kind & 1}
