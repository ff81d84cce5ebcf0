"""The tables. A change here needs a migration: ``python -m server.migrations "what changes"`` writes it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, Double, ForeignKey, Index, MetaData, String, TypeDecorator
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Time(TypeDecorator[datetime]):
    """An aware time, read back in UTC. SQLite keeps no zone: what it keeps is UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To UTC. Raises ValueError for a time without zone."""
        if value is not None and value.tzinfo is None:
            raise ValueError(f"{value.isoformat()} has no time zone")
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """As an aware time in UTC."""
        return None if value is None else value.replace(tzinfo=value.tzinfo or UTC).astimezone(UTC)


class Text(TypeDecorator[str]):
    """Text ordered by code point on every database.

    PostgreSQL can't keep NUL and nothing keeps lone surrogates: they become U+FFFD, where stored and where asked for.
    """

    impl = String().with_variant(String(collation="C"), "postgresql")
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """As it can be kept."""
        if value is None or value.isprintable():
            return value
        return value.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Base(DeclarativeBase):
    """Ancestor of all tables."""

    # Named constraints are the same on every database, so that migrations can alter them.
    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        }
    )
    type_annotation_map = {str: Text, float: Double, datetime: Time, dict[str, Any]: JSON}  # noqa: RUF012


class GameRow(Base):
    """A finished game."""

    __tablename__ = "games"

    id: Mapped[str] = mapped_column(primary_key=True)
    room: Mapped[str]
    rules: Mapped[str]
    length: Mapped[str]
    started: Mapped[datetime]
    finished: Mapped[datetime]
    rounds: Mapped[int]
    decisions: Mapped[int]
    rated: Mapped[bool]

    seats: Mapped[list[SeatRow]] = relationship(order_by="SeatRow.seat", lazy="raise")

    __table_args__ = (Index(None, "finished", "id"), Index(None, "room", "finished", "id"))


class SeatRow(Base):
    """One seat of a game. `finished` is that of the game: an index answers for a player's latest games."""

    __tablename__ = "seats"

    game_id: Mapped[str] = mapped_column(ForeignKey("games.id"), primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(ForeignKey("players.name"))
    finished: Mapped[datetime]
    house: Mapped[bool]
    score: Mapped[int]
    rank: Mapped[int]
    points: Mapped[float]
    penalty: Mapped[float]
    faults: Mapped[int]
    taken_over: Mapped[bool]

    __table_args__ = (Index(None, "name", "finished", "game_id"),)


class RecordRow(Base):
    """The record of a game, by itself: lists of games don't read past it."""

    __tablename__ = "records"

    game_id: Mapped[str] = mapped_column(ForeignKey("games.id"), primary_key=True)
    data: Mapped[bytes]


class PlayerRow(Base):
    """A name: its counts and its rating."""

    __tablename__ = "players"

    name: Mapped[str] = mapped_column(primary_key=True)
    house: Mapped[bool]
    games: Mapped[int]
    rated_games: Mapped[int]
    firsts: Mapped[int]
    seconds: Mapped[int]
    thirds: Mapped[int]
    points: Mapped[float]  # summed, penalties deducted
    faults: Mapped[int]
    mu: Mapped[float]
    sigma: Mapped[float]
    ordinal: Mapped[float]
    first_seen: Mapped[datetime]
    last_seen: Mapped[datetime]


class RatingRow(Base):
    """A player's rating after its game number `number`."""

    __tablename__ = "ratings"

    name: Mapped[str] = mapped_column(ForeignKey("players.name"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    game_id: Mapped[str] = mapped_column(ForeignKey("games.id"))
    mu: Mapped[float]
    sigma: Mapped[float]
    ordinal: Mapped[float]

    game: Mapped[GameRow] = relationship(lazy="raise")


class RoomRow(Base):
    """An open room."""

    __tablename__ = "rooms"

    name: Mapped[str] = mapped_column(primary_key=True)
    settings: Mapped[dict[str, Any]]
    opened: Mapped[datetime]


class TokenRow(Base):
    """A token that is not revoked."""

    __tablename__ = "tokens"

    name: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)  # SHA-256 of the secret, hexadecimal
    admin: Mapped[bool]
    created: Mapped[datetime]
