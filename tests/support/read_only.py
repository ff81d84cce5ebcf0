"""SQLite databases that cannot be written, at the flip of a switch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, event


class ReadOnly:
    """Makes the SQLite connections of this process read-only, those that are open included."""

    def __init__(self) -> None:
        self.on = False

    def before(self, _: Any, cursor: Any, *__: Any) -> None:
        cursor.execute(f"PRAGMA query_only = {int(self.on)}")


@pytest.fixture
def read_only() -> Iterator[ReadOnly]:
    """A switch; while it is on, SQLite refuses every write: "attempt to write a readonly database"."""
    switch = ReadOnly()
    event.listen(Engine, "before_cursor_execute", switch.before)
    yield switch
    event.remove(Engine, "before_cursor_execute", switch.before)
