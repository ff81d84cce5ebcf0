"""What the features of all actions of a view share: a record that is filled in once per view."""

from __future__ import annotations

import numpy as np

from agents.bots.rule.safety import fill_deal_in_rates, safe_kinds
from agents.bots.rule.threat import THREAT_CHANCE, tenpai_chance
from agents.bots.rule.value import value_han
from agents.compiled.unseen import unseen
from agents.linear.features import N_FEATURES
from engine.compiling import inner
from engine.table import DORA_AT, record
from engine.tiles import DORA_OF, EAST, KIND_OF, N_KINDS, SANMA_KINDS

PER_MILLE = 1_000.0

SHAPE = record(
    [
        ("held", "u8"),  # kinds held, as bit masks: at least one tile, two, three
        ("pairs", "u8"),
        ("triplets", "u8"),
        ("melded", "u8"),  # kinds of the melds
        ("suit", "i8", 2),  # concealed tiles of pinzu and of souzu
        ("ends", "i8", 2),  # of these, 1 and 9
        ("middle", "i8", 2),  # of these, 4 to 6
        ("manzu", "i8"),
    ]
)
CONTEXT = record(
    [
        ("unseen", "i8", N_KINDS),  # tiles that the viewer sees neither in its hand nor face up
        ("value", "i8", N_KINDS),  # han of a triplet of each kind
        ("dora", "i8", 5),  # kinds of the dora, one for each indicator
        ("n_dora", "i8"),
        ("threats", "i8"),  # opponents that threaten to win (0-2)
        ("danger", "f8", N_KINDS),  # chance in 1,000 that discarding each kind deals in to one that threatens
        ("shape", SHAPE, 1),  # scratch: of the hand at hand
        ("keys", "i4", 3),  # scratch: shanten keys of part of the hand
        ("rates", "f8", N_KINDS),  # scratch: chance that each kind is a wait of the opponent at hand
        ("hidden", "f8", N_KINDS),  # scratch: `unseen` as the deal-in rates take it
        ("phi", "f8", N_FEATURES),  # scratch: features of the action at hand
        ("try_phi", "f8", N_FEATURES),  # scratch: features of a discard that may follow the action at hand
    ]
)
CONTEXT_SIZE = CONTEXT.itemsize
MENU = 64  # distinct actions, at most: 14 discards, tsumogiri, riichi and the rest


@inner
def fill_context(t: np.record, context: np.record) -> None:
    """Fill in all but the scratch fields."""
    for kind in SANMA_KINDS:
        context.unseen[kind] = unseen(t, kind)
    for kind in range(EAST, N_KINDS):
        context.value[kind] = value_han(t, np.int64(t.viewer), np.int64(kind))
    context.n_dora = t.n_indicators
    for i in range(t.n_indicators):
        context.dora[i] = DORA_OF[KIND_OF[t.wall[DORA_AT[i]]]]
    fill_danger(t, context)


@inner
def fill_danger(t: np.record, context: np.record) -> None:
    """Fill in who threatens, and the danger of each kind."""
    context.threats = 0
    context.danger[:] = 0.0
    for step in range(1, 3):
        seat = (np.int64(t.viewer) + step) % 3
        tenpai = tenpai_chance(t, seat)
        if tenpai < THREAT_CHANCE:
            continue
        if context.threats == 0:
            for kind in SANMA_KINDS:
                context.hidden[kind] = context.unseen[kind]
        context.threats += 1
        fill_deal_in_rates(context.hidden, safe_kinds(t)[seat], context.rates)
        for kind in SANMA_KINDS:
            context.danger[kind] += PER_MILLE * tenpai * context.rates[kind]
