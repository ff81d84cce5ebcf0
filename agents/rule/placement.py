"""What payments are worth in places: the same points mean little in East 1 and everything in South 3."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from engine.compiling import inner
from engine.rules import RIICHI_STICK

# Scores of two seats drift apart by a logistic of this scale in one round (points); it grows with the root of the rounds.
SCALE_PER_ROUND = 5_600.0
LEAST_SCALE = 900.0  # nothing is certain: the last round may be replayed
ROUNDS_PER_DEALER = 1.3  # repeats included
POINTS_PER_PLACE = 200_000.0  # points count a little even where they change no place

# What a win by ron brings a non-dealer, by han (30-40 fu); a dealer gets half as much again.
RON_POINTS = np.array(
    [700, 1_300, 2_600, 5_200, 7_900, 8_000, 12_000, 12_000, 16_000, 16_000, 16_000, 24_000, 24_000, 32_000],
    dtype=np.float64,
)
MAX_HAN = len(RON_POINTS) - 1
TSUMO_SHARE = 0.4  # of all wins


class Stakes(NamedTuple):
    """What the round may bring the viewer, in places, against a round that passes it by."""

    gain: np.ndarray  # float64[MAX_HAN + 1]: by han of the viewer's win
    per_point: float  # what one point more is worth
    stick: float  # what a lost riichi stick costs


@inner
def rounds_after(t: np.record, dealer_stays: bool) -> float:
    """Rounds still to be expected after this one."""
    to_come = 3 * np.int64(t.rules.last_wind) + 2 - (3 * np.int64(t.round_wind) + np.int64(t.dealer))
    return ROUNDS_PER_DEALER * max(to_come, 0) + (1.0 if dealer_stays else 0.0)


@inner
def standing(t: np.record, scores: np.ndarray, rounds: float) -> float:
    """How the viewer stands with `scores` float64[3] and `rounds` to come: minus its expected place, and a little for points."""
    seat = np.int64(t.viewer)
    scale = max(SCALE_PER_ROUND * math.sqrt(rounds), LEAST_SCALE)
    place = 1.0
    for other in range(3):
        if other != seat:
            place += 1.0 / (1.0 + math.exp((scores[seat] - scores[other]) / scale))
    return scores[seat] / POINTS_PER_PLACE - place


@inner
def present_scores(t: np.record) -> np.ndarray:
    """The scores as they are: float64[3]."""
    scores = np.empty(3)
    for seat in range(3):
        scores[seat] = t.seat[seat].score
    return scores


@inner
def after_ron(t: np.record, winner: int, target: int, points: float) -> float:
    """Standing after a ron worth `points`, honba and sticks added."""
    scores = present_scores(t)
    paid = points + 200.0 * t.honba
    scores[winner] += paid + RIICHI_STICK * t.sticks
    scores[target] -= paid
    return standing(t, scores, rounds_after(t, winner == t.dealer))


@inner
def after_tsumo(t: np.record, winner: int, points: float) -> float:
    """Standing after a tsumo of a hand worth `points` by ron; north's share is not paid."""
    scores = present_scores(t)
    for payer in range(3):
        if payer != winner:
            part = 1 / 3 if winner == t.dealer else 0.5 if payer == t.dealer else 0.25
            paid = part * points + 100.0 * t.honba
            scores[payer] -= paid
            scores[winner] += paid
    scores[winner] += RIICHI_STICK * t.sticks
    return standing(t, scores, rounds_after(t, winner == t.dealer))


@inner
def winning_points(t: np.record, winner: int, han: float) -> float:
    """Points of a ron with `han`, which may be a fraction: an expectation."""
    whole = min(np.int64(han), np.int64(MAX_HAN - 1))
    part = min(han - whole, 1.0)
    points = RON_POINTS[whole] * (1 - part) + RON_POINTS[whole + 1] * part
    return points * (1.5 if winner == t.dealer else 1.0)


@inner
def unchanged(t: np.record) -> float:
    """Standing if the round brings the viewer nothing."""
    return standing(t, present_scores(t), rounds_after(t, np.bool_(False)))


@inner
def stakes(t: np.record, otherwise: float) -> Stakes:
    """What winning is worth against the standing `otherwise`."""
    seat = np.int64(t.viewer)
    first, second = (seat + 1) % 3, (seat + 2) % 3
    gain = np.empty(MAX_HAN + 1)
    for han in range(MAX_HAN + 1):
        points = winning_points(t, seat, float(han))
        by_ron = after_ron(t, seat, first, points) + after_ron(t, seat, second, points)
        gain[han] = TSUMO_SHARE * after_tsumo(t, seat, points) + (1 - TSUMO_SHARE) / 2 * by_ron - otherwise
    scores = present_scores(t)
    rounds = rounds_after(t, np.bool_(False))
    before = standing(t, scores, rounds)
    scores[seat] -= RIICHI_STICK
    stick = before - standing(t, scores, rounds)
    return Stakes(gain, stick / RIICHI_STICK, stick)
