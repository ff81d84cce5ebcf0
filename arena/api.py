"""The arena for Python callers: `play`, which `arena` and `nukidora` offer."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from rich.console import Console

from agents.base import Agent
from agents.registry import check_agent
from arena.match import Match
from arena.options import MOST_GAMES
from arena.run import ArenaRun
from arena.schedule import RunSettings, games_of, round_up
from arena.stopping import Sprt, Until
from engine.checks import check_scores, check_seed, positive_number, whole_number
from engine.rules import EVEN_SCORES
from engine.table import N_SEATS


def play(
    bots: Sequence[str | Agent],
    games: int = 300,
    seed: int = 0,
    *,
    rules: str = "tenhou",
    length: Literal["east", "hanchan"] = "hanchan",
    jobs: int = 1,
    save: str | Path | None = None,
    timeout: float = 30.0,
    scores: Sequence[int] = EVEN_SCORES,
    stop: Sprt | Until | None = None,
    control_variates: bool = True,
    html: str | Path | None = None,
    parquet: str | Path | None = None,
    decisions: bool = False,
    tenhou_seed: str = "",
) -> Match:
    """Let three bots play each other on shared walls, as ``python -m arena`` does, and compare them.

    ``bots``: three names (as for ``--bots``) or objects with a ``name`` and a method ``act(views)``, see
    `agents.base.Agent`. ``games`` is rounded up to a multiple of three, since each wall is played in three rotations of
    the seats; ``seed`` seeds all walls and the bots given by name. ``jobs``: with 1, the games are played in this
    process; with more, in that many worker processes: all bots must then be given by name, and a script needs
    ``if __name__ == "__main__":``, as for `multiprocessing`. ``save``: a folder for the records of the games.
    ``timeout``: seconds an external bot has to answer. ``scores``: the starting points of each of ``bots`` in every
    game, as a handicap; they add up to 105,000. ``stop``: ends the match early, when it is known whether the first bot
    is better, as in ``Sprt(0, -0.02)``, or when the intervals are narrow, as in ``Until(0.01)``; see `arena.stopping`.
    ``control_variates``: remove the luck of the walls from placements and final points, see `arena.luck`.
    ``tenhou_seed``: the seed of a game on Tenhou, whose walls are played instead of shuffled ones, see
    `arena.schedule.RunSettings`. ``html``: a file for the report, a page of tables and figures. ``parquet``: a folder
    for ``games.parquet`` and ``rounds.parquet``, with ``decisions`` also ``decisions.parquet`` (`arena.parquet`). Both
    need the extra ``report``. Progress is shown on stderr.

    Raises ValueError for a bot or setting that does not exist, TypeError if an argument is of the wrong type,
    `arena.chunk.GameError` if a bot fails, `engine.common.pools.WorkerError` if a worker process dies, OSError if a
    file cannot be written, ModuleNotFoundError if ``html`` or ``parquet`` is given without the extra ``report``.

    Examples:
        >>> match = play(["efficiency", "random", "tsumogiri"], games=30, length="east", seed=1)
        >>> match.bots["efficiency"].placement.mean < match.bots["random"].placement.mean
        True
        >>> [(pair.bot, pair.against, pair.significant) for pair in match.comparisons][:1]
        [('efficiency', 'random', True)]
        >>> print(str(match).splitlines()[0])
        Results: 10 walls in 3 rotations, tenhou east, seed 1
    """
    if isinstance(bots, str) or len(bots) != N_SEATS:
        raise ValueError(f'three bots play, as in ["rule", "random", "random"], not {bots!r}')
    games = whole_number(games, "games", f"an integer from 1 to {MOST_GAMES}", MOST_GAMES, 1)
    jobs = whole_number(jobs, "jobs", "a positive integer", sys.maxsize, 1)
    seed = check_seed(seed)
    timeout = positive_number(timeout, "timeout", "a positive number of seconds")
    if not isinstance(stop, Sprt | Until | None):
        raise TypeError(f"stop must be a rule, such as Sprt(0, -0.02) or Until(0.01), or None, not {stop!r}")
    for bot in bots:
        if isinstance(bot, type):
            raise ValueError(f"{bot.__name__} is a class: give an object, {bot.__name__}()")
    named = tuple(bot if isinstance(bot, str) else check_agent(bot, repr(bot)).name for bot in bots)
    settings = RunSettings(
        named, round_up(games), seed, rules, length, timeout, check_scores(scores), stop, control_variates, tenhou_seed
    )
    settings.make_rules()  # raises for rules that do not exist
    settings.tenhou_walls(games_of(settings, [0]))  # raises for an invalid seed
    make_bots = None
    if any(not isinstance(bot, str) for bot in bots):
        if jobs > 1:
            raise ValueError("bots given as objects play in this process alone: jobs=1, or names such as FILE.py:CLASS")
        make_bots = partial(settings.make_bots, bots)
    if decisions and parquet is None:
        raise ValueError("decisions are written as Parquet: name a folder, parquet=...")
    run = ArenaRun(
        settings,
        jobs if jobs > 1 else 0,
        save=None if save is None else Path(save),
        make_bots=make_bots,
        html=None if html is None else Path(html),
        parquet=None if parquet is None else Path(parquet),
        decisions=decisions,
    )
    run.play(Console(stderr=True))
    run.finish()
    return run.match
