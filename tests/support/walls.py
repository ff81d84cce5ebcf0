"""Walls to order: from given hands and draws, or with like tiles near each other so that rare things happen."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence

from engine.rules import N_DRAWS
from engine.table import DEALT, DORA_AT, REPLACEMENT_AT, URA_AT, WALL_SIZE
from engine.tiles import FULL_SET, HONOUR, KIND_OF, MPSZ_NAMES, RED_5P, RED_5S, SANMA_KINDS, TERMINALS_HONOURS, mpsz

ALL_TILES: list[int] = FULL_SET.tolist()
# One of each tile37, no two near each other that go together.
QUIET_ORDER = [*(int(SANMA_KINDS[10 * i % len(SANMA_KINDS)]) for i in range(len(SANMA_KINDS))), RED_5P, RED_5S]


def build_wall(
    hands: Sequence[str],
    draws: str = "",
    replacements: str = "",
    indicators: str = "1m",
    ura: str = "",
    last_draws: str = "",
) -> list[int]:
    """A wall (108 tile37 in the layout of `engine.table`) with these tiles, written in mpsz (``0`` is a red five).

    `hands` are those of dealer, next and third seat, 13 tiles each at most; `draws` are the first draws in order,
    by any seat; `replacements` are the first replacement draws; `last_draws` are the end of the live wall where
    nothing is replaced. The rest is filled in an order that keeps it quiet, copies of a kind far from each other.
    Raises ValueError for tiles there are not enough of.
    """
    wall: list[int | None] = [None] * WALL_SIZE
    for seat, hand in enumerate(hands):
        _lay(wall, range(13 * seat, 13 * seat + 13), hand)
    live = range(DEALT, DEALT + N_DRAWS)
    _lay(wall, live, draws)
    _lay(wall, REPLACEMENT_AT, replacements)
    _lay(wall, DORA_AT, indicators)
    _lay(wall, URA_AT, ura)
    _lay(wall, live[N_DRAWS - len(mpsz(last_draws)) :], last_draws)
    left = Counter(ALL_TILES)
    left.subtract(tile for tile in wall if tile is not None)
    if missing := [MPSZ_NAMES[tile] for tile, count in left.items() if count < 0]:
        raise ValueError(f"not enough of {', '.join(missing)}")
    filling = (tile for _ in range(4) for tile in QUIET_ORDER if left[tile] > 0 and not left.subtract([tile]))
    return [next(filling) if tile is None else tile for tile in wall]


def _lay(wall: list[int | None], places: Iterable[int], text: str) -> None:
    tiles, places = mpsz(text), list(places)
    if len(tiles) > len(places):
        raise ValueError(f"{text!r} has more than {len(places)} tiles")
    for at, tile in zip(places, tiles):
        if wall[at] is not None:
            raise ValueError(f"{text!r} lies where another tile lies")
        wall[at] = tile


def clustered_wall(rng: random.Random) -> list[int]:
    """A wall in which tiles of a kind tend to lie together, and sometimes honours or terminals come early."""
    rank = {int(kind): rng.random() for kind in SANMA_KINDS}
    early = rng.choice([(), (), range(HONOUR, HONOUR + 7), range(HONOUR + 4, HONOUR + 7), TERMINALS_HONOURS.tolist()])
    rank.update((kind, rng.uniform(0, 0.4)) for kind in early)
    spread = rng.choice([0.02, 0.05, 0.1, 0.2, 0.5])
    wall = sorted(ALL_TILES, key=lambda tile: rank[int(KIND_OF[tile])] + rng.gauss(0, spread))
    turned = rng.choice([0, rng.randrange(WALL_SIZE)])
    return wall[turned:] + wall[:turned]
