"""Columns follow from the fields of the models: a new field needs no change of the tables, the store or the API."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import MetaData, Table, create_engine, insert, select

from server.store.models import Model, PlayerStats, Rating, SeatResult, StoredGame
from server.store.tables import columns, from_row, to_row
from tests.support.stored_games import NOON, make_game, seat_results


class Extended(SeatResult):
    """The result of a seat with new fields: one with a default, one of another type, and a model inside."""

    riichi: int = 0
    last_action: datetime
    rating: Rating


class Unsupported(Model):
    """A model with a field that no column type is known for."""

    scores: list[int]


def written_and_read(model: Model, **others: Any) -> Model:
    """A model after it was inserted into a table with its columns and selected again."""
    table = Table("things", MetaData(), *columns(type(model)))
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        table.create(connection)
        connection.execute(insert(table), to_row(model))
        (row,) = connection.execute(select(table)).mappings()
        return from_row(type(model), row, **others)


def test_new_fields_are_stored_and_sent() -> None:
    rating = Rating(mu=25.5, sigma=8.25, ordinal=0.75)
    seat = Extended(
        **dict(seat_results("abc")[0]), riichi=2, last_action=datetime(2025, 6, 1, tzinfo=UTC), rating=rating
    )
    names = [column.name for column in columns(Extended)]
    assert names == [*SeatResult.model_fields, "riichi", "last_action", "mu", "sigma", "ordinal"]
    assert written_and_read(seat) == seat
    sent = seat.model_dump(mode="json")
    assert (sent["riichi"], sent["last_action"], sent["rating"]["mu"]) == (2, "2025-06-01T00:00:00Z", 25.5)


def test_every_field_of_a_stored_model_is_read_again() -> None:
    rating = Rating(mu=1.0, sigma=2.0, ordinal=-5.0)
    values = {name: n for n, name in enumerate(("games", "rated_games", "firsts", "seconds", "thirds", "faults"), 1)}
    player = PlayerStats(
        name="aki", house_bot=True, rating=rating, points=-0.5, first_seen=NOON, last_seen=NOON, **values
    )
    assert written_and_read(player) == player
    game = StoredGame(**{name: getattr(make_game(), name) for name in StoredGame.model_fields})
    assert written_and_read(game, seats=game.seats) == game


def test_a_field_without_a_column_type_is_an_error() -> None:
    with pytest.raises(KeyError):
        list(columns(Unsupported))
