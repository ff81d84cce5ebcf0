"""Runs ``python -m arena stats``: counts the games in records, prints tables of the players' statistics, writes files.

With ``--json``, the counts are kept in a checkpoint, the rows for ``--parquet`` in parts next to it.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from arena.columns import PLAY, RESULTS, as_json
from arena.page.records import PLAYER, write_page
from arena.parquet import OF_RECORDS, ParquetFiles, games_of_records
from arena.record_games import Counted, Players, count_item
from arena.report import LOWER_IS_BETTER, plain_text, print_tables, title
from arena.run import check_packages, make_folder
from arena.tallies.report import print_groups
from engine.common.files import write_atomically
from engine.common.line_file import LineFile
from engine.common.options import Parser, check_not_read, check_output, describe_error, notes_stream
from engine.common.pools import delay_interrupts
from engine.common.program import FAILED, OK
from engine.common.screen import screen
from engine.common.sources import digest_of_sources
from engine.records.archives import digest_of, files_of, members
from engine.records.commands import for_each, found_paths, skip
from engine.records.filters import THREE_PLAYERS
from engine.records.stream import in_order, jobs_for

ALL = "all players"
IN_DETAIL = 5  # columns of the tables of all statistics, all players together included, unless players are named
CHECKPOINT = 100  # records counted between two updates of the checkpoint of --json
MAX_CLOSE = 3  # names that are proposed
DIGITS = 6  # of means that are 2 or 0, but for the last bits


class Count:
    """The games counted so far, and what became of the other records; kept in a checkpoint with ``--json``.

    ``files``: the Parquet files, if they are wanted. ``kept``: the first game of
    each update of the checkpoint.
    """

    def __init__(self, checkpoint: LineFile | None) -> None:
        """Continue after the records in the checkpoint. Raises ValueError if it is damaged."""
        self.players = Players()
        self.done = 0  # records, whatever became of them
        self.left_out = 0  # games of four players
        self.faults: list[str] = []
        self.files: ParquetFiles | None = None
        self.kept: list[int] = []
        self._checkpoint = checkpoint
        self._unkept: list[Counted] = []
        self._n_kept_faults = 0
        if checkpoint is not None:
            checkpoint.restore(self._restore)

    @property
    def games(self) -> int:
        """The number of games."""
        return len(self.players.games)

    def _restore(self, entry: dict[str, Any]) -> None:
        self.kept += [self.games] if entry["games"] else []
        for kept in entry["games"]:
            self.players.add(Counted.of_json(kept))
        self.faults += entry["faults"]
        self.done, self.left_out, self._n_kept_faults = int(entry["done"]), int(entry["left_out"]), len(self.faults)

    def add(self, counted: Counted) -> None:
        """Add the outcome of the next record."""
        self.done += 1
        if counted.game is not None:
            self.players.add(counted)
            self._unkept.append(counted)
        elif counted.fault:
            self.faults.append(counted.fault)
        else:
            self.left_out += 1
        if self.done % CHECKPOINT == 0:
            self.keep()

    def keep(self) -> None:
        """Write what is not kept yet: the rows of games, then the line of the checkpoint that says that they are."""
        first = self.games - len(self._unkept)
        if self.files is not None and self._unkept:
            self.files.add(first, {"rounds": self.players.rows_of(first, self._unkept)})
        if self._checkpoint is not None:
            games, faults = [counted.as_json() for counted in self._unkept], self.faults[self._n_kept_faults :]
            self._checkpoint.append({"done": self.done, "left_out": self.left_out, "games": games, "faults": faults})
        self._unkept, self._n_kept_faults = [], len(self.faults)

    def forget(self) -> None:
        """Delete what is kept: everything is counted and written. Raises OSError."""
        if self._checkpoint is not None:
            self._checkpoint.delete()
        if self.files is not None:
            self.files.delete_parts()


def start(parser: Parser, options: Namespace, n_shown: int) -> int:
    """Count and print, of at most ``n_shown`` players if none are named; returns the exit code."""
    try:
        check_files(options)
        if not (paths := found_paths(options)):
            return FAILED
        for option, path in (("--json", options.json), ("--html", options.html)):
            check_not_read(option, path, files_of(paths))
        count = open_count(options, paths)
        code, why = count_records(count, paths)
        rows, in_detail = shown_rows(count, options.players_shown, n_shown), IN_DETAIL
        if options.players_shown:
            in_detail = len(rows)
        print_statistics(screen(), count, rows, in_detail if options.statistics else 0)
        if code != OK:
            again = "the same command continues" if options.json else "with --json FILE, the same command continues"
            print(f"{why}: {count.done:,} records are counted; {again}", file=sys.stderr)
            return code
        write_files(options, count, rows)
        count.forget()
        check_names(options.players_shown or [], count.players.by_games())
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        parser.error(describe_error(error))
    return OK if count.games and not count.faults else FAILED


def open_count(options: Namespace, paths: Sequence[Path]) -> Count:
    """Begin to count, or go on where the same command was interrupted. Raises ValueError, OSError."""
    checkpoint, with_rounds = None, options.parquet is not None
    if options.json is not None:
        sources = digest_of_sources("engine", "arena")
        identity = {"files": digest_of(paths), "rounds": with_rounds, "sources": sources}
        checkpoint = LineFile(options.json.with_name(options.json.name + ".partial"), identity)
    count = Count(checkpoint)
    if with_rounds:
        parts = None if checkpoint is None else checkpoint.path.with_name(checkpoint.path.name + ".rows")
        count.files = ParquetFiles(options.parquet, ("rounds",), parts, count.kept, OF_RECORDS)
    return count


def count_records(count: Count, paths: Sequence[Path]) -> tuple[int, str]:
    """Count the records that are not counted yet; returns the exit code and, if it is not OK, why. Raises OSError."""
    found = members(paths)
    skip(found, count.done)
    work = partial(count_item, with_rounds=count.files is not None)

    def take(counted: Counted) -> None:
        if counted.fault:
            print(counted.fault, file=sys.stderr)
        count.add(counted)

    code, why = for_each(in_order(work, found, THREE_PLAYERS, jobs_for(paths)), paths, count.done, take)
    with delay_interrupts():
        count.keep()
    return code, why


def check_files(options: Namespace) -> None:
    """Make the folders of the files that are to be written. Raises ValueError, or ModuleNotFoundError for an extra."""
    check_output("--json", options.json)
    check_packages(options.html, options.parquet)
    if options.html is not None:
        make_folder(options.html.parent, f"--html {options.html}")
        check_output("--html", options.html)
    if options.parquet is not None:
        make_folder(options.parquet, f"--parquet {options.parquet}")
        for kind in OF_RECORDS:
            check_output("--parquet", options.parquet / f"{kind}.parquet")


def write_files(options: Namespace, count: Count, rows: Sequence[dict[str, Any]]) -> None:
    """Write all files, the report of the players in ``rows``, and say so. Raises OSError."""
    notes = notes_stream(options.html, options.json)
    if count.files is not None:
        games = games_of_records(count.players)
        count.files.write(list(count.players.numbers), games, range(count.games))
        print(f"games and rounds as Parquet in {options.parquet}", file=notes)
    if options.html is not None and rows[1:]:
        lines = [f"{games_of_players(count)}; {rows[0]['rounds']:,} rounds of players.", not_shown(count, rows)]
        write_page(options.html, count.players, rows, lines)
        print(f"report in {options.html}", file=notes)
    if options.json is not None:
        write_json(options.json, count)
        print(f"statistics of all players in {options.json}", file=notes)


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


def shown_rows(count: Count, named: Sequence[str] | None, n_shown: int) -> list[dict[str, Any]]:
    """The `rows_of` the players that are ``named``, or of ``n_shown``; none if no player was counted."""
    by_games = count.players.by_games()
    names = by_games[:n_shown] if named is None else [name for name in dict.fromkeys(named) if name in by_games]
    return rows_of(count.players, names) if by_games else []


def print_statistics(console: Console, count: Count, rows: Sequence[dict[str, Any]], n_in_detail: int) -> None:
    """Print the tables of ``rows``, and all statistics of the first ``n_in_detail``."""
    if not rows:
        console.print("no games were counted")
        return
    title(console, f"Results: {games_of_players(count)}")
    console.print(Text(plain_text(console)(LOWER_IS_BETTER)))
    print_tables(console, RESULTS, rows, (PLAYER,))
    title(console, f"Play: {rows[0]['rounds']:,} rounds of players")
    print_tables(console, PLAY, rows, (PLAYER,))
    if n_in_detail:
        print_groups(console, rows[:n_in_detail], PLAYER)
    if told := not_shown(count, rows):
        console.print(Text(told))


def games_of_players(count: Count) -> str:
    """How many games of how many players were counted."""
    players = len(count.players.numbers)
    return f"{count.games:,} game{'s' * (count.games != 1)} of {players:,} player{'s' * (players != 1)}"


def not_shown(count: Count, rows: Sequence[dict[str, Any]]) -> str:
    """What ``rows``, and the games, do not have."""
    others = len(count.players.numbers) - len(rows[1:])
    rare = {
        "other players": others,
        "records that could not be counted": len(count.faults),
        "games of four": count.left_out,
    }
    return " · ".join(f"{name} {n:,}" for name, n in rare.items() if n)


def write_json(path: Path, count: Count) -> None:
    """Write all statistics of all players. Raises OSError."""
    by_games = count.players.by_games()
    players = rows_of(count.players, by_games) if by_games else []
    document = {"games": count.games, "left_out": count.left_out, "faults": count.faults, "players": players}
    with write_atomically(path) as file:
        file.write(json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n")
