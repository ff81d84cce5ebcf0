"""Reviews of all games of a player among records: one record, and what has become of all so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from agents.review.decisions import names_of, seat_decisions
from agents.review.opinions import cached_bot
from agents.review.review import Review, make_review
from agents.review.totals import Totals
from engine.common.line_file import LineFile
from engine.common.options import printable
from engine.records.filters import THREE_PLAYERS
from engine.records.model import GameRecord, RecordError
from engine.records.stream import Item, select_record
from engine.records.validate import unreadable

CHECKPOINT, CHECKPOINT_GAMES = 500, 10  # records, and games of the player, after which it is kept how far the job is
MAX_NAMES = 20_000  # of players that are remembered, to propose one
MAX_FAULTS = 1000  # that are told in --json
MAX_CLOSE = 3  # names that are proposed


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What has become of a record. ``names``: of its players; ``faults``: lines on what could not be reviewed."""

    totals: Totals
    names: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def review_item(item: Item, player: str, bots: tuple[str, ...]) -> Reviewed:
    """Review a record, in which the player may have more than one seat. Raises BotFailedError."""
    totals = Totals.of_none(len(bots))
    try:
        record = select_record(item, THREE_PLAYERS)
        return Reviewed(totals) if record is None else review_record(record, item.name, player, bots)
    except RecordError as error:
        return Reviewed(totals, faults=tuple(unreadable(error, item.name).faults))


def review_record(record: GameRecord, file: str, player: str, bots: tuple[str, ...]) -> Reviewed:
    """Review the seats of a player. Raises RecordError, BotFailedError."""
    names, reviews, faults = names_of(record.events[0]), list[Review](), list[str]()
    for seat in (seat for seat, name in enumerate(names) if name == player):
        decisions = seat_decisions(record, seat)
        faults += [f"{file}: left out, as it departs from the rules: {problem}" for problem in decisions.problems]
        if decisions.decisions:
            reviews.append(make_review(decisions, {bot: cached_bot(bot) for bot in bots}, lambda done: None))
    totals = Totals.of_game(reviews, file) if reviews else Totals.of_none(len(bots))
    return Reviewed(totals, names, tuple(faults), tuple(record.notes))


@dataclass
class Found:
    """All records so far; kept in a checkpoint, if there is one."""

    totals: Totals
    checkpoint: LineFile | None
    done: int = 0  # records, whatever became of them
    n_faults: int = 0
    faults: list[str] = field(default_factory=list)  # the first MAX_FAULTS
    names: set[str] = field(default_factory=set)  # of players, at most MAX_NAMES

    def __post_init__(self) -> None:
        """Go on after what the checkpoint holds. Raises ValueError for one that is damaged."""
        self._forget()
        if self.checkpoint is not None:
            self.checkpoint.restore(self._restore)

    def _forget(self) -> None:
        """Nothing is new any more."""
        self._new, self._kept = Totals.of_none(len(self.totals.tables)), (self.done, len(self.faults), set(self.names))

    def _restore(self, entry: dict[str, Any]) -> None:
        self.totals.add(Totals.of_kept(entry["totals"]))
        self.done, self.n_faults = int(entry["done"]), int(entry["n_faults"])
        self.faults += map(str, entry["faults"])
        self.names.update(map(str, entry["names"]))
        self._forget()

    def add(self, reviewed: Reviewed) -> None:
        """Add what became of the next record."""
        self.done += 1
        self.totals.add(reviewed.totals)
        self._new.add(reviewed.totals)
        self.n_faults += len(reviewed.faults)
        self.faults += reviewed.faults[: MAX_FAULTS - len(self.faults)]
        if len(self.names) < MAX_NAMES:
            self.names.update(reviewed.names)
        if self.done - self._kept[0] >= CHECKPOINT or self._new.games >= CHECKPOINT_GAMES:
            self.keep()

    def keep(self) -> None:
        """Write what is not in the checkpoint yet."""
        done, n_faults, names = self._kept
        if self.checkpoint is not None and self.done > done:
            told = {"faults": self.faults[n_faults:], "names": sorted(self.names - names)}
            totals = self._new.kept(self.totals)
            self.checkpoint.append({"done": self.done, "n_faults": self.n_faults, "totals": totals} | told)
            self._forget()

    def check_player(self, player: str) -> None:
        """Raise ValueError if there is no game of the player, with the names that are nearest."""
        if self.totals.games or (not self.names and self.n_faults):  # else what is wrong has been said
            return
        if not self.names:
            raise ValueError("no record of a game of three players")
        if player in self.names:
            raise ValueError(f"--player {player}: no decision of a game with this player can be reviewed")
        close = get_close_matches(player, self.names, MAX_CLOSE, 0.0)
        more = ", …" if len(self.names) > len(close) else ""
        proposed = ", ".join(map(printable, close))
        raise ValueError(f"--player {printable(player)}: no game has a player of this name; there are {proposed}{more}")
