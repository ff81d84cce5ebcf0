"""The standings of a tournament, and its result: one JSON document in the format of the arena's leagues.

`arena.leagues.store` reads the document as it reads its own: `league`, `bots`, `pairs` and `matches` are those of
``python -m arena league --json``. `schedule` has every game besides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

import numpy as np

from engine.common.program import installed_version
from engine.contests.ratings import SAMPLES
from engine.contests.seating import ROTATIONS
from engine.contests.standings import Games, standings_of
from engine.statistics.counts import COUNTS
from server.settings import RoomSettings
from server.tournaments.plan import Due, Plan, game_id
from server.tournaments.tournament import Result

LIVE_SAMPLES = 50  # of the bootstrap, while the tournament goes on


def document(
    tournament_id: str,
    settings: RoomSettings,
    plan: Plan,
    schedule: Sequence[Due],
    results: Mapping[int, Result],
    samples: int = SAMPLES,
) -> dict[str, Any]:
    """The document; `results` by the numbers of the games, `samples`: of the bootstrap.

    An entrant for whom a house bot played every game has `failed`: its games are left out of the standings.
    """
    place = {name: index for index, name in enumerate(plan.players)}
    played = sorted(  # as in the arena's document, from which the same standings follow to the last digit
        (due for due in schedule if due.number in results),
        key=lambda due: (sorted(place[name] for name in due.seats), due.wall, due.number),
    )
    failed = failed_entrants(played, results)
    counted = [due for due in played if failed.isdisjoint(due.seats)]
    names = [name for name in plan.players if any(name in due.seats for due in counted)]
    standings, pairs = standings_of(names, games_of(names, counted, results), samples) if counted else ([], {})
    rows = {standing.bot: asdict(standing) | {"failed": False} for standing in standings}
    identities = {name: "a house bot" if name in plan.house else "a bot that connected" for name in plan.players}
    taken = Counter(name for due in played for name, seat in seats_of(due, results) if seat.taken_over)
    return {
        "version": installed_version(),
        "league": {"seed": plan.seed, "rules": settings.rules, "length": settings.length},
        "games": len(played),
        "bots": [
            {"bot": name, "identity": identity, "taken_over": taken[name]} | rows.get(name, {"failed": name in failed})
            for name, identity in identities.items()
        ],
        "pairs": [asdict(pair) for pair in pairs.values()],
        "matches": list(matches(plan, played, results)),
        "schedule": [
            entry(due, game_id(tournament_id, due.number), "finished", results[due.number])
            for due in schedule
            if due.number in results
        ],
    }


def entry(due: Due, game: str, status: str, result: Result | None) -> dict[str, Any]:
    """A game of the schedule."""
    found: dict[str, Any] = {"number": due.number, "wall": due.wall, "seats": due.seats, "game": game, "status": status}
    if result is not None:
        for key in ("rank", "score", "taken_over"):
            found[key] = [getattr(seat, key) for seat in result.seats]
    return found


def seats_of(due: Due, results: Mapping[int, Result]) -> Iterator[tuple[str, Any]]:
    """The names in a finished game, each with its result."""
    yield from zip(due.seats, results[due.number].seats, strict=True)


def failed_entrants(played: Sequence[Due], results: Mapping[int, Result]) -> set[str]:
    """Those who were absent from every game: a house bot has played all of them."""
    own = {name for due in played for name, seat in seats_of(due, results) if not seat.absent}
    return {name for due in played for name in due.seats} - own


def order_of(due: Due, results: Mapping[int, Result]) -> list[str]:
    """The names in a finished game from first to third."""
    return [name for name, _ in sorted(seats_of(due, results), key=lambda of: of[1].rank)]


def games_of(names: Sequence[str], counted: Sequence[Due], results: Mapping[int, Result]) -> Games:
    """Finished games, by the numbers of their players in `names`."""
    number = {name: index for index, name in enumerate(names)}
    orders = [[number[name] for name in order_of(due, results)] for due in counted]
    return Games(np.array(orders), np.array([due.wall for due in counted]))


def matches(plan: Plan, played: Sequence[Due], results: Mapping[int, Result]) -> Iterator[dict[str, Any]]:
    """The games of every three that have met, on the walls that they have played in all rotations."""
    for bots, of_three in groupby(played, lambda due: [name for name in plan.players if name in due.seats]):
        walls = [list(on_wall) for _, on_wall in groupby(of_three, lambda due: due.wall)]
        whole = [on_wall for on_wall in walls if len(on_wall) == ROTATIONS]
        if not whole:
            continue
        totals = {bot: [0] * (len(COUNTS) + 1) for bot in bots}  # as the arena's: after the counts, the score
        faults = Counter[str]()
        for due in [due for on_wall in whole for due in on_wall]:
            for name, seat, play in zip(due.seats, results[due.number].seats, results[due.number].plays, strict=True):
                counts = [*(getattr(play, count) for count in COUNTS), seat.score]
                totals[name] = [a + b for a, b in zip(totals[name], counts, strict=True)]
                faults[name] += seat.taken_over
        yield {
            "bots": bots,
            "walls": [on_wall[0].wall for on_wall in whole],
            "orders": [
                " ".join("".join(str(bots.index(name)) for name in order_of(due, results)) for due in on_wall)
                for on_wall in whole
            ],
            "totals": [totals[bot] for bot in bots],
            "faults": [faults[bot] for bot in bots],
        }
