"""The store: everything that the server keeps, in one database."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import URL, Connection, RowMapping, Table, Text, cast, delete, func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from server.limits import LIMITS, Limits
from server.store import lists, tables
from server.store.connections import Connections
from server.store.cursors import one_more
from server.store.database import migrate, read_url
from server.store.models import (
    FinishedGame,
    Opponent,
    Page,
    Play,
    PlayerStatistics,
    PlayerStats,
    RatingPoint,
    SeatResult,
    StoredGame,
    StoredRoom,
    StoredToken,
    StoredTournament,
)
from server.store.pruning import Keep, choose_games, choose_players, delete_games, delete_players
from server.store.saving import UPSERT, insert_game, write_plays
from server.store.tables import from_row, to_row

P = ParamSpec("P")
T = TypeVar("T")

SIZE = {  # a query for the bytes that a database takes
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "postgresql": "SELECT pg_database_size(current_database())",
}


def shielded(
    method: Callable[Concatenate[Store, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Store, P], Coroutine[Any, Any, T]]:
    """Decorator for methods of Store that run to completion even if their caller is cancelled."""

    @wraps(method)
    async def call(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await store._connections.complete(method(store, *args, **kwargs))

    return call


class Store:
    """An open database. Returned times are in UTC; a time without time zone raises ValueError.

    Every method raises StoreError, with a one-line message, if the database fails. A failed call has written nothing,
    unless the connection was lost during the commit, in which case it may have written everything: `save_game` can be
    called again in both cases. A call that writes runs to completion even if its caller is cancelled, and `close`
    waits for it.
    """

    def __init__(self, url: URL, limits: Limits) -> None:
        self._limits = limits
        self._connections = Connections(url, limits)
        self._backend = url.get_backend_name()
        self._size = text(SIZE[self._backend])
        self._upsert = UPSERT[self._backend]

    @classmethod
    async def open(cls, url: str, limits: Limits = LIMITS) -> Store:
        """Open the database at `url`; create it or migrate it to the newest version if necessary.

        ``sqlite:///PATH`` or ``postgresql://USER:PASSWORD@HOST:PORT/NAME``. Raises StoreError if the database cannot be
        opened, belongs to another program, or has a newer version.
        """
        parsed = read_url(url)
        await migrate(parsed)
        return cls(parsed, limits)

    async def close(self) -> None:
        """Close the database after pending writes have finished."""
        await self._connections.close()

    async def _delete(self, table: Table, name: str) -> bool:
        """Delete the row with that name. Returns False if there is none."""
        statement = delete(table).where(table.c.name == name).returning(table.c.name)
        async with self._connections.writing() as connection:
            return await connection.scalar(statement) is not None

    # Games ------------------------------------------------------------------------------------------------------------

    @shielded
    async def save_game(self, game: FinishedGame) -> bool:
        """Store a game, its record, its players' totals and their new ratings in one transaction.

        Games are rated in the order in which they are saved. A game in which a name occurs twice is not rated.

        Returns:
            False, with nothing changed, if a game with this id is already stored.
        """
        return await self._connections.write(lambda connection: insert_game(connection, game))

    async def prune(self, keep: Keep) -> AsyncIterator[int]:
        """Delete the games that are not to be kept, see `server.store.pruning`; yields the size of each batch."""
        async for n in self._delete_chosen(partial(choose_games, keep=keep), delete_games):
            yield n

    async def forget_players(self) -> int:
        """Delete the players of whom no game, rating point or token is stored; returns how many."""
        return sum([n async for n in self._delete_chosen(choose_players, delete_players)])

    async def _delete_chosen(
        self, choose: Callable[[Connection], list[str]], delete: Callable[[Connection, list[str]], int]
    ) -> AsyncIterator[int]:
        """Delete what `choose` returns, in batches; yields how many each had that were still there."""
        chosen = await self._read(choose)
        for first in range(0, len(chosen), self._limits.prune_batch):
            yield await self._write(delete, chosen[first : first + self._limits.prune_batch])

    @shielded
    async def _read(self, work: Callable[[Connection], T]) -> T:
        return await self._connections.read(work)

    @shielded
    async def _write(self, work: Callable[[Connection, T], int], given: T) -> int:
        return await self._connections.write(lambda connection: work(connection, given))

    @shielded
    async def size(self) -> int:
        """The bytes that the database takes."""
        async with self._connections.reading() as connection:
            return int(await connection.scalar(self._size) or 0)

    async def game(self, game_id: str) -> StoredGame | None:
        """The game with that id, without its record."""
        async with self._connections.reading() as connection:
            found = await _read_games(connection, select(tables.games).where(tables.games.c.id == game_id))
            return found[0] if found else None

    async def record(self, game_id: str) -> bytes | None:
        """The record (.mjson.gz) of the game with that id."""
        async with self._connections.reading() as connection:
            data = select(tables.records.c.data).where(tables.records.c.game_id == game_id)
            return await connection.scalar(data)

    async def games(
        self,
        player: str | None = None,
        room: str | None = None,
        rules: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[StoredGame]:
        """Games that finished at `since` or later and before `until`, newest first.

        Reading page after page, every game stored before the first page was read is returned exactly once, whatever
        is stored meanwhile. Raises ValueError, with a one-line message, for an invalid cursor or limit.
        """
        statement = lists.select_games(self._limits, player, room, rules, since, until, cursor, one_more(limit))
        async with self._connections.reading() as connection:
            return lists.NEWEST_FIRST.page(await _read_games(connection, statement), limit)

    async def count_games(self, room: str, since: datetime) -> int:
        """The number of stored games of rooms with that name that started at a time or later."""
        games = tables.games.c
        async with self._connections.reading() as connection:
            count = select(func.count()).where(games.room == room, games.started >= since)
            return await connection.scalar(count) or 0

    async def next_in_series(self, room: str) -> int:
        """The number of the next game in rooms with that name and a seed; those that are deleted count."""
        series = tables.series.c
        async with self._connections.reading() as connection:
            return await connection.scalar(select(series.games).where(series.room == room)) or 0

    # Players ----------------------------------------------------------------------------------------------------------

    async def players(
        self, cursor: str | None = None, limit: int = 50, order: lists.PlayerOrder = "rating", prefix: str = ""
    ) -> Page[PlayerStats]:
        """Players by rating (highest ordinal first, unrated ones last), by number of games (most first), or by name.

        Those whose names begin with `prefix`; ties are ordered by name. A player who moves in the order between two
        pages may be returned twice or not at all. Raises ValueError, with a one-line message, for an invalid cursor or
        limit.
        """
        n, rows = one_more(limit), list[RowMapping]()
        for found in lists.select_players(order, prefix, cursor):
            if len(rows) < n:
                rows += await self._connections.rows(found.limit(n - len(rows)))
        return lists.PLAYER_ORDERS[order].page([from_row(PlayerStats, row) for row in rows], limit)

    async def player(self, name: str) -> PlayerStats | None:
        """The player with that name, if a game of theirs is stored."""
        rows = await self._connections.rows(select(tables.players).where(tables.players.c.name == name))
        return from_row(PlayerStats, rows[0]) if rows else None

    async def rating_history(
        self, name: str, cursor: str | None = None, limit: int = 50, step: int = 1
    ) -> Page[RatingPoint]:
        """A player's rating after every `step`-th rated game, first game first; empty for an unknown name.

        Raises ValueError, with a one-line message, for an invalid cursor or limit.
        """
        rows = await self._connections.rows(lists.select_ratings(name, step, cursor, one_more(limit)))
        return lists.BY_NUMBER.page([from_row(RatingPoint, row) for row in rows], limit)

    async def statistics(
        self,
        name: str,
        room: str | None = None,
        rules: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> PlayerStatistics:
        """How a player played the latest games, `Limits.most_seats` at most, from `since` on and before `until`."""
        statement = lists.select_statistics(lists.latest_seats(self._limits, name, room, rules, since, until))
        (row,) = await self._connections.rows(statement)
        return from_row(PlayerStatistics, row, name=name)

    async def opponents(self, name: str, cursor: str | None = None, limit: int = 50) -> Page[Opponent]:
        """Whom a player met in the latest `Limits.most_seats` games, most games first, then by name.

        An opponent met between two pages may be returned twice or not at all. Raises ValueError, with a one-line
        message, for an invalid cursor or limit.
        """
        statement = lists.select_opponents(self._limits, name, cursor, one_more(limit))
        rows = await self._connections.rows(statement)
        return lists.MOST_MET.page([from_row(Opponent, row) for row in rows], limit)

    async def uncounted(self, after: str, n: int) -> dict[str, bytes]:
        """The ids and records of the first `n` games without counts of play, by id; only ids greater than `after`."""
        c = tables.seats.c
        ids = select(c.game_id).distinct().where(tables.UNCOUNTED, c.game_id > after).order_by(c.game_id).limit(n)
        records = tables.records.c
        found = select(records.game_id, records.data).where(records.game_id.in_(ids.subquery().select()))
        return {row["game_id"]: row["data"] for row in await self._connections.rows(found.order_by(records.game_id))}

    @shielded
    async def add_plays(self, plays: Mapping[str, Sequence[Play]]) -> None:
        """Add what was counted in games that `uncounted` returned, three seats each, by their ids."""
        await self._connections.write(lambda connection: write_plays(connection, plays))

    # The database itself ----------------------------------------------------------------------------------------------

    @shielded
    async def check_writable(self) -> None:
        """Write and commit one row. Raises StoreError where the database can be read only, or its disk is full."""
        # A changed value: SQLite writes nothing where a row stays as it is.
        row = {"name": "written", "written": datetime.now(UTC)}
        statement = self._upsert(tables.checks).values(row).on_conflict_do_update(index_elements=["name"], set_=row)
        await self._connections.write(lambda connection: connection.execute(statement))

    # Rooms ------------------------------------------------------------------------------------------------------------

    async def rooms(self) -> list[StoredRoom]:
        """The stored rooms, by name."""
        return [
            from_row(StoredRoom, row) for row in await self._connections.rows(select(tables.rooms).order_by("name"))
        ]

    @shielded
    async def save_room(self, name: str, settings: dict[str, Any]) -> None:
        """Store a room with its settings (JSON), or change the settings of a stored room."""
        room = StoredRoom(name=name, settings=settings, opened=datetime.now(UTC))
        async with self._connections.writing() as connection:
            statement = self._upsert(tables.rooms).values(to_row(room))
            await connection.execute(
                statement.on_conflict_do_update(index_elements=["name"], set_={"settings": settings})
            )

    @shielded
    async def close_room(self, name: str) -> bool:
        """Delete a room; its games stay. Returns False if there is no room with that name."""
        return await self._delete(tables.rooms, name)

    # Tournaments ------------------------------------------------------------------------------------------------------

    async def tournaments(self) -> list[StoredTournament]:
        """All tournaments, by name."""
        found = select(tables.tournaments).order_by("name")
        return [from_row(StoredTournament, row) for row in await self._connections.rows(found)]

    async def tournament_result(self, name: str) -> str | None:
        """The result of a tournament as JSON, once all its games have ended."""
        async with self._connections.reading() as connection:
            found = select(cast(tables.tournaments.c.result, Text)).where(tables.tournaments.c.name == name)
            return await connection.scalar(found)

    async def tournament_standings(self, name: str) -> dict[str, Any]:
        """The `bots` and `pairs` of that result; both are empty where there is none."""
        rows = await self._connections.rows(lists.select_tournament_standings(name))
        return {key: value or [] for row in rows for key, value in row.items()} or {"bots": [], "pairs": []}

    async def tournament_schedule(self, name: str, after: int, n: int) -> list[dict[str, Any]]:
        """The first `n` games of that result with greater numbers than `after`."""
        statement = lists.select_tournament_schedule(self._backend, name, after, n)
        return [row["value"] for row in await self._connections.rows(statement)]

    async def room_games(self, room: str, since: datetime) -> dict[str, list[tuple[SeatResult, Play]]]:
        """The seats of the games of a room that started at a time or later, with what was counted, by the ids."""
        found = select(tables.seats).join(tables.games, tables.games.c.id == tables.seats.c.game_id)
        found = found.where(tables.games.c.room == room, tables.games.c.started >= since)
        games: dict[str, list[tuple[SeatResult, Play]]] = {}
        for row in await self._connections.rows(found.order_by(tables.seats.c.game_id, tables.seats.c.seat)):
            games.setdefault(row["game_id"], []).append((from_row(SeatResult, row), from_row(Play, row)))
        return games

    @shielded
    async def save_tournament(self, tournament: StoredTournament, result: dict[str, Any] | None = None) -> None:
        """Store a tournament, or what has changed of it."""
        row = to_row(tournament) | {"result": result}
        async with self._connections.writing() as connection:
            statement = self._upsert(tables.tournaments).values(row)
            await connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=row))

    @shielded
    async def delete_tournament(self, name: str) -> bool:
        """Delete a tournament; its games stay. Returns False if there is none with that name."""
        return await self._delete(tables.tournaments, name)

    # Tokens -----------------------------------------------------------------------------------------------------------

    @shielded
    async def add_token(self, name: str, admin: bool = False) -> str:
        """Create a token for `name` and return its secret; only a hash of it is stored.

        Raises ValueError if the name already has a token.
        """
        secret = secrets.token_urlsafe(32)
        row = to_row(StoredToken(name=name, admin=admin, created=datetime.now(UTC))) | {"digest": digest(secret)}
        async with self._connections.writing() as connection:
            statement = self._upsert(tables.tokens).values(row).on_conflict_do_nothing()
            if await connection.scalar(statement.returning(tables.tokens.c.name)) is None:
                raise ValueError(f"{name!r} already has a token: revoke it first")
        return secret

    @shielded
    async def revoke_token(self, name: str) -> bool:
        """Delete the token of that name. Returns False if there is none."""
        return await self._delete(tables.tokens, name)

    async def tokens(self) -> list[StoredToken]:
        """All tokens, by name."""
        return [
            from_row(StoredToken, row) for row in await self._connections.rows(select(tables.tokens).order_by("name"))
        ]

    async def token_names(self) -> list[str]:
        """The names that have a token."""
        return [row["name"] for row in await self._connections.rows(select(tables.tokens.c.name))]

    async def token_owner(self, secret: str) -> StoredToken | None:
        """The token with that secret; None if there is none or it was revoked."""
        rows = await self._connections.rows(select(tables.tokens).where(tables.tokens.c.digest == digest(secret)))
        return from_row(StoredToken, rows[0]) if rows else None


async def _read_games(connection: AsyncConnection, statement: Any) -> list[StoredGame]:
    """The games of the rows that `statement` selects, with their seats, in the same order."""
    rows = list((await connection.execute(statement)).mappings())
    seats: dict[str, list[SeatResult]] = {row["id"]: [] for row in rows}
    columns = tables.seats.c
    selected = select(tables.seats).where(columns.game_id.in_(seats)).order_by(columns.game_id, columns.seat)
    for row in (await connection.execute(selected)).mappings():
        seats[row["game_id"]].append(from_row(SeatResult, row))
    return [from_row(StoredGame, row, seats=tuple(seats[row["id"]])) for row in rows]


def digest(secret: str) -> str:
    """The stored hash of a secret. A plain hash is enough: 256 random bits cannot be guessed from it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
