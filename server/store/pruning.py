"""Delete old games, by age, number and size, rated games last, and players who are gone: the database stays small.

What is to be deleted is chosen in one transaction that reads, however long that takes. Those that write delete a batch
of it, so that nobody waits long to write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, case, delete, exists, func, or_, select

from server.store import tables
from server.store.lists import EARLIEST


@dataclass(frozen=True)
class Keep:
    """What is kept; None: all."""

    since: datetime | None = None  # games that finished from then on
    games: int | None = None
    bytes: int | None = None  # of the records

    def __bool__(self) -> bool:
        return not (self.since is None and self.games is None and self.bytes is None)


def choose_games(connection: Connection, keep: Keep) -> list[str]:
    """The ids of the games that are not to be kept, in the order in which they are to be deleted.

    The oldest go first, and where not for their age, all unrated ones before the first rated one.
    """
    return list(connection.scalars(select_not_kept(keep)))


def select_not_kept(keep: Keep) -> Select[Any]:
    """The query of `choose_games`. It looks at each game once, and at none that is kept if only the age counts."""
    c, size = tables.games.c, func.length(tables.records.c.data)
    old = c.finished < (keep.since or EARLIEST)
    before: dict[str, Any] = {"order_by": (old.desc(), _rated(), c.finished, c.id), "rows": (None, -1)}  # this game
    games = select(c.id, old.label("old"), func.count().over(**before).label("games_before")).where(_may_go())
    if keep.games is None and keep.bytes is None:
        games = games.where(old)
    if keep.bytes is not None:
        games = games.outerjoin(tables.records, tables.records.c.game_id == c.id)
        games = games.add_columns(func.coalesce(func.sum(size).over(**before), 0).label("bytes_before"))
    ranked = games.subquery().c
    gone: list[ColumnElement[bool]] = [ranked.old]
    if keep.games is not None:
        excess = select(func.count() - keep.games).select_from(tables.games)
        gone.append(ranked.games_before < excess.scalar_subquery())
    if keep.bytes is not None:
        excess = select(func.coalesce(func.sum(size), 0) - keep.bytes)
        gone.append(ranked.bytes_before < excess.scalar_subquery())
    return select(ranked.id).where(or_(*gone)).order_by(ranked.games_before)


def delete_games(connection: Connection, ids: Sequence[str]) -> int:
    """Delete games with their records and rating points; returns how many. Totals and ratings of players stay."""
    for table in (tables.records, tables.seats, tables.ratings):
        connection.execute(delete(table).where(table.c.game_id.in_(ids)))
    return connection.execute(delete(tables.games).where(tables.games.c.id.in_(ids))).rowcount


def _may_go() -> ColumnElement[bool]:
    """Whether a game may be deleted: those of a tournament are kept until it has its result."""
    running = select(tables.tournaments.c.name).where(tables.tournaments.c.result.is_(None))
    return tables.games.c.room.not_in(running)


def _rated() -> ColumnElement[int]:
    """1 for a game that is rated, else 0."""
    return case((exists().where(tables.ratings.c.game_id == tables.games.c.id), 1), else_=0)


def forget_batch(connection: Connection, since: datetime, batch: int) -> int:
    """Delete at most `batch` players last seen before then who have no stored game and no token; returns how many."""
    c = tables.players.c
    others = (tables.seats, tables.ratings, tables.tokens)
    gone = (~exists().where(table.c.name == c.name) for table in others)
    # A player whose game is being stored is locked, and has a later game once the lock is free.
    names = select(c.name).where(c.last_seen < since, *gone).limit(batch).with_for_update(skip_locked=True)
    found = list(connection.scalars(names))
    if found:
        connection.execute(delete(tables.players).where(c.name.in_(found)))
    return len(found)
