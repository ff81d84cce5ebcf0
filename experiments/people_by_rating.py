"""Print the placements of people by their rating on Tenhou: how much the best are above the average of a room.

    python experiments/people_by_rating.py RECORDS...

RECORDS are files, archives or folders of Tenhou's games, whose records name the ratings. docs/experiments.md has a
result.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from engine.common.options import Parser
from engine.common.program import OK, start
from engine.common.student import half_width_of_ratio
from engine.records.archives import find_records, members
from engine.records.filters import THREE_PLAYERS
from engine.records.model import GameRecord, RecordError
from engine.records.stream import item_of, select_record
from engine.table import N_SEATS

STEP = 50  # points of rating between the rows of the table
UNKNOWN = 1500.0  # what a record has in place of a rating that it does not know


def ratings_and_places(record: GameRecord) -> tuple[list[float], list[int]] | None:
    """The rating of each player and the final place, 1 to 3; None if the record lacks one of them."""
    kept, scores = record.events[0].get("tenhou"), record.events[-1].get("scores")
    rates = kept.get("rate") if isinstance(kept, dict) else None
    if not rates or not scores or all(float(rate) == UNKNOWN for rate in rates[:N_SEATS]):
        return None
    order = sorted(range(N_SEATS), key=lambda seat: -scores[seat])  # stable: of equal scores the earlier seat is ahead
    return [float(rate) for rate in rates[:N_SEATS]], [1 + order.index(seat) for seat in range(N_SEATS)]


def read(paths: list[Path]) -> tuple[np.ndarray, np.ndarray]:
    """The ratings float64[games, 3] and the places of all games. Raises ValueError if there are none."""
    found = []
    for member in members(find_records(paths)):
        try:
            record = select_record(item_of(member, THREE_PLAYERS), THREE_PLAYERS)
        except RecordError as error:
            print(f"{error}; left out", file=sys.stderr)
            continue
        if record is not None and (of_game := ratings_and_places(record)) is not None:
            found.append(of_game)
    if not found:
        raise ValueError(f"no game with ratings in {', '.join(map(str, paths))}; Tenhou's own have them (mjlog, JSON)")
    ratings, places = map(np.array, zip(*found, strict=True))
    return ratings, places.astype(float)


def interval(width: float | None) -> str:
    """The interval as text; "" for a single observation."""
    return "" if width is None else f" ± {width:.3f}"


def report(ratings: np.ndarray, places: np.ndarray) -> None:
    """Print the table, and how the placement changes with the rating above that of the opponents."""
    print(f"{len(ratings):,} games, mean rating {ratings.mean():.0f}\nrating at least, games of a player, placement")
    for least in np.arange(ratings.min(), ratings.max() + 1, STEP):
        rated = ratings >= least
        n, total = rated.sum(axis=1), np.where(rated, places, 0).sum(axis=1)
        width = half_width_of_ratio(total[n > 0], n[n > 0].astype(float), off=1.0)  # a game is one observation
        print(f"{least:.0f}, {n.sum():,}, {total.sum() / n.sum():.3f}{interval(width)}")
    ahead = ratings - (ratings.sum(axis=1, keepdims=True) - ratings) / 2
    together, squares = (ahead * (places - 2)).sum(axis=1), (ahead**2).sum(axis=1)
    slope, width = together.sum() / squares.sum(), half_width_of_ratio(together, squares, off=1.0)
    print(
        "a rating 100 above the mean of both opponents: placement changed by "
        f"{100 * slope:.3f}{interval(None if width is None else 100 * width)}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Read the records that the command line names, report and return the exit code."""
    parser = Parser("experiments/people_by_rating.py")
    parser.add_argument("records", type=Path, nargs="+", metavar="RECORDS", help="files, archives or folders")
    options = parser.parse_args(arguments)
    with parser.reporting(ValueError, OSError):
        report(*read(options.records))
    return OK


if __name__ == "__main__":
    sys.exit(start("__main__:main", launcher="python "))
