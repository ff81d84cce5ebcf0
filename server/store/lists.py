"""What is listed page by page: games, players, ratings. The statements, and rows as the store gives them back."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from sqlalchemy import Select, and_, or_, select, tuple_
from sqlalchemy.orm import joinedload, selectinload

from server.store.cursors import Order, count, time
from server.store.results import Rating, RatingPoint, Standing, StoredGame, StoredPlayer
from server.store.saving import GAME, STANDING
from server.store.tables import GameRow, PlayerRow, RatingRow, SeatRow

PlayerOrder = Literal["rating", "name", "games"]

NEWEST_FIRST: Order[GameRow] = Order("games", lambda game: (game.finished, game.id), (time, str))
BY_NUMBER: Order[RatingRow] = Order("ratings", lambda rating: (rating.number,), (count,))
PLAYER_ORDERS: dict[PlayerOrder, Order[PlayerRow]] = {
    "rating": Order("rating", lambda player: (player.ordinal, player.name), (float, str)),
    "games": Order("most games", lambda player: (player.games, player.name), (count, str)),
    "name": Order("name", lambda player: (player.name,), (str,)),
}
DESCENDING = {"rating": PlayerRow.ordinal, "games": PlayerRow.games}  # players alike in it are ordered by name


def select_games(
    player: str | None,
    room: str | None,
    rules: str | None,
    since: datetime | None,
    until: datetime | None,
    cursor: str | None,
    n: int,
) -> Select[GameRow]:
    """The latest `n` games, with their seats, that pass the filters given. Raises ValueError for the cursor."""
    # A player's games are read off an index of seats; a game where the player has two is one game.
    finished, game_id = (GameRow.finished, GameRow.id) if player is None else (SeatRow.finished, SeatRow.game_id)
    keys = select(finished.label("finished"), game_id.label("id"))
    if player is not None:
        keys = keys.distinct().join(GameRow, GameRow.id == SeatRow.game_id)
    conditions = (
        (player, SeatRow.name.__eq__),
        (room, GameRow.room.__eq__),
        (rules, GameRow.rules.__eq__),
        (since, finished.__ge__),
        (until, finished.__lt__),
        (NEWEST_FIRST.read(cursor) if cursor is not None else None, tuple_(finished, game_id).__lt__),
    )
    keys = keys.where(*(holds(value) for value, holds in conditions if value is not None))
    page = keys.order_by(finished.desc(), game_id.desc()).limit(n).subquery()
    games = select(GameRow).join(page, page.c.id == GameRow.id).options(selectinload(GameRow.seats))
    return games.order_by(GameRow.finished.desc(), GameRow.id.desc())


def select_players(order: PlayerOrder, cursor: str | None, n: int) -> Select[PlayerRow]:
    """The first `n` players in that order. Raises ValueError for the cursor."""
    value = DESCENDING.get(order)
    sort = [PlayerRow.name] if value is None else [value.desc(), PlayerRow.name]
    players = select(PlayerRow).order_by(*sort).limit(n)
    if cursor is None:
        return players
    *keys, name = PLAYER_ORDERS[order].read(cursor)
    if value is None:
        return players.where(PlayerRow.name > name)
    (key,) = keys
    return players.where(or_(value < key, and_(value == key, PlayerRow.name > name)))


def select_ratings(name: str, cursor: str | None, n: int) -> Select[RatingRow]:
    """The first `n` ratings of a player, with their games. Raises ValueError for the cursor."""
    ratings = select(RatingRow).where(RatingRow.name == name).options(joinedload(RatingRow.game))
    if cursor is not None:
        ratings = ratings.where(RatingRow.number > BY_NUMBER.read(cursor)[0])
    return ratings.order_by(RatingRow.number).limit(n)


def stored_game(row: GameRow) -> StoredGame:
    """A row, with its seats, as it is given back."""
    first, second, third = (Standing(**{column: getattr(seat, column) for column in STANDING}) for seat in row.seats)
    values = {column: getattr(row, column) for column in GAME}
    return StoredGame(**values, seats=(first, second, third), rated=row.rated)


def stored_player(row: PlayerRow) -> StoredPlayer:
    """A row as it is given back."""
    return StoredPlayer(
        name=row.name,
        house=row.house,
        games=row.games,
        rated_games=row.rated_games,
        places=(row.firsts, row.seconds, row.thirds),
        mean_rank=(row.firsts + 2 * row.seconds + 3 * row.thirds) / row.games,
        mean_points=row.points / row.games,
        faults=row.faults,
        rating=Rating(row.mu, row.sigma, row.ordinal),
        first_seen=row.first_seen,
        last_seen=row.last_seen,
    )


def rating_point(row: RatingRow) -> RatingPoint:
    """A row, with its game, as it is given back."""
    return RatingPoint(row.number, row.game_id, row.game.finished, Rating(row.mu, row.sigma, row.ordinal))
