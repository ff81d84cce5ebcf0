"""Leagues for Python callers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from rich.console import Console

from agents.external.framing import TIMEOUT
from arena.leagues.games import LeagueSettings
from arena.leagues.league import League
from arena.leagues.run import LeagueRun
from arena.options import MOST_GAMES
from engine.checks import check_seed, positive_number, whole_number


def league(
    bots: Sequence[str],
    games: int = 3000,
    seed: int = 0,
    *,
    hours: float | None = None,
    rules: str = "tenhou",
    length: Literal["east", "hanchan"] = "hanchan",
    jobs: int = 1,
    timeout: float = TIMEOUT,
    json: str | Path | None = None,
) -> League:
    """Let many bots play each other, as ``python -m arena league`` does, and rate them.

    ``bots``: at least three names, as for ``--bots``; none where the league of ``json`` goes on with its
    bots, if all are built in and without an argument: a file starts no programs.
    ``games``: about how many are played in all; every two bots meet equally often. ``hours``: plays so long instead.
    ``jobs``: 1 plays in this process, more in as many worker processes; a script then needs ``if __name__ ==
    "__main__":``, as for `multiprocessing`. ``timeout``: seconds that an external bot has for an answer. ``json``: a
    file for the league, which goes on where it stopped: with more games, or with other bots, which play until they
    have met each bot as often as the others have. Progress is shown on stderr.

    Raises ValueError for a bot or setting that does not exist, TypeError for a number that is none,
    `arena.chunk.GameError` if a bot fails, `engine.common.pools.WorkerError` if a worker process dies, OSError if the
    file cannot be written.

    >>> result = league(["efficiency", "random", "tsumogiri"], games=30, length="east", seed=1)
    >>> result.standings[0].bot
    'efficiency'
    >>> result.pairs["efficiency", "random"].ahead.mean > 0.9
    True
    """
    if isinstance(bots, str):
        raise ValueError(f'bots are a list, as in ["rule", "efficiency", "random"], not {bots!r}')
    games = whole_number(games, "games", f"an integer from 1 to {MOST_GAMES}", MOST_GAMES, 1)
    jobs = whole_number(jobs, "jobs", "a positive integer", sys.maxsize, 1)
    hours = None if hours is None else positive_number(hours, "hours")
    timeout = positive_number(timeout, "timeout", "a positive number of seconds")
    settings = LeagueSettings(check_seed(seed), rules, length)
    run = LeagueRun(
        settings,
        bots,
        jobs if jobs > 1 else 0,
        games=None if hours is not None else games,
        hours=hours,
        timeout=timeout,
        json=None if json is None else Path(json),
    )
    run.play(Console(stderr=True))
    run.finish()
    return run.league()
