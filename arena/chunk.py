"""Plays one chunk of the schedule: some walls in all rotations.

The games are played on tables in lock step. With an external bot, which plays one game at a time, they are played one
after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from agents.external.external_agent import ExternalAgent
from agents.external.fallback import FallbackAgent
from arena.bot_games import N_COUNTS, count_rounds
from arena.luck import N_FACTORS, luck_of
from arena.observers import Fault, GameObserver, LuckObserver, make_observers
from arena.parquet_rows import RowCollector, in_order
from arena.schedule import Bot, Game, RunSettings, games_of
from arena.tallies.counts import N_TALLIES, add_rounds
from arena.tallies.observer import RoundObserver
from arena.tallies.times import N_TIMES, Stopwatch
from engine.contests.seating import ROTATIONS
from engine.rules import N_DRAWS
from engine.statistics.rounds import rounds_of
from engine.table import GAME_OVER, N_SEATS
from engine.tables import Policy, PolicyFault, Tables

MEAN_DRAWS = 36  # of a round, about
LUCK_DIGITS = 4  # so that a line of the checkpoint is short, and says what was played


class GameError(Exception):
    """A bot failed; the message names the bot, the game and the seat."""


@dataclass(frozen=True, slots=True)
class GamesPlayed:
    """The games played since the last update; an unfinished one counts by its share of the scheduled rounds."""

    n: float


@dataclass(frozen=True, slots=True)
class ChunkResult:
    """The games of a finished chunk.

    ``counts``: int32[walls, rotations, seats, N_COUNTS]. ``decisions``: how many times a bot was asked. ``luck``:
    float64[walls, rotations, seats, 2] (`arena.luck.luck_of`), if it is measured. ``tallies``: int32[parts, bots,
    N_TALLIES] (`arena.tallies`), with a part for each wall if the run may stop at any of them, else with one.
    ``times``: int64[bots, N_TIMES] (`arena.tallies.times`), if they are known. ``rows``: of `arena.parquet_rows`, by
    their kind. ``files``: the saved games, where the worker may not write them itself (`arena.worker`).
    """

    walls: list[int]
    counts: np.ndarray
    decisions: int
    faults: list[Fault] = field(default_factory=list)
    luck: np.ndarray | None = None
    tallies: np.ndarray | None = None
    times: np.ndarray | None = None
    rows: dict[str, np.ndarray] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)


def play_chunk(
    settings: RunSettings,
    bots: Sequence[Bot],
    walls: list[int],
    folder: Path | None,
    rows: Sequence[str] = (),
    log: Path | None = None,
) -> Iterator[GamesPlayed | ChunkResult]:
    """Play ``walls`` in all rotations, and save the games in ``folder`` unless it is None.

    ``rows``: the kinds of rows to collect, see `arena.parquet_rows.RowCollector`. ``log``: a folder for the traffic of
    external bots. Yields GamesPlayed as rounds end, and the ChunkResult at last. Raises GameError, and OSError from
    saving.
    """
    games, rules = games_of(settings, walls), settings.make_rules()
    counts = np.zeros((len(games), N_SEATS, N_COUNTS), dtype=np.int32)
    factors = np.zeros((len(games), N_SEATS, N_FACTORS))
    parts = np.array([0 if settings.stop is None else at // ROTATIONS for at in range(len(games))])
    owners = len(bots) * parts[:, None] + [game.seats for game in games]  # of each seat: which row of tallies
    tallies = np.zeros((parts[-1] + 1, len(bots), N_TALLIES), dtype=np.int32)
    times = np.zeros((len(bots), N_TIMES), dtype=np.int64)
    decisions = 0
    faults: list[Fault] = []
    collected: list[dict[str, np.ndarray]] = []
    step = 1 if settings.has_external_bots else len(games)
    for first in range(0, len(games), step):
        part = slice(first, first + step)
        seeds = np.array([game.seed for game in games[part]], dtype=np.uint64)
        walls_given = settings.tenhou_walls(games[part])
        tables = Tables(seeds, rules, scores=settings.scores_of(games[part]), walls=walls_given)
        observers = make_observers(bots, games[part], tables, folder, faults, log)
        if settings.control_variates:
            observers.append(LuckObserver(tables, factors[part]))
        round_observer = RoundObserver(tables)
        observers.append(round_observer)
        collector = RowCollector(games[part], tables, rows) if rows else None
        reported = 0.0
        for n in play_games(tables, bots, games[part], observers, times, collector):
            if n > reported:  # it decreases briefly when a dealer repeats
                yield GamesPlayed(n - reported)
                reported = n
        decisions += tables.decisions
        rounds, of_games = round_observer.rounds()
        counts[part] = count_rounds(rounds, of_games, tables.records["seat"]["score"])
        add_rounds(rounds, of_games, owners[part][of_games], tallies.reshape(-1, N_TALLIES))
        if collector is not None:
            collected.append(collector.rows(rounds, of_games))
    by_wall = (len(walls), ROTATIONS, N_SEATS, -1)
    luck = luck_of(factors).round(LUCK_DIGITS).reshape(by_wall) if settings.control_variates else None
    every = {kind: in_order([of_part[kind] for of_part in collected]) for kind in rows}
    yield ChunkResult(walls, counts.reshape(by_wall), decisions, faults, luck, tallies, times, every)


def play_games(
    tables: Tables,
    bots: Sequence[Bot],
    games: Sequence[Game],
    observers: Sequence[GameObserver],
    times: np.ndarray,
    collector: RowCollector | None = None,
) -> Iterator[float]:
    """Play ``games`` on ``tables`` to the end, adding to ``times``, int64[bots, N_TIMES].

    ``collector``: collects rows, if any are wanted. Yields how many games are `played` each time that rounds have
    ended, and at the end. Raises what `play_chunk` raises.
    """
    players = np.array([game.seats for game in games], dtype=np.int8)
    policies: list[Policy] = [Stopwatch(bot.agent.act, own) for bot, own in zip(bots, times, strict=True)]
    if collector is not None:
        observers = [*observers, collector]
        policies = collector.watched(policies)
    try:
        for ended in tables.play(policies, players):
            for observer in observers:
                observer.rounds_ended(ended)
            yield count_played(tables.records)
    except PolicyFault as fault:
        where = f"bot {bots[fault.policy].label}, {games[fault.table].name}, seat {fault.seat}"
        raise GameError(f"{where}: {fault.what}") from fault
    for observer in observers:
        observer.games_ended()
    yield count_played(tables.records)


def count_played(records: np.ndarray) -> float:
    """Return how many of the games ``records`` TABLE[n] are played, unfinished ones by their share of the rounds.

    The remaining time is estimated from it: of games in lock step, hardly any ends in the first half of the time.
    """
    scheduled = N_SEATS * (records["rules"]["last_wind"] + 1)
    ended = N_SEATS * records["round_wind"] + records["dealer"]
    within = np.minimum((N_DRAWS - records["live_left"]) / MEAN_DRAWS, 1.0)
    return float(np.where(records["phase"] == GAME_OVER, 1.0, np.minimum((ended + within) / scheduled, 1.0)).sum())


def warm_up(settings: RunSettings, bots: Sequence[Bot]) -> None:
    """Compile everything that a game needs, by playing the first game to the end of its second round.

    A bot that fails here is not reported: it fails again when the game is played.
    """
    game = games_of(settings, [0])[0]
    tables = Tables([game.seed], settings.make_rules(), scores=settings.scores_of([game]))
    policies: list[Policy] = [
        FallbackAgent().act if isinstance(bot.agent, ExternalAgent) else bot.agent.act for bot in bots
    ]
    with suppress(PolicyFault):
        for ended in islice(tables.play(policies, np.array([game.seats], dtype=np.int8)), 2):
            rounds_of(tables.raw, ended)
