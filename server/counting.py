"""Statistics of the players' actions in a game, counted from what happened in its rounds.

The rounds of a game are read as they end, and counted when it is over. Games stored by older versions are replayed
while the server runs, a few at a time, so that a server with many games starts immediately. This may be interrupted at
any time; the next start continues.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

import numpy as np
import structlog

from engine.records.files import parse_record
from engine.records.replay import Replay
from engine.statistics.counts import COUNTS, Of, exhausted
from engine.statistics.rounds import add_round
from server.limits import Limits
from server.store import Play, Store, StoreError

# The fields of `Play` -> what a round adds to them.
COUNTED: dict[str, Of] = {
    **{name: count.of for name, count in COUNTS.items()},
    "win_turns": lambda rows: rows["win_turn"],
    "exhaustive_draws": exhausted,
    "draws_tenpai": lambda rows: rows["tenpai"],
}
log = structlog.get_logger("server.counting")

ThreePlays = tuple[Play, Play, Play]


def count_rounds(rounds: Sequence[np.ndarray]) -> ThreePlays:
    """Count the actions of the three seats in the rounds of a game, each ROUND[1, seats]."""
    rows = np.concatenate(rounds)
    sums = {name: of(rows).sum(axis=0).tolist() for name, of in COUNTED.items()}
    first, second, third = (Play(**dict(zip(sums, of_seat, strict=True))) for of_seat in zip(*sums.values()))
    return first, second, third


def plays_of(record: bytes) -> ThreePlays:
    """Count the actions of the three seats in a stored game; `record`: .mjson.gz.

    Raises ValueError if it is garbled, or differs from the rules.
    """
    rounds: list[np.ndarray] = []
    replay = Replay(parse_record(record, "record"), round_over=partial(add_round, rounds))
    if mismatches := replay.check():
        raise ValueError(str(mismatches[0]))
    return count_rounds(rounds)


async def count_stored_games(store: Store, limits: Limits) -> None:
    """Count the stored games that are not counted yet; return when none are left."""
    last, counted = "", 0
    while True:
        try:
            games = await store.uncounted(last, limits.count_batch)
            if not games:
                break
            plays = await asyncio.to_thread(_plays_of_all, games)
            if plays:
                await store.add_plays(plays)
        except StoreError as error:
            log.warning("stored games cannot be counted now", error=str(error), seconds=limits.count_retry)
            await asyncio.sleep(limits.count_retry)
        else:
            last, counted = max(games), counted + len(plays)
            await asyncio.sleep(limits.count_pause)
    if counted:
        log.info("stored games counted for statistics", games=counted)


def _plays_of_all(games: dict[str, bytes]) -> dict[str, ThreePlays]:
    """Return the counts of each game. An unreadable record is left out, and tried again at the next start."""
    plays: dict[str, ThreePlays] = {}
    for game_id, record in games.items():
        try:
            plays[game_id] = plays_of(record)
        except Exception as error:  # whatever is wrong with one record, the others are counted
            log.warning("record cannot be read for statistics", game=game_id, error=repr(error))
    return plays
