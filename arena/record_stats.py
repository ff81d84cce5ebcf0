"""Runs ``python -m arena stats``: counts the games in records and prints tables of the players' statistics."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from arena.columns import PLAY, RESULTS, as_json
from arena.record_games import Counted, Players, RecordedGame, count_item
from arena.report import LOWER_IS_BETTER, plain_text, print_tables, title
from arena.tallies.report import print_groups
from engine.common.files import write_atomically
from engine.common.options import Parser, check_output, describe_error, usable_cores
from engine.common.pools import WorkerError, delay_interrupts
from engine.common.program import FAILED, INTERRUPTED, OK
from engine.common.screen import screen
from engine.records.archives import members
from engine.records.commands import found_paths, say_new, skip, with_progress
from engine.records.filters import filters_of
from engine.records.journal import Journal, digest_of
from engine.records.stream import best_jobs, in_order

ALL, PLAYER = "all players", "player"
IN_DETAIL = 4  # players in the tables of all statistics, next to all players together, unless players are named
CHECKPOINT = 100  # records counted between two updates of the journal of --json
MAX_CLOSE = 3  # names that are proposed
DIGITS = 6  # of means that are 2 or 0, but for the last bits


class Count:
    """The games counted so far, and what became of the other records; kept in a journal with ``--json``."""

    def __init__(self, journal: Journal | None) -> None:
        """Continue after the records in the journal. Raises ValueError if it is damaged."""
        self.players = Players()
        self.done = 0  # records, whatever became of them
        self.games = 0
        self.left_out = 0  # by the filters
        self.faults: list[str] = []
        self._journal = journal
        self._unkept: list[RecordedGame] = []
        self._n_kept_faults = 0
        if journal is not None and journal.last is not None:
            try:
                for entry in journal.entries():
                    self._restore(entry)
            except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
                raise ValueError(f"{journal.path} is damaged: delete it to begin anew") from None

    def _restore(self, entry: dict[str, Any]) -> None:
        for kept in entry["games"]:
            self.players.add(RecordedGame.of_json(kept))
        self.games += len(entry["games"])
        self.faults += entry["faults"]
        self.done, self.left_out, self._n_kept_faults = int(entry["done"]), int(entry["left_out"]), len(self.faults)

    def add(self, counted: Counted) -> None:
        """Add the outcome of the next record."""
        self.done += 1
        if counted.game is not None:
            self.players.add(counted.game)
            self.games += 1
            self._unkept += [counted.game] if self._journal is not None else []
        elif counted.fault:
            self.faults.append(counted.fault)
        else:
            self.left_out += 1
        if self.done % CHECKPOINT == 0:
            self.keep()

    def keep(self) -> None:
        """Write what is not in the journal yet."""
        if self._journal is not None:
            games, faults = [game.as_json() for game in self._unkept], self.faults[self._n_kept_faults :]
            self._journal.add({"done": self.done, "left_out": self.left_out, "games": games, "faults": faults})
            self._unkept, self._n_kept_faults = [], len(self.faults)


def start(parser: Parser, options: Namespace, n_shown: int) -> int:
    """Count and print, of at most ``n_shown`` players if none are named; returns the exit code."""
    try:
        check_output("--json", options.json)
        paths, filters, journal = found_paths(options), filters_of(options), None
        if options.json is not None:
            identity = {"filters": filters.options, "files": digest_of(paths)}
            journal = Journal(options.json.with_name(options.json.name + ".partial"), identity)
        count = Count(journal)
        found = members(paths)
        skip(found, count.done)
        jobs = options.jobs or best_jobs(paths, usable_cores())
        work, notes = partial(count_item, filters=filters), set[str]()
        code, why = OK, ""
        try:
            with closing(in_order(work, found, filters, jobs)) as results:
                for item, counted in with_progress(results, paths):
                    say_new(notes, item.name, counted.notes)
                    if counted.fault:
                        print(counted.fault, file=sys.stderr)
                    with delay_interrupts():  # else a game could be counted twice
                        count.add(counted)
        except KeyboardInterrupt:
            code, why = INTERRUPTED, "interrupted"
        except WorkerError as error:
            code, why = FAILED, str(error)
        with delay_interrupts():
            count.keep()
        print_statistics(screen(), count, options.players_shown, options.statistics, n_shown)
        if code != OK:
            again = "the same command continues" if journal else "with --json FILE, the same command continues"
            print(f"{why}: {count.done:,} records are counted; {again}", file=sys.stderr)
            return code
        if journal is not None:
            write_json(options.json, count)
            journal.remove()
        check_names(options.players_shown or [], count.players.by_games())
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        parser.error(describe_error(error))
    return OK if count.games and not count.faults else FAILED


def check_names(named: Sequence[str], by_games: Sequence[str]) -> None:
    """Raise ValueError for a name that no player has, if there are any."""
    for name in named if by_games else ():
        if name not in by_games:
            close = get_close_matches(name, by_games, MAX_CLOSE) or by_games[:MAX_CLOSE]
            raise ValueError(f"--player {name}: no game of that name was counted; there are {', '.join(close)}, …")


def rows_of(players: Players, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return all statistics of all players together, then of each of ``names``: as for bots, with the key ``player``.

    Those of all players have no intervals: the seats of a game are not independent.
    """
    together = as_json(players.games_of(players.by_games(), ALL))
    for value in together.values():
        if isinstance(value, dict) and "interval" in value:
            value |= {"mean": round(value["mean"], DIGITS) + 0.0, "interval": None}
    rows = [together, *(as_json(players.games_of([name], name)) for name in names)]
    return [{PLAYER: row["bot"]} | {key: value for key, value in row.items() if key != "bot"} for row in rows]


def print_statistics(
    console: Console, count: Count, named: Sequence[str] | None, in_detail: bool, n_shown: int
) -> None:
    """Print the tables of the players that are ``named``, or of ``n_shown``; ``in_detail``: all statistics, too."""
    by_games = count.players.by_games()
    if not by_games:
        console.print("no games were counted")
        return
    names = by_games[:n_shown] if named is None else [name for name in dict.fromkeys(named) if name in by_games]
    rows = rows_of(count.players, names)
    n_players = len(by_games)
    title(console, f"Results: {count.games:,} games of {n_players:,} players")
    console.print(Text(plain_text(console)(LOWER_IS_BETTER)))
    print_tables(console, RESULTS, rows, (PLAYER,))
    title(console, f"Play: {rows[0]['rounds']:,} rounds of players")
    print_tables(console, PLAY, rows, (PLAYER,))
    if in_detail:
        print_groups(console, rows[: 1 + IN_DETAIL] if named is None else rows, PLAYER)
    others = n_players - len(names)
    rare = {"other players": others, "records that could not be counted": len(count.faults), "left out": count.left_out}
    if told := " · ".join(f"{name} {n:,}" for name, n in rare.items() if n):
        console.print(Text(told))


def write_json(path: Path, count: Count) -> None:
    """Write all statistics of all players. Raises OSError."""
    by_games = count.players.by_games()
    players = rows_of(count.players, by_games) if by_games else []
    document = {"games": count.games, "left_out": count.left_out, "faults": count.faults, "players": players}
    with write_atomically(path) as file:
        file.write(json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n")
