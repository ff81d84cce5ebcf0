"""What payments are worth in places: the same points mean little in East 1 and everything in South 3."""

from __future__ import annotations

import math

import numpy as np

from engine.compiling import inner
from engine.rules import RIICHI_STICK

# Two scores drift apart by a logistic of this scale in one round (points); it grows with the root of the rounds.
SCALE_PER_ROUND = 7_000.0
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


@inner
def rounds_after(t: np.record, dealer_stays: bool) -> float:
    """Rounds still to be expected after this one."""
    to_come = 3 * np.int64(t.rules.last_wind) + 2 - (3 * np.int64(t.round_wind) + np.int64(t.dealer))
    return ROUNDS_PER_DEALER * max(to_come, 0) + (1.0 if dealer_stays else 0.0)


@inner
def standing(t: np.record, change: tuple[float, float, float], rounds: float) -> float:
    """How the viewer stands after the scores `change`, by seat, with `rounds` to come.

    That is minus its expected place, and a little for points.
    """
    seat = np.int64(t.viewer)
    own = t.seat[seat].score + change[seat]
    scale = max(SCALE_PER_ROUND * math.sqrt(rounds), LEAST_SCALE)
    place = 1.0
    for step in range(1, 3):
        other = (seat + step) % 3
        place += 1.0 / (1.0 + math.exp((own - t.seat[other].score - change[other]) / scale))
    return own / POINTS_PER_PLACE - place


@inner
def ron_change(t: np.record, seat: int, winner: int, target: int, points: float) -> float:
    """What a ron worth `points` changes for `seat`, honba and sticks included."""
    paid = points + 200.0 * t.honba
    return paid + RIICHI_STICK * t.sticks if seat == winner else -paid if seat == target else 0.0


@inner
def after_ron(t: np.record, winner: int, target: int, points: float) -> float:
    """Standing after a ron worth `points`."""
    change = (
        ron_change(t, np.int64(0), winner, target, points),
        ron_change(t, np.int64(1), winner, target, points),
        ron_change(t, np.int64(2), winner, target, points),
    )
    return standing(t, change, rounds_after(t, winner == t.dealer))


@inner
def tsumo_change(t: np.record, seat: int, winner: int, points: float) -> float:
    """What a tsumo of a hand worth `points` by ron changes for `seat`; north's share is not paid."""
    dealer = np.int64(t.dealer)
    if seat == winner:
        parts = 2 / 3 if winner == dealer else 0.75
        return parts * points + 200.0 * t.honba + RIICHI_STICK * t.sticks
    part = 1 / 3 if winner == dealer else 0.5 if seat == dealer else 0.25
    return -part * points - 100.0 * t.honba


@inner
def after_tsumo(t: np.record, winner: int, points: float) -> float:
    """Standing after a tsumo of a hand worth `points` by ron."""
    change = (
        tsumo_change(t, np.int64(0), winner, points),
        tsumo_change(t, np.int64(1), winner, points),
        tsumo_change(t, np.int64(2), winner, points),
    )
    return standing(t, change, rounds_after(t, winner == t.dealer))


@inner
def winning_points(t: np.record, winner: int, han: float) -> float:
    """Points of a ron with `han`, which may be a fraction: an expectation."""
    whole = min(np.int64(han), np.int64(MAX_HAN - 1))
    part = min(han - whole, 1.0)
    points = RON_POINTS[whole] * (1 - part) + RON_POINTS[whole + 1] * part
    return points * (1.5 if winner == t.dealer else 1.0)


@inner
def after_losing(t: np.record, points: float) -> float:
    """Standing if the round costs the viewer `points` and does nothing else for it."""
    seat = np.int64(t.viewer)
    change = (-points * (seat == 0), -points * (seat == 1), -points * (seat == 2))
    return standing(t, change, rounds_after(t, np.bool_(False)))


@inner
def read_stakes(t: np.record, mind: np.record) -> None:
    """Fill in what winning is worth against `mind.otherwise`, and what a lost stick costs."""
    seat = np.int64(t.viewer)
    first, second = (seat + 1) % 3, (seat + 2) % 3
    for han in range(MAX_HAN + 1):
        if han > 0 and RON_POINTS[han] == RON_POINTS[han - 1]:
            mind.gain[han] = mind.gain[han - 1]
            continue
        points = winning_points(t, seat, float(han))
        by_ron = after_ron(t, seat, first, points) + after_ron(t, seat, second, points)
        standing_after = TSUMO_SHARE * after_tsumo(t, seat, points) + (1 - TSUMO_SHARE) / 2 * by_ron
        mind.gain[han] = standing_after - mind.otherwise
    mind.stick = after_losing(t, 0.0) - after_losing(t, float(RIICHI_STICK))
