"""Cursors for keyset pagination: the sort keys of a page's last item, encoded as opaque text."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from server.store.models import Page

MAX_LIMIT = 500  # items per page

Item = TypeVar("Item")


def time(text: str) -> datetime:
    """An aware time from ISO text. Raises ValueError."""
    value = datetime.fromisoformat(text)
    if value.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return value.astimezone(UTC)


def count(value: int) -> int:
    """A count that fits a database integer. Raises ValueError."""
    if not 0 <= value < 1 << 31:
        raise ValueError(f"{value} is not a count")
    return int(value)


@dataclass(frozen=True, slots=True)
class Order(Generic[Item]):
    """The sort order of a list: its name, the sort keys of an item, and a parser for each key in a cursor."""

    name: str
    keys: Callable[[Item], Sequence[object]]
    parsers: tuple[Callable[[Any], object], ...]

    def read(self, cursor: str) -> list[Any]:
        """The sort keys in a cursor. Raises ValueError for a cursor that does not belong to this list."""
        try:
            text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            name, *keys = json.loads(text)
            if name == self.name:
                return [parse(key) for parse, key in zip(self.parsers, keys, strict=True)]
        except (ValueError, TypeError, OverflowError, RecursionError):
            pass
        raise ValueError("invalid cursor: use next_cursor of the previous page, with the same list and order")

    def page(self, items: Sequence[Item], limit: int) -> Page[Item]:
        """A page of at most `limit` of `items`, which have one more item if another page follows."""
        shown = list(items[:limit])
        return Page(shown, self._write(shown[-1]) if len(items) > limit else None)

    def _write(self, item: Item) -> str:
        text = json.dumps([self.name, *self.keys(item)], separators=(",", ":"), default=datetime.isoformat)
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def one_more(limit: int) -> int:
    """The number of items to read for a page of `limit`: one more shows whether another page follows.

    Raises ValueError.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise ValueError(f"limit {limit}: choose 1 to {MAX_LIMIT}")
    return limit + 1
