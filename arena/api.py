"""The arena for Python callers: `play`, which `nukidora` offers, and its result."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from agents.base import Agent
from agents.registry import checked
from arena.report import print_report
from arena.run import ArenaRun
from arena.schedule import RunSettings, round_up
from arena.stopping import Sprt, Until
from engine.checks import checked_scores, checked_seed, whole_number
from engine.rules import EVEN_SCORES
from engine.table import N_SEATS

TABLE_WIDTH = 100  # characters


@dataclass(frozen=True, repr=False)
class Match:
    """The result of a match; as text, the tables that the arena prints.

    ``by_bot``: the statistics of each bot by its name, such as ``by_bot["rule"]["win_rate"]``; where there is an
    interval, it stands beside the mean: ``by_bot["rule"]["placement"]`` is ``{"mean": 1.9, "interval": 0.1}``. The keys
    are those of `arena.columns`. ``comparisons``: every two bots compared, with the keys ``bot``, ``against``,
    ``difference``, ``superiority``, ``told_apart`` and ``more_games`` (see `arena.statistics.Comparison`). ``games``:
    the result of every game. ``faults``: the failures of external bots.
    """

    document: dict[str, Any]  # all of this; see `arena.results.Results.document`
    games: list[dict[str, Any]]

    @property
    def by_bot(self) -> dict[str, dict[str, Any]]:
        """The statistics of each bot, by its name."""
        return {row["bot"]: row for row in self.document["bots"]}

    @property
    def comparisons(self) -> list[dict[str, Any]]:
        """Every two bots compared."""
        return list(self.document["comparisons"])

    @property
    def faults(self) -> list[dict[str, Any]]:
        """The failures of external bots."""
        return list(self.document["faults"])

    def __repr__(self) -> str:
        text = StringIO()
        print_report(Console(file=text, width=TABLE_WIDTH, color_system=None), self.document)
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


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
) -> Match:
    """Let three bots play each other on shared walls, as ``python -m arena`` does, and compare them.

    ``bots``: three names (as for ``--bots``) or objects with a ``name`` and a method ``act(views)``, see
    `agents.base.Agent`. ``games`` is rounded up to a multiple of three, since each wall is played in three rotations of
    the seats; ``seed`` is that of all walls and of the bots given by name. ``jobs``: 1 plays in this process, more
    in as many worker processes; all bots must then be given by name, and a script needs ``if __name__ == "__main__":``,
    as for `multiprocessing`. ``save``: a folder for the records of the games. ``timeout``: seconds that an external bot
    has for an answer. ``scores``: the points that each of ``bots`` starts every game with, as a handicap; together
    105,000. ``stop``: ends the match before ``games`` when it is known whether the first bot is better, as in
    ``Sprt(0, -0.02)``, or when the intervals are narrow, as in ``Until(0.01)``; see `arena.stopping`.
    ``control_variates``: placements and final points without the luck of the walls, see `arena.luck`. Progress is shown
    on stderr.

    Raises ValueError for a bot or setting that does not exist, TypeError for a number that is none,
    `arena.chunk.GameError` if a bot fails, OSError if games cannot be saved.

    >>> match = play(["efficiency", "random", "tsumogiri"], games=30, length="east", seed=1)
    >>> match.by_bot["efficiency"]["placement"]["mean"] < match.by_bot["random"]["placement"]["mean"]
    True
    >>> [(pair["bot"], pair["against"], pair["told_apart"]) for pair in match.comparisons][:1]
    [('efficiency', 'random', True)]
    >>> print(str(match).splitlines()[0])
    Results: 10 walls in 3 rotations, tenhou east, seed 1
    """
    if isinstance(bots, str) or len(bots) != N_SEATS:
        raise ValueError(f'three bots play, as in ["rule", "random", "random"], not {bots!r}')
    games = whole_number(games, "games", "a positive integer", sys.maxsize, 1)
    jobs = whole_number(jobs, "jobs", "a positive integer", sys.maxsize, 1)
    seed = checked_seed(seed)
    for bot in bots:
        if isinstance(bot, type):
            raise ValueError(f"{bot.__name__} is a class: give an object, {bot.__name__}()")
    named = tuple(bot if isinstance(bot, str) else checked(bot, repr(bot)).name for bot in bots)
    settings = RunSettings(
        *(named, round_up(games), seed, rules, length, timeout, checked_scores(scores), stop, control_variates)
    )
    settings.make_rules()  # raises for rules that do not exist
    make_bots = None
    if any(not isinstance(bot, str) for bot in bots):
        if jobs > 1:
            raise ValueError("bots given as objects play in this process alone: jobs=1, or names such as FILE.py:CLASS")
        make_bots = partial(settings.make_bots, bots)
    run = ArenaRun(settings, jobs if jobs > 1 else 0, save=None if save is None else Path(save), make_bots=make_bots)
    run.play(Console(stderr=True))
    return Match(run.document, list(run.results.games()))
