"""The file of a league, and beside it the games that are not in it yet.

The file is one JSON document: the settings, the bots with their ratings, every two bots compared, and the games of
every three bots. It is written when the league stops in good order. Until then, ``FILE.partial`` holds a line for each
bot that joins, each batch that is taken from the schedule and each chunk of it that is played: from these an
interrupted league goes on as if it had not been interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agents.bot_files import digest_of_files, digest_of_weights
from agents.external.specs import is_external
from arena.checkpoint import check_walls
from arena.leagues.games import LeagueGames, LeagueSettings, Meeting
from engine.common.files import write_json
from engine.common.line_file import DAMAGE, LineFile, ResumeError, differing
from engine.common.sources import digest_of_sources
from engine.contests.schedule import Batch, Schedule
from engine.table import N_SEATS


def identity_of(bot: str) -> str:
    """What has changed when a bot of the same name is another one: its files, the sources, the bundled weights.

    Of an external bot, the files that its text names. What files import is not included.
    """
    own = digest_of_files([bot])
    return own if is_external(bot) else f"{digest_of_sources('engine', 'agents')}-{digest_of_weights()}-{own}"


class Store:
    """The games of a league, those of its files included.

    ``taken``: the batches that were taken from the schedule before the league was interrupted, played or not.
    """

    def __init__(self, path: Path | None, settings: LeagueSettings) -> None:
        """``path``: of the file; None: nothing is kept. Raises ResumeError and OSError."""
        self.path = path
        self.settings = settings
        self.games = LeagueGames()
        self.taken: list[Batch] = []
        self._identities: dict[str, str] = {}
        self._in_file: list[Meeting] = []
        self._lines: LineFile | None = None
        if path is not None:
            self._read(path)
            if self._partial(path).exists():
                self._lines = LineFile(self._partial(path), asdict(settings))
                self._lines.restore(self._take_line)

    @property
    def bots(self) -> list[str]:
        """All bots of the league, in the order in which they joined."""
        return list(self._identities)

    @staticmethod
    def _partial(path: Path) -> Path:
        """The file of the games that are not in the file at ``path`` yet."""
        return path.with_name(path.name + ".partial")

    def _read(self, path: Path) -> None:
        """Read the file, if there is one."""
        try:
            document = json.loads(path.read_bytes())
            different = differing(document["league"], asdict(self.settings))
            for row in document["bots"]:
                self._know(row)
            self._in_file = [self._met(entry) for entry in document["matches"]]
        except FileNotFoundError:
            return
        except DAMAGE:
            raise ResumeError(
                f"{path} is there already, without a league of this version: name another --json FILE"
            ) from None
        if different:
            raise ResumeError(f"{path} has a league with different {different}: name another --json FILE")
        for meeting in self._in_file:
            self.games.add(meeting)

    def _take_line(self, line: dict[str, Any]) -> None:
        """A line of the games that are not in the file yet."""
        if "identity" in line:
            self._know(line)
        elif "orders" in line:
            meeting = self._met(line)
            if self.games.missing(meeting.bots, meeting.orders):  # else the file was written, and this one not deleted
                self.games.add(meeting)
        else:
            bots = tuple(line["bots"])
            if len(bots) != N_SEATS or not self._identities.keys() >= set(bots):
                raise ValueError(f"not three bots of the league: {bots}")
            self.taken.append(Batch(bots, tuple(check_walls(line["walls"]))))

    def _know(self, row: dict[str, Any]) -> None:
        """A bot in a file. Raises LookupError, TypeError or ValueError."""
        bot = row["bot"]
        bot.encode()  # raises for half a character, which cannot be written again
        self._identities[bot] = row["identity"]

    def _met(self, entry: dict[str, Any]) -> Meeting:
        """Games in a file. Raises what `Meeting.from_json` raises, and ValueError for bots that are not known."""
        meeting = Meeting.from_json(entry)
        if not self._identities.keys() >= set(meeting.bots):
            raise ValueError(f"games of bots that have not joined: {meeting.bots}")
        return meeting

    def join(self, bots: Sequence[str]) -> None:
        """``bots`` play from now on, the others do not.

        Raises ResumeError if one has changed since it played, and OSError if nothing can be written.
        """
        played = {bot for meeting in self.games.meetings(self.bots) for bot in meeting.bots}
        identities = {bot: identity_of(bot) for bot in bots}
        for bot, identity in identities.items():
            if bot in played and self._identities[bot] != identity:
                raise ResumeError(
                    f"{bot} is no longer the bot that has played in {self.path}: its files have changed, or the "
                    "sources or weights of nukidora. Name another --json FILE, give the bot another name (copy its "
                    "file), or leave it out of --bots"
                )
        self._identities |= identities
        self.taken = [batch for batch in self.taken if set(batch.bots) <= set(bots)]
        if self.path is not None and self._lines is None:
            self._lines = LineFile(self._partial(self.path), asdict(self.settings))
        read = self._lines.entries() if self._lines else iter(())
        known = {line["bot"]: line["identity"] for line in read if "identity" in line}
        changed = {bot: identity for bot, identity in identities.items() if known.get(bot) != identity}
        self._append(*({"bot": bot, "identity": identity} for bot, identity in changed.items()))

    def schedule(self, bots: Sequence[str]) -> Schedule:
        """What ``bots`` play next, after all games and the batches that are ``taken``."""
        schedule = self._schedule_of(bots, self.games.meetings(self.bots))
        for batch in self.taken:
            schedule.add(batch.bots, self.games.missing(batch.bots, batch.walls))
        return schedule

    def met_in_file(self, bots: Sequence[str]) -> int:
        """How often those two of ``bots`` have met least that are in the file; 0 if fewer than two are."""
        in_file = {bot for meeting in self._in_file for bot in meeting.bots}
        known = [bot for bot in bots if bot in in_file]
        return self._schedule_of(known, self._in_file).fewest if len(known) > 1 else 0

    @staticmethod
    def _schedule_of(bots: Sequence[str], meetings: Sequence[Meeting]) -> Schedule:
        schedule = Schedule(bots)
        for meeting in meetings:
            schedule.add(meeting.bots, sorted(meeting.orders))
        return schedule

    def take(self, batch: Batch) -> None:
        """A batch is taken from the schedule."""
        self._append({"bots": batch.bots, "walls": batch.walls})

    def add(self, meeting: Meeting) -> None:
        """Games are played."""
        self.games.add(meeting)
        self._append(meeting.as_json())

    def _append(self, *lines: dict[str, Any]) -> None:
        if self._lines is not None:
            for line in lines:
                self._lines.append(line)

    def close(self) -> None:
        """Close the file of games kept beside it: the league is interrupted, and others may continue it."""
        if self._lines is not None:
            self._lines.close()

    def write(self, document: dict[str, Any]) -> None:
        """Write the file, ``document`` and all games, and delete the games that were kept beside it. Raises OSError."""
        if self.path is None or self._lines is None:
            return
        of_bot = {row["bot"]: row for row in document["bots"]}  # bots stand in the order in which they joined
        rows = [{"bot": bot, "identity": identity} | of_bot.get(bot, {}) for bot, identity in self._identities.items()]
        matches = [meeting.as_json() for meeting in self.games.meetings(self.bots)]
        write_json(self.path, document | {"bots": rows, "matches": matches})
        self._lines.delete()
        self._lines = None
