"""The value of a score situation in placements: the same points mean little in East 1 and everything in South 3."""

from __future__ import annotations

import math

import numpy as np

from engine.compiling import inner
from engine.rules import RIICHI_STICK

# The difference of two scores at the end of the game is modelled as logistic. SCALE_PER_ROUND is its scale in points
# with one round to come; it grows with the square root of the rounds.
SCALE_PER_ROUND = 7_000.0
MIN_SCALE = 900.0  # nothing is certain: the last round may be replayed
ROUNDS_PER_DEALER = 1.3  # repeats included
POINTS_PER_PLACEMENT = 200_000.0  # points count a little even where they change no placement

# Points of a non-dealer's ron by han (30-40 fu); a dealer gets half as much again.
RON_POINTS = np.array(
    [700, 1_300, 2_600, 5_200, 7_900, 8_000, 12_000, 12_000, 16_000, 16_000, 16_000, 24_000, 24_000, 32_000],
    dtype=np.float64,
)
MAX_HAN = len(RON_POINTS) - 1
TSUMO_SHARE = 0.4  # share of all wins that are tsumo


@inner
def rounds_after(t: np.record, dealer_stays: bool) -> float:
    """Expected number of rounds after this one."""
    to_come = 3 * np.int64(t.rules.last_wind) + 2 - (3 * np.int64(t.round_wind) + np.int64(t.dealer))
    return ROUNDS_PER_DEALER * max(to_come, 0) + (1.0 if dealer_stays else 0.0)


@inner
def placement_value(t: np.record, change: tuple[float, float, float], rounds: float) -> float:
    """Value for the viewer if the scores change by `change` (by seat) and `rounds` follow.

    It is minus the viewer's expected placement (1.0-3.0), plus its score / POINTS_PER_PLACEMENT.
    """
    seat = np.int64(t.viewer)
    own = t.seat[seat].score + change[seat]
    scale = max(SCALE_PER_ROUND * math.sqrt(rounds), MIN_SCALE)
    placement = 1.0
    for step in range(1, 3):
        other = (seat + step) % 3
        placement += 1.0 / (1.0 + math.exp((own - t.seat[other].score - change[other]) / scale))
    return own / POINTS_PER_PLACEMENT - placement


@inner
def ron_change(t: np.record, seat: int, winner: int, target: int, points: float) -> float:
    """Points that `seat` gains by a ron worth `points`, honba and riichi sticks included."""
    paid = points + 200.0 * t.honba
    return paid + RIICHI_STICK * t.sticks if seat == winner else -paid if seat == target else 0.0


@inner
def value_after_ron(t: np.record, winner: int, target: int, points: float) -> float:
    """Placement value after a ron worth `points`."""
    change = (
        ron_change(t, np.int64(0), winner, target, points),
        ron_change(t, np.int64(1), winner, target, points),
        ron_change(t, np.int64(2), winner, target, points),
    )
    return placement_value(t, change, rounds_after(t, winner == t.dealer))


@inner
def tsumo_change(t: np.record, seat: int, winner: int, points: float) -> float:
    """Points that `seat` gains by a tsumo of a hand worth `points` by ron; the missing fourth player pays nothing."""
    dealer = np.int64(t.dealer)
    if seat == winner:
        parts = 2 / 3 if winner == dealer else 0.75
        return parts * points + 200.0 * t.honba + RIICHI_STICK * t.sticks
    part = 1 / 3 if winner == dealer else 0.5 if seat == dealer else 0.25
    return -part * points - 100.0 * t.honba


@inner
def value_after_tsumo(t: np.record, winner: int, points: float) -> float:
    """Placement value after a tsumo of a hand worth `points` by ron."""
    change = (
        tsumo_change(t, np.int64(0), winner, points),
        tsumo_change(t, np.int64(1), winner, points),
        tsumo_change(t, np.int64(2), winner, points),
    )
    return placement_value(t, change, rounds_after(t, winner == t.dealer))


@inner
def expected_ron_points(t: np.record, winner: int, han: float) -> float:
    """Points of a ron with `han`, an expectation: between two whole numbers it is interpolated linearly."""
    whole = min(np.int64(han), np.int64(MAX_HAN - 1))
    part = min(han - whole, 1.0)
    points = RON_POINTS[whole] * (1 - part) + RON_POINTS[whole + 1] * part
    return points * (1.5 if winner == t.dealer else 1.0)


@inner
def value_after_loss(t: np.record, points: float) -> float:
    """Placement value if this round costs the viewer `points`, nobody else's score changes and the dealer moves on."""
    seat = np.int64(t.viewer)
    change = (-points * (seat == 0), -points * (seat == 1), -points * (seat == 2))
    return placement_value(t, change, rounds_after(t, np.bool_(False)))


@inner
def fill_win_gains(t: np.record, context: np.record) -> None:
    """Fill in `win_gain` (against `no_win_value`) and `stick_cost`."""
    seat = np.int64(t.viewer)
    first, second = (seat + 1) % 3, (seat + 2) % 3
    for han in range(MAX_HAN + 1):
        if han > 0 and RON_POINTS[han] == RON_POINTS[han - 1]:
            context.win_gain[han] = context.win_gain[han - 1]
            continue
        points = expected_ron_points(t, seat, float(han))
        by_ron = value_after_ron(t, seat, first, points) + value_after_ron(t, seat, second, points)
        value = TSUMO_SHARE * value_after_tsumo(t, seat, points) + (1 - TSUMO_SHARE) / 2 * by_ron
        context.win_gain[han] = value - context.no_win_value
    context.stick_cost = value_after_loss(t, 0.0) - value_after_loss(t, float(RIICHI_STICK))
