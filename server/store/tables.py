"""The tables, with their columns derived from the models, and the conversion between models and rows.

After a change of a model or a table, ``python -m server.migrations "what changes"`` writes the migration.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TypeVar, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ColumnElement,
    DateTime,
    Dialect,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    RowMapping,
    String,
    Table,
    TypeDecorator,
    UniqueConstraint,
    literal_column,
    or_,
)

from server.store.models import (
    Play,
    PlayerStats,
    RatingPoint,
    SeatResult,
    StoredGame,
    StoredRoom,
    StoredToken,
    StoredTournament,
)

AnyModel = TypeVar("AnyModel", bound=BaseModel)


class Time(TypeDecorator[datetime]):
    """An aware time, stored and read in UTC. SQLite stores no time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The time in UTC. Raises ValueError for a time without time zone."""
        if value is not None and value.tzinfo is None:
            raise ValueError(f"{value.isoformat()} has no time zone")
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The time in UTC."""
        return None if value is None else value.replace(tzinfo=value.tzinfo or UTC).astimezone(UTC)


class Text(TypeDecorator[str]):
    """Text, ordered by code point on every database.

    PostgreSQL cannot store NUL, and no database can store lone surrogates: both are replaced by U+FFFD, in stored
    values and in queries alike.
    """

    impl = String().with_variant(String(collation="C"), "postgresql")
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The text with the characters replaced that no database can store."""
        if value is None or value.isprintable():
            return value
        return value.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# Models and rows ------------------------------------------------------------------------------------------------------

COLUMN_TYPES: dict[Any, Any] = {
    bool: Boolean,
    int: Integer,
    float: Double,
    str: Text,
    datetime: Time,
    bytes: LargeBinary,
    dict[str, Any]: JSON,
}


def inner_model(field: FieldInfo) -> type[BaseModel] | None:
    """The model that a field holds, or None if it holds something else."""
    annotation = field.annotation
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def columns(model: type[BaseModel], *, nullable: bool = False) -> Iterator[Column[Any]]:
    """A column for each field of a model.

    A model inside a model contributes its own columns. A tuple of models is left out: it has a table of its own.
    Raises KeyError for a field of a type that is not in COLUMN_TYPES.
    """
    for name, field in model.model_fields.items():
        if inner := inner_model(field):
            yield from columns(inner)
        elif get_origin(field.annotation) is not tuple:
            yield Column(name, COLUMN_TYPES[field.annotation], nullable=nullable)


def to_row(model: BaseModel) -> dict[str, Any]:
    """The values of a model's columns."""
    row: dict[str, Any] = {}
    for name, value in model:
        if isinstance(value, BaseModel):
            row |= to_row(value)
        elif not isinstance(value, tuple):
            row[name] = value
    return row


def from_row(model: type[AnyModel], row: RowMapping, **others: Any) -> AnyModel:
    """The model of a row. `others` are the values of the fields that are not columns."""
    values = dict(others)
    for name, field in model.model_fields.items():
        if name not in others:
            inner = inner_model(field)
            values[name] = from_row(inner, row) if inner else row[name]
    return model(**values)


# Tables ---------------------------------------------------------------------------------------------------------------

# Named constraints are the same on every database, so that migrations can alter them.
metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

games = Table(
    "games",
    metadata,
    *columns(StoredGame),
    PrimaryKeyConstraint("id"),
    Index(None, "finished", "id"),
    Index(None, "room", "finished", "id"),
)

seats = Table(
    "seats",
    metadata,
    Column("game_id", Text, nullable=False),
    Column("seat", Integer, nullable=False),
    Column("finished", Time, nullable=False),  # a copy of the game's, for the index of a player's latest games
    *columns(SeatResult),
    *columns(Play, nullable=True),  # NULL in games of earlier versions, until `server.counting` has counted them
    PrimaryKeyConstraint("game_id", "seat"),
    ForeignKeyConstraint(["game_id"], ["games.id"]),
    ForeignKeyConstraint(["name"], ["players.name"]),
    Index(None, "name", "finished", "game_id"),
)
# Any of them: one that a new version counts is NULL in all games stored before it. The index is named after their
# number, so that a migration that adds one is written with the index it needs.
UNCOUNTED = or_(*(seats.c[name].is_(None) for name in Play.model_fields))
Index(
    f"ix_seats_uncounted_{len(Play.model_fields)}",
    seats.c.game_id,
    sqlite_where=UNCOUNTED,
    postgresql_where=UNCOUNTED,
)

records = Table(
    "records",
    metadata,
    Column("game_id", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),  # .mjson.gz
    PrimaryKeyConstraint("game_id"),
    ForeignKeyConstraint(["game_id"], ["games.id"]),
)

# The number of the next game in a room with a seed: how many are stored, or were and have been deleted since. Without
# it, the walls of the deleted ones, which are known, would come again.
series = Table(
    "series",
    metadata,
    Column("room", Text, nullable=False),
    Column("games", Integer, nullable=False),
    PrimaryKeyConstraint("room"),
)

players = Table("players", metadata, *columns(PlayerStats), PrimaryKeyConstraint("name"))
# Lists of players are sorted by these values, least first, and then by name. They have no parameters, for then no index
# would be used, and are written as PostgreSQL gives them back, for Alembic compares them. On SQLite it cannot: there, a
# migration that alters the players makes these indexes again.
UNRATED = -1e6  # stands for the ordinal of players without a rated game: they come last
BY_RATING: ColumnElement[float] = literal_column(
    f"\nCASE\n    WHEN rated_games > 0 THEN -ordinal\n    ELSE {-UNRATED}\nEND", Double
)
BY_GAMES: ColumnElement[int] = literal_column("-games", Integer)
Index("ix_players_rating", BY_RATING, players.c.name)
Index("ix_players_games", BY_GAMES, players.c.name)

ratings = Table(
    "ratings",
    metadata,
    Column("name", Text, nullable=False),
    *columns(RatingPoint),
    PrimaryKeyConstraint("name", "number"),
    ForeignKeyConstraint(["game_id"], ["games.id"]),
    ForeignKeyConstraint(["name"], ["players.name"]),
    Index(None, "game_id"),
)

# What `Store.check_writable` writes.
checks = Table(
    "checks",
    metadata,
    Column("name", Text, nullable=False),
    Column("written", Time, nullable=False),
    PrimaryKeyConstraint("name"),
)

rooms = Table("rooms", metadata, *columns(StoredRoom), PrimaryKeyConstraint("name"))

tournaments = Table(
    "tournaments",
    metadata,
    *columns(StoredTournament),
    Column("result", JSON(none_as_null=True)),  # NULL until its games have ended: till then they are not pruned
    PrimaryKeyConstraint("name"),
)

tokens = Table(
    "tokens",
    metadata,
    *columns(StoredToken),
    Column("digest", Text, nullable=False),  # SHA-256 of the secret, hexadecimal
    PrimaryKeyConstraint("name"),
    UniqueConstraint("digest"),
)
