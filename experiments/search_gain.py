"""What `search` gains over the bot it begins with, by the time for a decision; judged by playouts, not by games.

    python experiments/search_gain.py [POSITIONS] [MS...]        (default: 1000 positions; 10, 50 and 250 ms)

Positions are decisions of games between three `residual` in which `residual` has several candidates. Where `search`
chooses another action, both are tried by playouts of `rule`, with the true hands and the same shuffled walls. Seven
minutes on one core of two, on which nothing else may run; docs/experiments.md has the results.
"""

from __future__ import annotations

import sys

import numpy as np

from agents.playouts import Playouts
from agents.registry import make
from agents.search.bot import MARGIN
from agents.search.fit import EVERY, positions, views_of
from engine.common.progress import Progress
from engine.table import TABLE

GAMES, SEED, WALLS = 60, 24, 200


def with_candidates(tables: np.ndarray) -> np.ndarray:
    """Those of `tables` TABLE[:] in which `residual` has more than one candidate."""
    values = make("residual").action_values(views_of(tables))
    return tables[(values > values.max(axis=1, keepdims=True) - MARGIN).sum(axis=1) > 1]


def gains(tables: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """How much better `ours` int64[n] are than `theirs`, in placements, where they differ: float64[k]."""
    changed = np.flatnonzero(ours != theirs)
    walls = np.random.default_rng(SEED).integers(1 << 63, size=(len(changed), WALLS), dtype=np.uint64)
    seats, judge = tables["viewer"][changed].astype(np.int8), Playouts("rule")
    tried = [judge.try_actions(tables, changed, seats, actions[changed], walls) for actions in (ours, theirs)]
    return (tried[0] - tried[1]).mean(axis=1, dtype=np.float64)


def main(n: int = 1000, *times: int) -> None:
    """Search, judge, and print a line for each time."""
    all_tables = positions(("residual",) * 3, GAMES, SEED)
    several = with_candidates(all_tables)
    print(f"{EVERY * len(several) / GAMES / 3:.0f} such decisions a hanchan and seat")
    tables = several[np.random.default_rng(SEED).permutation(len(several))[:n]]
    views: np.ndarray = np.array(views_of(tables), dtype=TABLE)
    theirs = np.asarray(make("residual").act(views))
    for ms in times or (10, 50, 250):
        bot = make(f"search:ms={ms}", SEED)
        chosen, worlds = [], []
        with Progress("positions", len(views)) as progress:
            for view in np.array_split(views, len(views)):
                chosen.append(int(bot.act(view)[0]))
                worlds.append(bot.annotate()["worlds"])
                progress.advance(1, f"{ms} ms")
        found = gains(tables, np.array(chosen), theirs)
        error = 1.96 * np.sqrt((found**2).sum()) / len(views)
        share = len(found) / len(views)
        print(f"{ms} ms: {np.mean(worlds):.0f} worlds, {share:.1%} changed, each by {found.mean():+.4f} placements;")
        print(f"  {found.sum() / len(views):+.5f} ± {error:.5f} a decision")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
