"""The standings of a league, computed from its games: ratings, placements, and every two bots compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arena.bot_games import N_COUNTS
from arena.leagues.games import LeagueSettings, Meeting
from arena.leagues.league import League
from engine.contests.ratings import SAMPLES
from engine.contests.seating import ROTATIONS
from engine.contests.standings import Games, standings_of
from engine.table import N_SEATS


def league_of(
    settings: LeagueSettings, bots: Sequence[str], meetings: Sequence[Meeting], samples: int = SAMPLES
) -> League:
    """The standings after the games of ``meetings``.

    ``bots``: all that play in them; those without games are left out. ``samples``: of the bootstrap.
    """
    n_games = ROTATIONS * sum(len(meeting.orders) for meeting in meetings)
    failed = failed_bots(meetings)
    counted = [meeting for meeting in meetings if failed.isdisjoint(meeting.bots)]
    played = {bot for meeting in counted for bot in meeting.bots}
    names = [bot for bot in bots if bot in played]
    if not names:
        return League(settings, [], {}, {}, [bot for bot in bots if bot in failed], n_games)
    standings, pairs = standings_of(names, games_of(names, counted), samples)
    totals = {name: totals_of(name, counted) for name in names}
    return League(settings, standings, pairs, totals, [bot for bot in bots if bot in failed], n_games)


def failed_bots(meetings: Sequence[Meeting]) -> set[str]:
    """The external bots that failed in every game."""
    games, faults = dict[str, int](), dict[str, int]()
    for meeting in meetings:
        for bot, n_faults in zip(meeting.bots, meeting.faults.tolist()):
            games[bot] = games.get(bot, 0) + ROTATIONS * len(meeting.orders)
            faults[bot] = faults.get(bot, 0) + n_faults
    return {bot for bot, n in games.items() if n and faults[bot] == n}


def games_of(names: Sequence[str], meetings: Sequence[Meeting]) -> Games:
    """All games, by the numbers of the bots in ``names``."""
    number = {name: index for index, name in enumerate(names)}
    orders, walls = [], []
    for meeting in meetings:
        of_match = np.array([number[bot] for bot in meeting.bots])
        orders.append(of_match[np.stack(list(meeting.orders.values()))].reshape(-1, N_SEATS))
        walls.append(np.repeat(list(meeting.orders), ROTATIONS))
    return Games(np.concatenate(orders), np.concatenate(walls))


def totals_of(bot: str, meetings: Sequence[Meeting]) -> np.ndarray:
    """The sums of the counts of a bot: int64[N_COUNTS]."""
    totals = np.zeros(N_COUNTS, np.int64)
    for meeting in meetings:
        if bot in meeting.bots:
            totals += meeting.totals[meeting.bots.index(bot)]
    return totals
