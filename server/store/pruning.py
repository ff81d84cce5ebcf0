"""Delete old games, by age, number and size, rated games last, and players who are gone: the database stays small."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, case, delete, exists, func, select

from server.store import tables


@dataclass(frozen=True)
class Keep:
    """What is kept; None: all."""

    since: datetime | None = None  # games that finished from then on
    games: int | None = None
    bytes: int | None = None  # of the records

    def __bool__(self) -> bool:
        return not (self.since is None and self.games is None and self.bytes is None)


def prune_batch(connection: Connection, keep: Keep, batch: int) -> int:
    """Delete at most `batch` games that are not to be kept, with records and rating points; returns how many.

    The oldest go first, and where not for their age, all unrated ones before the first rated one. Totals and ratings of
    players stay as they are.
    """
    ids = _too_old(connection, keep, batch) or _too_many(connection, keep, batch) or _too_large(connection, keep, batch)
    if ids:
        for table in (tables.records, tables.seats, tables.ratings):
            connection.execute(delete(table).where(table.c.game_id.in_(ids)))
        connection.execute(delete(tables.games).where(tables.games.c.id.in_(ids)))
    return len(ids)


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


def _may_go() -> Any:
    """Whether a game may be deleted: those of a tournament are kept until it has its result."""
    running = select(tables.tournaments.c.name).where(tables.tournaments.c.result.is_(None))
    return tables.games.c.room.not_in(running)


def _in_order(most: int, *columns: Any) -> Any:
    """The first games in the order in which they are deleted."""
    c = tables.games.c
    rated = exists().where(tables.ratings.c.game_id == c.id)
    found = select(c.id, *columns).where(_may_go())
    return found.order_by(case((rated, 1), else_=0), c.finished, c.id).limit(most)


def _too_old(connection: Connection, keep: Keep, batch: int) -> list[str]:
    if keep.since is None:
        return []
    c = tables.games.c
    found = select(c.id).where(c.finished < keep.since, _may_go()).order_by(c.finished).limit(batch)
    return list(connection.scalars(found))


def _too_many(connection: Connection, keep: Keep, batch: int) -> list[str]:
    if keep.games is None:
        return []
    excess = (connection.scalar(select(func.count()).select_from(tables.games)) or 0) - keep.games
    return list(connection.scalars(_in_order(min(excess, batch)))) if excess > 0 else []


def _too_large(connection: Connection, keep: Keep, batch: int) -> list[str]:
    if keep.bytes is None:
        return []
    size = func.length(tables.records.c.data)
    excess = (connection.scalar(select(func.sum(size))) or 0) - keep.bytes
    found = []
    of_game = select(size).where(tables.records.c.game_id == tables.games.c.id).scalar_subquery()
    for game_id, of_record in connection.execute(_in_order(batch, of_game)):
        if excess <= 0:
            break
        found.append(game_id)
        excess -= of_record or 0
    return found
