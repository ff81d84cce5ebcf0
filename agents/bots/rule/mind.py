"""What the bot knows and fears while it weighs one decision: one record, filled once and passed along."""

from __future__ import annotations

from agents.bots.rule.placement import MAX_HAN
from engine.actions import N_ACTIONS
from engine.table import WIN, record
from engine.tiles import N_KINDS

MIND = record(
    [
        ("worth", "f8", N_ACTIONS),  # places that each action promises, -inf where it was not weighed
        ("unseen", "f8", N_KINDS),  # tiles the viewer sees neither in its hand nor face up
        ("dora", "i8", N_KINDS),  # doras a tile of each kind is
        ("risk", "f8", N_KINDS),  # places that discarding each kind costs on average
        ("deal_in", "f8", N_KINDS),  # chance that it deals in at all
        ("usual_risk", "f8"),  # risk of a discard at random
        ("level", "i8"),  # number of seats that threaten to win
        ("turns", "i8"),  # own draws to come
        ("otherwise", "f8"),  # how the viewer will stand if it neither wins nor deals in
        ("gain", "f8", MAX_HAN + 1),  # places a win gains against that, by han
        ("stick", "f8"),  # places a lost riichi stick costs
        ("plans", "i8"),  # bit mask of the plans within reach of the hand as it is now
        ("keys", "i4", 3),  # scratch: shanten keys of part of the hand
        ("win", WIN),  # scratch: for the scorer
        ("waits", "f8", N_KINDS),  # scratch: tiles of the best wait after drawing each kind, negative: not known yet
    ]
)
