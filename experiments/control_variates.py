"""Fits the coefficients of arena/luck.py to self-play, and measures how much narrower they make the intervals.

    python experiments/control_variates.py [WALLS [FILE]]

Three bots of about the same strength play WALLS walls (2,000 by default) in three rotations, from which the
coefficients are fitted; then several matches are played on fresh walls. FILE gets the placements of the first of these,
for the tests of the arena. Two minutes on one core.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from arena.bot_games import estimate, final_points_of, placements_of
from arena.luck import FACTORS, N_FACTORS, adjust_for_luck, luck_of, measure_luck
from arena.schedule import RunSettings, games_of
from engine.common.progress import Progress
from engine.contests.observations import PLACE
from engine.contests.seating import ROTATIONS
from engine.table import N_SEATS
from engine.tables import Tables

FITTED = ("selfplay", "rule", "linear")
MEASURED = (
    ("selfplay", "rule", "rule"),
    ("linear", "rule", "rule"),
    ("efficiency", "rule", "rule"),
    ("softmax", "efficiency", "yaku"),
    ("rule", "random", "random"),
)
MEASURED_WALLS = 1000
WALLS_AT_ONCE = 80


def play(bots: tuple[str, str, str], n_walls: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Placements and final points [walls, rotations, bots], and the factors [walls, rotations, bots, N_FACTORS]."""
    settings = RunSettings(bots, ROTATIONS * n_walls, seed, "tenhou", "hanchan")
    rules, policies = settings.make_rules(), [bot.agent.act for bot in settings.make_bots()]
    results = []
    with Progress("walls", n_walls) as progress:
        for first in range(0, n_walls, WALLS_AT_ONCE):
            walls = range(first, min(first + WALLS_AT_ONCE, n_walls))
            games = games_of(settings, walls)
            tables = Tables(np.array([game.seed for game in games], dtype=np.uint64), rules)
            players = np.array([game.seats for game in games], dtype=np.int8)
            factors = np.zeros((len(games), N_SEATS, N_FACTORS))
            for ended in tables.play(policies, players):
                measure_luck(tables.raw, ended, factors)
            scores, seats = tables.records["seat"]["score"], np.argsort(players, axis=1)
            of_seats = placements_of(scores), final_points_of(scores, rules), factors
            results.append([np.array([row[seat] for row, seat in zip(values, seats)]) for values in of_seats])
            progress.advance(len(walls))
    placements, points, factors = (
        np.concatenate(values).reshape(n_walls, ROTATIONS, N_SEATS, -1) for values in zip(*results)
    )
    return placements[..., 0], points[..., 0], factors


def fit(n_walls: int) -> None:
    """Print the coefficients as they stand in arena/luck.py."""
    placements, points, factors = play(FITTED, n_walls, seed=1)
    others = (factors.sum(axis=2, keepdims=True) - factors) / (N_SEATS - 1)
    # The mean over the rotations of a wall is one observation, as in the arena.
    x = (factors - others).mean(axis=1).reshape(-1, N_FACTORS)
    print(f"# {', '.join(FITTED)}: {n_walls:,} walls in {ROTATIONS} rotations; {', '.join(FACTORS)}")
    for name, values in (("placement", placements), ("final points", points)):
        y = values.mean(axis=1)
        coefficients, *_ = np.linalg.lstsq(x, (y - y.mean(axis=0)).reshape(-1), rcond=None)
        print(f"[{', '.join(f'{each:.4f}' for each in coefficients)}],  # of the {name}")


def measure(bots: tuple[str, str, str]) -> dict[str, list[float]]:
    """Print the mean placement of the first bot with and without its luck, and how much narrower its interval is.

    Returns its mean placement on each wall, and its luck.
    """
    placements, _, factors = play(bots, MEASURED_WALLS, seed=2)
    played, luck = placements[..., 0].mean(axis=1), luck_of(factors)[:, :, 0, 0].mean(axis=1)
    raw, adjusted = estimate(played, PLACE), estimate(adjust_for_luck(played, luck), PLACE)
    ratio = f"{adjusted.interval / raw.interval:.3f} times as wide" if adjusted.interval and raw.interval else "no luck"
    print(
        f"{bots[0]} against {bots[1]} and {bots[2]}: {raw.mean:.3f} ± {raw.interval:.3f} as played, "
        f"{adjusted.mean:.3f} ± {adjusted.interval:.3f} without luck: {ratio}"
    )
    return {"placements": played.round(4).tolist(), "luck": luck.round(4).tolist()}


if __name__ == "__main__":
    fit(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
    measured = [measure(match) for match in MEASURED]
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(json.dumps(measured[0]) + "\n", encoding="utf-8")
