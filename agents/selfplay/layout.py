"""The layout of the features: what the network sees of a position and of an action, as tables of blocks."""

from __future__ import annotations

import numpy as np

from agents.blocks import Block, offsets_of
from agents.rl.suits import by_kind, side_by_side
from engine.table import N_SEATS, RESPONSE
from engine.tiles import HONOUR, N_KINDS, N_SANMA, NORTH

N_PLANS = 3  # tanyao, one suit with honours in pin and in sou: the first of `agents.bots.rule.value.PLAN_MASK`
SHANTENS = 6  # the shanten of a hand that an action leaves, as one of 0, 1, 2, 3, 4, 5 or more
N_TYPES = 11  # of actions, see `agents.selfplay.features.ACTIONS_OF_TYPE`
NEAR = (-2, -1, 1, 2)  # distances

# Classes of kinds: 0 honours (those that count for the viewer are of VALUE_CLASS), 2 north, 3 terminals, 4 2 and 8,
# 5 3 and 7, 6 4 to 6.
VALUE_CLASS = 1
CLASS_OF = np.zeros(N_KINDS, dtype=np.int64)
for _kind in range(HONOUR):
    CLASS_OF[_kind] = (3, 4, 5, 6, 6, 6, 5, 4, 3)[_kind % 9]
CLASS_OF[NORTH] = 2
N_CLASSES = int(CLASS_OF.max()) + 1

# What everybody sees of a seat.
SEAT, N_SEAT = offsets_of(
    (
        Block("score", 1, "points above 35,000, / 20,000"),
        Block("riichi", 1, "1 in riichi, or after its declaration"),
        Block("ippatsu", 1, "1 while a win would be ippatsu"),
        Block("melds", 1, "melds, / 4"),
        Block("open", 1, "1 for an open hand"),
        Block("nukidora", 1, "norths set aside, / 4"),
        Block("discards", 1, "discards, / 20"),
        Block("dealer", 1, "1 for the dealer"),
        Block("meld_dora", 1, "dora and red fives of the melds, / 4"),
        Block("meld_value", 1, "han of melds of value tiles, / 2"),
        Block("meld_suits", 2, "melds of pin and of sou, / 4"),
    )
)
GAME, N_GAME = offsets_of(
    (
        Block("round", 9, "one of East 1 to 3, South 1 to 3, West 1 to 3 and later"),
        Block("honba", 1, "honba, / 4"),
        Block("sticks", 1, "riichi sticks on the table, / 3"),
        Block("draws_left", 1, "draws left, / 55"),
        Block("wind", N_SEATS, "the viewer's wind"),
        Block("rank", N_SEATS, "the viewer's rank"),
        Block("phase", RESPONSE + 1, "the phase of the table"),
        Block("kans", 1, "kans of all, / 4"),
    )
)
# The viewer's hand as a whole.
OWN, N_OWN = offsets_of(
    (
        Block("shanten", 7, "its shanten, as one of -1, 0, 1, 2, 3, 4, 5 or more"),
        Block("seven_pairs", 1, "shanten for seven pairs, / 6; 1 with melds"),
        Block("plans", N_PLANS, "shanten for each plan, / 6"),
        Block("toitoi", 1, "shanten for toitoi, / 6"),
        Block("dora", 1, "dora, / 4"),
        Block("value_triplets", 1, "han of triplets of value tiles, / 2"),
        Block("passed", 1, "1 in furiten after a win not taken"),
        Block("furiten", 1, "1 if a wait is among the own discards"),
        Block("pairs", 1, "pairs, / 4"),
        Block("triplets", 1, "triplets, / 4"),
        Block("value_pairs", 1, "pairs of value tiles, / 2"),
        Block("outer", 1, "terminals and honours, / 14"),
        Block("suits", 4, "tiles of man, pin and sou, and honours, / 14"),
        Block("replacement", 1, "1 after a replacement draw"),
        Block("best", 2, "the lowest shanten that an action leaves, / 6, and with it the highest ukeire, / 30"),
    )
)
STATE, N_STATE = offsets_of(
    (
        Block("seats", N_SEATS * N_SEAT, "SEAT of the viewer, the next seat and the one before"),
        Block("game", N_GAME, "GAME"),
        Block("own", N_OWN, "OWN"),
        Block("held", N_SANMA, "tiles held of each kind, / 2"),
        Block("unseen", N_SANMA, "unseen tiles of each kind, / 4"),
    )
)
# The hand that an action leaves.
HAND, N_HAND = offsets_of(
    (
        Block("shantens", SHANTENS, "its shanten as one of SHANTENS"),
        Block("ukeire", 1, "its ukeire, / 30"),
        Block("shanten", 1, "its shanten, / 6"),
        Block("furiten", 1, "1 if it is tenpai in furiten"),
        Block("plans", N_PLANS, "its shanten for each plan, / 6"),
        Block("farther", 1, "its shanten above the lowest, at most 2, / 2"),
        Block("ukeire_share", 1, "its ukeire as a share of the highest, with the lowest shanten"),
    )
)
# The tile of an action.
TILE, N_TILE = offsets_of(
    (
        Block("kind_class", N_CLASSES, "its class"),
        Block("value", 1, "han of a triplet, / 2"),
        Block("dora", 1, "the dora it counts; red fives apart"),
        Block("held", 1, "tiles held of its kind, / 4"),
        Block("unseen", 1, "unseen tiles of its kind, / 4"),
        Block("near", len(NEAR), "tiles held at each distance of NEAR, / 2"),
    )
)
# How a discard may deal in to an opponent.
DANGER, N_DANGER = offsets_of(
    (
        Block("safe", 1, "1 if it is certainly safe; then the others are 0"),
        Block("ryanmen", 1, "how many ryanmen can wait for it, / 2"),
        Block("riichi", 1, "1 if the opponent is in riichi"),
        Block("riichi_ryanmen", 1, "the ryanmen again if the opponent is in riichi"),
    )
)
ACTION, N_ACTION = offsets_of(
    (
        Block("type", N_TYPES, "its type"),
        Block("tsumogiri", 1, "1 for tsumogiri"),
        Block("red", 1, "1 for the discard of a red five or a pon with one"),
        Block("hand", N_HAND, "HAND"),
        Block("tile", N_TILE, "TILE"),
        Block("danger", 2 * N_DANGER, "DANGER of the next seat and of the one after"),
    )
)

STATE_SUITS = np.array(
    [
        *side_by_side(STATE.seats + seat * N_SEAT + SEAT.meld_suits for seat in range(N_SEATS)),
        *side_by_side([STATE.own + OWN.plans + 1, STATE.own + OWN.suits + 1]),
        *by_kind(STATE.held),
        *by_kind(STATE.unseen),
    ]
)
ACTION_SUITS = np.array(side_by_side([ACTION.hand + HAND.plans + 1]))

SHANTEN_AT, UKEIRE_AT = ACTION.hand + HAND.shanten, ACTION.hand + HAND.ukeire
BEST_AT = STATE.own + OWN.best
