"""Filters for the records of an archive: by room, length, date, number of players and rating.

Missing information does not match: a record without ratings is left out if a rating is required. Tenhou's log ids
(``2021010100gm-00b9-0000-0123abcd``) contain the date and type of a game, so most of an archive can be skipped unread.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import Any

from engine.records.archives import LOG_ID
from engine.records.model import OF_TENHOU, GameRecord
from engine.records.options import AUTO, LENGTHS, ROOMS
from engine.records.tenhou_rules import GO_HANCHAN, GO_SANMA, display_of, room_of
from engine.table import N_SEATS

_DATES = (re.compile(r"(20\d\d)[-/.](\d\d?)[-/.](\d\d?)"), re.compile(r"()(\d\d?)/(\d\d?)/(20\d\d)"))


@dataclass(frozen=True)
class Filters:
    """The required properties of a record (None: any), and the rules applied to it."""

    room: str | None = None  # of ROOMS
    length: str | None = None  # east or hanchan
    since: date | None = None
    players: int | None = None  # 3: games of four are left out silently
    rate: float | None = None  # the minimum rating of every player
    rules: str = AUTO  # a preset, in place of the rules that the record names

    def __bool__(self) -> bool:
        return bool(self.options)

    @property
    def options(self) -> list[str]:
        """The command-line options that choose them."""
        given = ((field, getattr(self, field.name)) for field in fields(self))
        return [word for field, value in given if value != field.default for word in (f"--{field.name}", str(value))]

    def excludes_name(self, name: str) -> bool:
        """Return whether the name alone excludes a record: a log id with a non-matching date or type."""
        found = LOG_ID.search(name)
        if found is None:
            return False
        go_type = int(found[4], 16)
        return (
            (self.players == N_SEATS and not go_type & GO_SANMA)
            or (self.room is not None and not re.search(ROOMS[self.room], room_of(go_type)))
            or (self.length is not None and self.length != ("hanchan" if go_type & GO_HANCHAN else "east"))
            or (self.since is not None and _date(found[0]) is not None and _date(found[0]) < self.since)  # type: ignore[operator]
        )

    def admits(self, record: GameRecord, name: str = "") -> bool:
        """Return whether a record passes; `name`: of its file or in its archive, which may contain the date."""
        if not self:
            return True
        kept = record.events[0].get(OF_TENHOU)
        kept = kept if isinstance(kept, dict) else {}
        display = display_of(kept.get("rule"))
        return (
            (self.room is None or re.search(ROOMS[self.room], display) is not None)
            and (self.length is None or _length(record, display) == self.length)
            and (self.since is None or _is_since(self.since, [name, kept.get("ref"), kept.get("title")]))
            and (self.rate is None or _least_rate(kept.get("rate")) >= self.rate)
        )


ANY = Filters()
THREE_PLAYERS = Filters(players=N_SEATS)


def _length(record: GameRecord, display: str) -> str | None:
    if record.rules is not None:
        return record.rules.length
    return next((length for length, mark in LENGTHS.items() if mark in display), None)


def _is_since(since: date, texts: Sequence[Any]) -> bool:
    """Whether the first date in `texts` is `since` or later."""
    dates = (_date(str(text)) for text in texts if text)
    return next((found >= since for found in dates if found is not None), False)


def _date(text: str) -> date | None:
    """Return the date in a text: in a log id, as 2021-01-31, or as 1/31/2021."""
    patterns = (LOG_ID, *_DATES)
    found = next((match.groups() for pattern in patterns if (match := pattern.search(text))), None)
    if found is None:
        return None
    year, month, day = (found[3], found[1], found[2]) if not found[0] else found[:3]
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _least_rate(rates: Any) -> float:
    """The lowest rating of the three players; less than any, if a rating is unknown."""
    try:
        return min(float(rates[seat]) for seat in range(N_SEATS))
    except (TypeError, ValueError, LookupError):
        return float("-inf")


def filters_of(options: argparse.Namespace) -> Filters:
    """Return the filters and rules from the options of ``convert``."""
    return Filters(**{field.name: getattr(options, field.name) for field in fields(Filters)})
