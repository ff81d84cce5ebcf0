"""Cursors: where a page of a list ended, as a text that only the list itself reads."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from server.store.results import Page

MAX_LIMIT = 500  # items of a page

Row = TypeVar("Row")
Item = TypeVar("Item")


def time(text: str) -> datetime:
    """An aware time from ISO text."""
    value = datetime.fromisoformat(text)
    if value.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return value.astimezone(UTC)


def count(value: int) -> int:
    """A count that a database's integer can hold."""
    if not 0 <= value < 1 << 31:
        raise ValueError(f"{value} is no count")
    return int(value)


@dataclass(frozen=True, slots=True)
class Order(Generic[Row]):
    """An order of a list: its name, the sort keys of a row, and how each is read from a cursor."""

    name: str
    keys: Callable[[Row], Sequence[object]]
    readers: tuple[Callable[[Any], object], ...]

    def read(self, cursor: str) -> list[Any]:
        """The sort keys in a cursor. Raises ValueError where it is none of this list's."""
        try:
            text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            name, *keys = json.loads(text)
            if name == self.name:
                return [reader(key) for reader, key in zip(self.readers, keys, strict=True)]
        except (ValueError, TypeError, OverflowError, RecursionError):
            pass
        raise ValueError("cursor not understood: take next_cursor of the page before, in the same list and order")

    def page(self, rows: Sequence[Row], limit: int, item: Callable[[Row], Item]) -> Page[Item]:
        """The first `limit` of `rows`, which hold one more where the list goes on."""
        shown = rows[:limit]
        return Page([item(row) for row in shown], self._write(shown[-1]) if len(rows) > limit else None)

    def _write(self, row: Row) -> str:
        text = json.dumps([self.name, *self.keys(row)], separators=(",", ":"), default=datetime.isoformat)
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def one_more(limit: int) -> int:
    """How many rows to ask for, to know whether a page of `limit` is the last. Raises ValueError."""
    if not 1 <= limit <= MAX_LIMIT:
        raise ValueError(f"limit {limit}: choose 1 to {MAX_LIMIT}")
    return limit + 1
