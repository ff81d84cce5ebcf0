"""The store: what the server keeps, in a database of its own."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import URL, delete, func, select
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker
from sqlalchemy.orm import selectinload

from server.store import lists
from server.store.cursors import one_more
from server.store.database import IMMEDIATE, failures, make_engine, migrate, read_url
from server.store.results import (
    FinishedGame,
    Page,
    RatingPoint,
    StoredGame,
    StoredPlayer,
    StoredRoom,
    StoredToken,
    TokenOwner,
)
from server.store.saving import INSERT, insert_game
from server.store.tables import GameRow, PlayerRow, RecordRow, RoomRow, TokenRow

P = ParamSpec("P")
T = TypeVar("T")

# Transactions of this process that write at the same time. SQLite can have one, and those that wait for it would use
# up the connections (15) that readers need.
MAX_WRITERS = {"sqlite": 1, "postgresql": 8}


def to_its_end(
    method: Callable[Concatenate[Store, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Store, P], Coroutine[Any, Any, T]]:
    """A method of Store that goes on to its end when its caller is cancelled.

    A connection closed in the middle of a statement would keep SQLite's one lock for writing until Python's garbage
    collector finds the statement.
    """

    @wraps(method)
    async def call(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        task = asyncio.create_task(method(store, *args, **kwargs))
        store._under_way.add(task)
        task.add_done_callback(store._under_way.discard)
        return await asyncio.shield(task)

    return call


class Store:
    """An open database. Times given back are in UTC; a time given without zone raises ValueError.

    Every method raises StoreError, one line, where the database fails. What a failed call should have written is not
    there, or, where the connection was lost at its very end, all there: `save_game` can be called again either way.
    A call that writes goes on to its end when its caller is cancelled, and `close` waits for it.
    """

    def __init__(self, url: URL, engine: AsyncEngine) -> None:
        self._url = url
        self._engine = engine
        self._reads = async_sessionmaker(engine)
        self._writes = async_sessionmaker(engine.execution_options(**IMMEDIATE), expire_on_commit=False)
        self._turn = asyncio.Semaphore(MAX_WRITERS[url.get_backend_name()])
        self._under_way: set[asyncio.Task[Any]] = set()

    @classmethod
    async def open(cls, url: str) -> Store:
        """Open the database at `url`, made or migrated to the newest version if need be.

        ``sqlite:///PATH`` or ``postgresql://USER:PASSWORD@HOST:PORT/NAME``. Raises StoreError where it can't be
        opened, is not this program's, or is of a newer version.
        """
        parsed = read_url(url)
        await migrate(parsed)
        return cls(parsed, make_engine(parsed))

    async def close(self) -> None:
        """Close all connections, once what is being written is."""
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await self._engine.dispose()

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[AsyncSession]:
        with failures(self._url):
            async with self._reads() as session:
                yield session

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[AsyncSession]:
        """A transaction, committed at its end."""
        with failures(self._url):
            async with self._turn, self._writes.begin() as session:
                yield session

    @to_its_end
    async def save_game(self, game: FinishedGame) -> bool:
        """Store a game, its record, its players' counts and their new ratings, all or nothing.

        Games are rated in the order they are saved. A game in which a name occurs twice is stored but not rated.

        Returns:
            False where a game of this id is there already; nothing is changed then.
        """
        async with self._writing() as session:
            return await insert_game(session, game)

    async def game(self, game_id: str) -> StoredGame | None:
        """The game of that id."""
        async with self._reading() as session:
            row = await session.get(GameRow, game_id, options=[selectinload(GameRow.seats)])
            return lists.stored_game(row) if row else None

    async def record(self, game_id: str) -> bytes | None:
        """The record (.mjson.gz) of the game of that id."""
        async with self._reading() as session:
            return await session.scalar(select(RecordRow.data).where(RecordRow.game_id == game_id))

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
        """Games finished at `since` or later and before `until`, newest first.

        Going on from page to page, every game that was there at the first page comes exactly once, whatever is
        stored meanwhile. Raises ValueError, one line, for a cursor that is not of this list and for a bad limit.
        """
        statement = lists.select_games(player, room, rules, since, until, cursor, one_more(limit))
        async with self._reading() as session:
            rows = (await session.scalars(statement)).all()
            return lists.NEWEST_FIRST.page(rows, limit, lists.stored_game)

    async def count_games(self, room: str, before: datetime | None = None) -> int:
        """How many games of rooms of that name are stored, or of those that began before some time."""
        games = select(func.count()).where(GameRow.room == room)
        async with self._reading() as session:
            return await session.scalar(games if before is None else games.where(GameRow.started < before)) or 0

    async def players(
        self, cursor: str | None = None, limit: int = 50, order: lists.PlayerOrder = "rating"
    ) -> Page[StoredPlayer]:
        """Players: the best rating (ordinal) first, the most games first, or by name; those alike by name.

        A player whose place in the order changes between two pages may come twice or not at all. Raises ValueError,
        one line, for a cursor that is not of this order and for a bad limit.
        """
        statement = lists.select_players(order, cursor, one_more(limit))
        async with self._reading() as session:
            rows = (await session.scalars(statement)).all()
            return lists.PLAYER_ORDERS[order].page(rows, limit, lists.stored_player)

    async def player(self, name: str) -> StoredPlayer | None:
        """The player of that name, once a game of theirs is stored."""
        async with self._reading() as session:
            row = await session.get(PlayerRow, name)
            return lists.stored_player(row) if row else None

    async def rating_history(self, name: str, cursor: str | None = None, limit: int = 50) -> Page[RatingPoint]:
        """A player's rating after each rated game, the first game first; empty for an unknown name.

        Raises ValueError, one line, for a cursor that is not of such a list and for a bad limit.
        """
        statement = lists.select_ratings(name, cursor, one_more(limit))
        async with self._reading() as session:
            rows = (await session.scalars(statement)).all()
            return lists.BY_NUMBER.page(rows, limit, lists.rating_point)

    async def rooms(self) -> list[StoredRoom]:
        """The rooms that are not closed, by name."""
        async with self._reading() as session:
            rows = await session.scalars(select(RoomRow).order_by(RoomRow.name))
            return [StoredRoom(row.name, row.settings, row.opened) for row in rows]

    @to_its_end
    async def save_room(self, name: str, settings: dict[str, Any]) -> None:
        """Keep a room with its settings (JSON), or change the settings of one that is there."""
        async with self._writing() as session:
            insert = INSERT[self._url.get_backend_name()]
            statement = insert(RoomRow).values(name=name, settings=settings, opened=datetime.now(UTC))
            await session.execute(statement.on_conflict_do_update(index_elements=["name"], set_={"settings": settings}))

    @to_its_end
    async def close_room(self, name: str) -> bool:
        """Forget a room; its games stay. False where there is none of that name."""
        async with self._writing() as session:
            return await session.scalar(delete(RoomRow).where(RoomRow.name == name).returning(RoomRow.name)) is not None

    @to_its_end
    async def add_token(self, name: str, admin: bool = False) -> str:
        """A new token for `name`: its secret, which is not kept. Raises ValueError where the name has a token."""
        secret = secrets.token_urlsafe(32)
        row = {"name": name, "digest": digest(secret), "admin": admin, "created": datetime.now(UTC)}
        async with self._writing() as session:
            insert = INSERT[self._url.get_backend_name()]
            statement = insert(TokenRow).values(row).on_conflict_do_nothing().returning(TokenRow.name)
            if await session.scalar(statement) is None:
                raise ValueError(f"{name!r} has a token already: revoke it first")
        return secret

    @to_its_end
    async def revoke_token(self, name: str) -> bool:
        """Make the token of that name worthless. False where there is none."""
        async with self._writing() as session:
            statement = delete(TokenRow).where(TokenRow.name == name).returning(TokenRow.name)
            return await session.scalar(statement) is not None

    async def tokens(self) -> list[StoredToken]:
        """The tokens that are not revoked, by name."""
        async with self._reading() as session:
            rows = await session.scalars(select(TokenRow).order_by(TokenRow.name))
            return [StoredToken(row.name, row.admin, row.created) for row in rows]

    async def has_token(self, name: str) -> bool:
        """Whether there is a token of that name."""
        async with self._reading() as session:
            return await session.get(TokenRow, name) is not None

    async def token_owner(self, secret: str) -> TokenOwner | None:
        """Whose token has that secret; None where no token has it, or it was revoked."""
        async with self._reading() as session:
            row = await session.scalar(select(TokenRow).where(TokenRow.digest == digest(secret)))
            return TokenOwner(row.name, row.admin) if row else None


def digest(secret: str) -> str:
    """What is kept of a secret. A plain hash does: 256 random bits can't be guessed from it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
