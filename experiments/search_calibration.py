"""Whether what `search` finds between two actions comes true.

    python experiments/search_calibration.py [BATCHES [WORLDS]]    # 62 100

From BATCHES of GAMES games among three `residual` it takes positions whose two best actions are within GAP of each
other. `search`
compares them twice, without a prior, in WORLDS worlds each (fewer where it stops early, as in play): the gaps a and b,
whose noise is independent. The outcome: both actions are played out once at the table as it is, hidden hands and wall
included, by `residual` in all seats. It is the noisiest, but an unbiased sample of what `residual` wins by the first
action, in units of `agents.playouts.value.round_value`, by which `search` counts too.

cov(outcome, (a + b) / 2) / cov(a, b) is the slope of the outcome over a gap without noise: 1 if what `search` finds in
many worlds comes true, 0 if it says nothing. Intervals take a game as one observation. Ten minutes on two cores;
docs/experiments.md has the results.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from agents.base import ActionValues
from agents.playouts.value import round_values
from agents.registry import make
from engine import kernels
from engine.common.progress import Progress
from engine.rules import TENHOU
from engine.table import TABLE, raw_bytes
from engine.tables import Tables

BOT = "residual"
GAP = 0.006  # placements
SHARE = 0.05  # of the decisions that become positions
GAMES = 64  # of a batch
JOBS = 2


class Position(NamedTuple):
    """A decision between the two best actions of BOT."""

    game: int
    view: np.record
    table: np.record  # whole
    seat: int
    actions: tuple[int, int]


def action_values(bot: Any, views: np.ndarray) -> np.ndarray:
    """float32[n, N_ACTIONS], in placements."""
    assert isinstance(bot, ActionValues)
    return bot.action_values(views)


def positions(batch: int) -> list[Position]:
    """Positions of GAMES games among three of BOT."""
    bot, random = make(BOT, batch), np.random.default_rng(batch)
    tables = Tables(random.integers(1 << 62, size=GAMES, dtype=np.uint64))
    found: list[Position] = []

    def act(views: np.ndarray) -> np.ndarray:
        values = action_values(bot, views)
        order = np.argsort(-values, axis=1, kind="stable")[:, :2]
        best, second = np.take_along_axis(values, order, axis=1).T
        for k in np.flatnonzero((best - second < GAP) & (random.random(len(views)) < SHARE)):
            table, seat = int(tables.asked_tables[k]), int(tables.asked_seats[k])
            two = int(order[k, 0]), int(order[k, 1])
            found.append(Position(batch * GAMES + table, views[k].copy(), tables.records[table].copy(), seat, two))
        return order[:, 0]

    for _ in tables.play([act], np.zeros((GAMES, 3), dtype=np.int8)):
        pass
    return found


def search_gaps(given: list[Position], worlds: int, seed: int) -> np.ndarray:
    """The gaps by `search`, float64[n], with a prior that counts for nearly nothing."""
    values = action_values(
        make(f"search:k=2&margin=1&prior=0.001&n={worlds}", seed), np.array([each.view for each in given])
    )
    return np.array([values[k, each.actions[0]] - values[k, each.actions[1]] for k, each in enumerate(given)])


def outcomes(given: list[Position], seed: int) -> np.ndarray:
    """What the first action brings more than the second if BOT plays the round on, float64[n], in placements."""
    records = np.repeat(np.array([each.table for each in given], dtype=TABLE), 2)
    seats = np.repeat(np.array([each.seat for each in given], dtype=np.int8), 2)
    tried = np.array([each.actions for each in given]).reshape(-1)
    tables = Tables.from_records(records, TENHOU)
    bad = kernels.apply_actions(tables.raw, np.arange(len(tried), dtype=np.int32), seats, tried)
    assert bad < 0
    tables.play_round([make(BOT, seed).act], np.zeros((len(tried), 3), dtype=np.int8))
    values = np.empty(len(tried), dtype=np.float32)
    round_values(raw_bytes(tables.records), seats, values)
    return values[::2] - values[1::2].astype(np.float64)


def measure(batch: int, worlds: int) -> np.ndarray:
    """float64[n, 4]: of the positions of a batch, the game, both gaps by `search`, and the outcome."""
    given = positions(batch)
    gaps = [search_gaps(given, worlds, seed) for seed in range(2)]
    return np.stack([np.array([each.game for each in given]), *gaps, outcomes(given, batch)], axis=1)


def main() -> None:
    """Print the slope, and what it would bring to follow `search` without its prior."""
    batches = int(sys.argv[1]) if len(sys.argv) > 1 else 62
    worlds = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    parts = []
    with ProcessPoolExecutor(JOBS) as pool, Progress("batches", batches) as progress:
        for part in pool.map(measure, range(batches), [worlds] * batches):
            parts.append(part)
            progress.advance()
    games, first, second, outcome = np.concatenate(parts).T
    gap = (first + second) / 2
    noiseless = np.cov(first, second)[0, 1]
    spread = gap - gap.mean()
    slope = (spread * outcome).mean() / noiseless
    rest = np.bincount(games.astype(np.int64), spread * (outcome - outcome.mean() - slope * spread))
    interval = 1.96 * (rest**2).sum() ** 0.5 / len(gap) / noiseless
    print(f"{len(gap):,} positions, {worlds} worlds twice; placements, ± 95 %")
    print(
        f"standard deviation of the outcome: {outcome.std():.3f}, of a gap: {first.std():.4f}, of it without noise: "
        f"{max(noiseless, 0) ** 0.5:.4f}"
    )
    print(f"means: gap {gap.mean():.4f}, outcome {outcome.mean():.4f}; slope {slope:.2f} ± {interval:.2f}")
    other = outcome[gap < 0]
    print(
        f"search prefers the second action in {(gap < 0).mean():.1%}, where it brings {-other.mean():.4f} ± "
        f"{1.96 * other.std() / len(other) ** 0.5:.4f} more"
    )


if __name__ == "__main__":
    main()
