"""Delete old games, by age, number and size, rated games last, and players without games: the database stays small.

What is to be deleted is chosen in one transaction that reads, however long that takes. Those that write delete a batch
of it, so that nobody waits long to write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, delete, exists, func, or_, select, text

from server.store import tables
from server.store.lists import EARLIEST


@dataclass(frozen=True)
class Keep:
    """What is kept; None: all."""

    since: datetime | None = None  # games that finished from then on
    games: int | None = None
    bytes: int | None = None  # of the records
    spared: frozenset[str] = frozenset()  # ids of games that are kept in any case

    def __bool__(self) -> bool:
        return not (self.since is None and self.games is None and self.bytes is None)


def choose_games(connection: Connection, keep: Keep) -> list[str]:
    """The ids of the games that are not to be kept, in the order in which they are to be deleted.

    The oldest go first. Where not for their age, those go before all others that no bot has played to the end, then the
    unrated ones: whoever lets games begin and leaves them to house bots drives out no other games.
    """
    return [game_id for game_id in connection.scalars(select_not_kept(keep)) if game_id not in keep.spared]


def select_not_kept(keep: Keep) -> Select[Any]:
    """The query of `choose_games`. It looks at each game once, and at none that is kept if only the age counts."""
    c, size = tables.games.c, func.length(tables.records.c.data)
    old = c.finished < (keep.since or EARLIEST)
    before: dict[str, Any] = {"order_by": (old.desc(), _worth(), c.finished, c.id), "rows": (None, -1)}  # this game
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


def _worth() -> ColumnElement[int]:
    """How long a game is kept: 2 if it is rated, 0 if all its bots have left it or were taken over, else 1."""
    c = tables.seats.c
    of_game = c.game_id == tables.games.c.id
    taken_over = exists().where(of_game, c.taken_over)
    played = exists().where(of_game, ~c.house_bot, ~c.taken_over)
    rated = exists().where(tables.ratings.c.game_id == tables.games.c.id)
    return case((and_(taken_over, ~played), 0), (rated, 2), else_=1)


def choose_players(connection: Connection) -> list[str]:
    """The names of the players who have no stored game, no rating point and no token."""
    return list(connection.scalars(select(tables.players.c.name).where(*_gone())))


def delete_players(connection: Connection, names: Sequence[str]) -> int:
    """Delete those players who still have nothing stored; returns how many."""
    if connection.dialect.name == "postgresql":  # other databases let only one write anyway
        # Otherwise a game of such a player might be stored at the same time, and miss the player.
        connection.execute(text("LOCK TABLE players IN SHARE ROW EXCLUSIVE MODE"))
    return connection.execute(delete(tables.players).where(tables.players.c.name.in_(names), *_gone())).rowcount


def _gone() -> list[ColumnElement[bool]]:
    """The conditions on a player who has no stored game, no rating point and no token."""
    name = tables.players.c.name
    return [~exists().where(table.c.name == name) for table in (tables.seats, tables.ratings, tables.tokens)]
