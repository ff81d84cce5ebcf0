"""A table is one record: everything about one game, in about two kilobytes.

Many games are an array of TABLE. A snapshot is a copy. A seat's view is the same record with what it may not know
blanked (`engine/view.py`). Seats are absolute, 0-2; seat 0 deals first. Tiles and kinds are those of `engine/tiles.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.actions import MASK_WORDS
from engine.rules import RULES
from engine.scoring.yaku import N_YAKU

N_SEATS = 3
MAX_RIVER = 40
MAX_LOG = 176  # 55 draws, 67 discards, 12 pons and what else a round can hold come to 157
MAX_MELDS = 4

# What the table waits for (TABLE.phase).
TURN = 0  # `turn` has drawn and acts
AFTER_PON = 1  # `turn` has ponned and discards
RIICHI_DISCARD = 2  # `turn` has declared riichi and discards
RESPONSE = 3  # others may take the tile on offer
ROUND_OVER = 4  # `next_round` goes on
GAME_OVER = 5

# Melds (SEAT.meld_type) and, with the same numbers, what put a tile on offer (TABLE.offer_type).
NO_MELD, PON_MELD, DAIMINKAN_MELD, ANKAN_MELD, KAKAN_MELD = range(5)
OFFER_DISCARD, OFFER_ANKAN, OFFER_KAKAN, OFFER_NUKIDORA = 0, ANKAN_MELD, KAKAN_MELD, 5

# River entries: tile37 in the low six bits.
RIVER_TILE = 0x3F
RIVER_TSUMOGIRI = 0x40
RIVER_CALLED = 0x80

# How a round ended without a win (TABLE.draw_reason).
NO_DRAW, EXHAUSTIVE, NINE_KINDS, FOUR_KANS, NAGASHI = range(5)

# Wall: 39 dealt tiles (13 for the dealer, 13 each in turn order), 59 to draw (live draws from the front, replacements
# from the back; at most 55 are drawn), 5 dora indicators, 5 ura indicators.
WALL_SIZE = 108
DEALT = 39
LAST_REPLACEMENT = 97
DORA_AT = 98
URA_AT = 103

# Who knows a wall tile (TABLE.known_by): a seat, or one of these.
NOBODY, EVERYBODY = -1, 3


def record(fields: list[Any]) -> np.dtype[Any]:
    """A record type whose elements have their fields as attributes, in plain Python as in compiled code."""
    return np.dtype((np.record, fields))


SEAT = record(
    [
        ("discarded", "u8"),  # kinds this seat has discarded (bit mask), called or not
        ("waits", "u8"),  # kinds that complete the hand, yaku or not; 0 unless tenpai; kept for the 13-tile hand
        ("hand_keys", "i4", 3),  # engine.shanten keys of `hand`
        ("score", "i4"),
        ("start_score", "i4"),  # at the start of the round
        ("hand", "i1", 34),  # concealed tiles by kind, red fives and the drawn tile included
        ("red", "i1", 2),  # red 5p, red 5s in the concealed hand
        ("shanten", "i1"),  # of the 13-tile hand, before the draw
        ("n_melds", "i1"),
        ("meld_type", "i1", MAX_MELDS),
        ("meld_kind", "i1", MAX_MELDS),
        ("meld_red", "i1", MAX_MELDS),  # red fives in the meld (0 or 1)
        ("meld_called", "i1", MAX_MELDS),  # tile37 taken from another seat, -1 for an ankan
        ("meld_from", "i1", MAX_MELDS),  # seat it was taken from, -1 for an ankan
        ("open", "u1"),  # has a meld other than ankan
        ("nukidora", "i1"),  # norths laid aside
        ("n_river", "i1"),
        ("river", "u1", MAX_RIVER),
        ("riichi", "u1"),  # 0 none, 1 riichi, 2 double riichi; set when the declaring discard has passed
        ("riichi_river", "i1"),  # index in the river of the declaring discard, -1
        ("ippatsu", "u1"),
        ("passed", "u1"),  # furiten until the next own draw: let a winning tile pass
        ("riichi_passed", "u1"),  # furiten for the rest of the round: let one pass in riichi
        ("nagashi", "u1"),  # all own discards terminals or honours, none called
        ("pao_daisangen", "i1"),  # seat liable for this seat's daisangen, -1
        ("pao_daisuushii", "i1"),
    ]
)

WIN = record(
    [
        ("points", "i4"),  # what the hand is worth in all, without honba and sticks (mjai's hora_points)
        ("basic", "i4"),  # base points before multiplication by payer
        ("deltas", "i4", N_SEATS),  # with honba and sticks
        ("winner", "i1"),
        ("target", "i1"),  # who dealt in; the winner itself on tsumo
        ("tile", "i1"),  # tile37
        ("pao", "i1"),  # the liable seat, -1
        ("fu", "i2"),
        ("han", "i2"),  # dora included; for a yakuman 13 for each
        ("yakuman", "i1"),  # how many times yakuman by pattern (kazoe is han >= 13 with yakuman 0)
        ("yaku", "i1", N_YAKU),  # han of each yaku by number, engine.scoring.yaku
    ]
)

TABLE = record(
    [
        ("seed", "u8"),
        ("legal", "u8", (N_SEATS, MASK_WORDS)),  # the menu of each seat that must answer, else 0
        ("seat", SEAT, N_SEATS),
        ("win", WIN, 2),  # wins of the round, in turn order after the discarder
        ("log", "u4", MAX_LOG),  # packed events of the round, engine.events
        ("draw_deltas", "i4", N_SEATS),
        ("n_log", "i2"),
        ("honba", "i2"),
        ("sticks", "i2"),  # riichi sticks on the table
        ("answer", "i2", N_SEATS),  # actions given in this phase, -1
        ("rules", RULES),
        ("viewer", "i1"),  # whose view this is; -1: the whole table
        ("phase", "u1"),
        ("wall_given", "u1"),  # the wall was set from outside and is not to be shuffled
        ("round_wind", "i1"),
        ("dealer", "i1"),
        ("turn", "i1"),
        ("drawn", "i1"),  # tile37 just drawn by `turn`, -1
        ("after_replacement", "u1"),  # `drawn` came after a kan or nukidora
        ("offer", "i1"),  # tile37 the others may take in phase RESPONSE, -1
        ("offer_type", "u1"),
        ("riichi_pending", "u1"),  # `turn` has declared; the stick is not paid yet
        ("kuikae", "i1"),  # kind not to be discarded after a pon, -1
        ("first_turn", "u1"),  # no call or nukidora yet in this round
        ("live_left", "i1"),
        ("n_replacements", "i1"),
        ("n_indicators", "i1"),  # dora indicators shown
        ("pending_indicators", "i1"),  # of minkans, to be shown before the next discard
        ("n_kans", "i1"),
        ("n_wins", "i1"),
        ("draw_reason", "u1"),
        ("draw_tenpai", "u1", N_SEATS),  # at an exhaustive draw
        ("dealer_stays", "u1"),  # settled at the end of a round
        ("seen", "i1", 34),  # face-up tiles by kind: rivers, melds, norths laid, indicators
        ("wall", "i1", WALL_SIZE),  # tile37
        ("known_by", "i1", WALL_SIZE),  # who has seen that wall tile
    ]
)
