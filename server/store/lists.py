"""The queries of the paginated lists: games, players, ratings."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Select, and_, or_, select, tuple_

from server.store.cursors import Order, count, time
from server.store.models import PlayerStats, RatingPoint, StoredGame
from server.store.tables import games, players, ratings, seats

PlayerOrder = Literal["rating", "name", "games"]

NEWEST_FIRST: Order[StoredGame] = Order("games", lambda game: (game.finished, game.id), (time, str))
BY_NUMBER: Order[RatingPoint] = Order("ratings", lambda point: (point.number,), (count,))
PLAYER_ORDERS: dict[PlayerOrder, Order[PlayerStats]] = {
    "rating": Order("rating", lambda player: (player.rating.ordinal, player.name), (float, str)),
    "games": Order("most games", lambda player: (player.games, player.name), (count, str)),
    "name": Order("name", lambda player: (player.name,), (str,)),
}
DESCENDING = {"rating": players.c.ordinal, "games": players.c.games}  # ties are ordered by name


def select_games(
    player: str | None,
    room: str | None,
    rules: str | None,
    since: datetime | None,
    until: datetime | None,
    cursor: str | None,
    n: int,
) -> Select[Any]:
    """The latest `n` games that pass the given filters, without their seats. Raises ValueError for a bad cursor."""
    # A player's games are read from an index of the seats. A game in which the player had two seats is listed once.
    finished, game_id = (games.c.finished, games.c.id) if player is None else (seats.c.finished, seats.c.game_id)
    keys = select(finished.label("finished"), game_id.label("id"))
    if player is not None:
        keys = keys.distinct().join(games, games.c.id == seats.c.game_id)
    conditions = (
        (player, seats.c.name.__eq__),
        (room, games.c.room.__eq__),
        (rules, games.c.rules.__eq__),
        (since, finished.__ge__),
        (until, finished.__lt__),
        (NEWEST_FIRST.read(cursor) if cursor is not None else None, tuple_(finished, game_id).__lt__),
    )
    keys = keys.where(*(condition(value) for value, condition in conditions if value is not None))
    page = keys.order_by(finished.desc(), game_id.desc()).limit(n).subquery()
    found = select(games).join(page, page.c.id == games.c.id)
    return found.order_by(games.c.finished.desc(), games.c.id.desc())


def select_players(order: PlayerOrder, cursor: str | None, n: int) -> Select[Any]:
    """The first `n` players in that order. Raises ValueError for a bad cursor."""
    value = DESCENDING.get(order)
    sort = [players.c.name] if value is None else [value.desc(), players.c.name]
    found = select(players).order_by(*sort).limit(n)
    if cursor is None:
        return found
    *keys, name = PLAYER_ORDERS[order].read(cursor)
    if value is None:
        return found.where(players.c.name > name)
    (key,) = keys
    return found.where(or_(value < key, and_(value == key, players.c.name > name)))


def select_ratings(name: str, cursor: str | None, n: int) -> Select[Any]:
    """The first `n` ratings of a player. Raises ValueError for a bad cursor."""
    found = select(ratings).where(ratings.c.name == name)
    if cursor is not None:
        found = found.where(ratings.c.number > BY_NUMBER.read(cursor)[0])
    return found.order_by(ratings.c.number).limit(n)
