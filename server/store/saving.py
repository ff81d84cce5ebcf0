"""Saving a finished game: its result, its record, its players' totals and their ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Update, bindparam, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from server.store import tables
from server.store.models import FinishedGame, Play, PlayerStats, Rating, RatingPoint, SeatResult
from server.store.ratings import START, rate
from server.store.tables import from_row, to_row

UPSERT: dict[str, Any] = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}  # INSERT with ON CONFLICT


def insert_game(connection: Connection, game: FinishedGame) -> bool:
    """Write a game and everything that follows from it. Returns False, and writes nothing, if it is stored already.

    Concurrent transactions that share a game or a player wait for one another.
    """
    upsert = UPSERT[connection.dialect.name]
    row = {name: value for name, value in to_row(game).items() if name in tables.games.c}
    statement = upsert(tables.games).values(row).on_conflict_do_nothing().returning(tables.games.c.id)
    if connection.scalar(statement) is None:
        return False
    players = _lock_players(connection, game)
    key = {"game_id": game.id, "finished": game.finished}
    plays = [to_row(play) for play in game.plays] if game.plays else [{}] * len(game.seats)
    rows = [key | {"seat": seat} | to_row(game.seats[seat]) | play for seat, play in enumerate(plays)]
    connection.execute(insert(tables.seats), rows)
    connection.execute(insert(tables.records), {"game_id": game.id, "data": game.record})
    for result in (seat for seat in game.seats if not seat.absent):
        players[result.name] = _add_result(players[result.name], result, game)
    if game.rated:
        before = {name: player.rating for name, player in players.items()}
        ratings = rate(before, [seat.name for seat in game.seats], [seat.rank for seat in game.seats])
        rated = [seat.name for seat in game.seats if not seat.cut_off]
        players |= {name: _with_rating(players[name], ratings[name]) for name in rated}
        points = [{"name": name} | to_row(_rating_point(players[name], game)) for name in dict.fromkeys(rated)]
        connection.execute(insert(tables.ratings), points)
    totals = [to_row(player) for player in players.values()]
    changed: dict[str, Any] = {name: bindparam(name) for name in totals[0] if name != "name"}
    statement = update(tables.players).where(tables.players.c.name == bindparam("key")).values(changed)
    connection.execute(statement, [row | {"key": row["name"]} for row in totals])
    if game.seeded:
        one_more = upsert(tables.series).on_conflict_do_update(
            index_elements=["room"], set_={"games": tables.series.c.games + 1}
        )
        connection.execute(one_more, {"room": game.room, "games": 1})
    connection.execute(_count_in_room(game))
    return True


def write_plays(connection: Connection, plays: Mapping[str, Sequence[Play]]) -> None:
    """Add what was counted in stored games, three seats each, by their ids."""
    c = tables.seats.c
    statement = update(tables.seats).where(c.game_id == bindparam("id"), c.seat == bindparam("index"))
    rows = [
        {"id": game_id, "index": seat} | to_row(play)
        for game_id, of_game in sorted(plays.items())
        for seat, play in enumerate(of_game)
    ]
    connection.execute(statement.values({name: bindparam(name) for name in Play.model_fields}), rows)


def _count_in_room(game: FinishedGame) -> Update:
    """Count a game of a stored room, unless an earlier room of that name began it."""
    c = tables.rooms.c
    return update(tables.rooms).where(c.name == game.room, c.opened <= game.started).values(games=c.games + 1)


def _lock_players(connection: Connection, game: FinishedGame) -> dict[str, PlayerStats]:
    """The players of a game, new ones with zero totals. Their rows stay locked until the transaction ends."""
    by_name = {seat.name: seat for seat in game.seats}
    # Both statements take the names in sorted order, so that two transactions never wait for each other.
    new = [to_row(_new_player(by_name[name], game)) for name in sorted(by_name)]
    upsert = UPSERT[connection.dialect.name]
    connection.execute(upsert(tables.players).on_conflict_do_nothing(), new)  # a list in `values` is not cached
    c = tables.players.c
    locked = select(tables.players).where(c.name.in_(by_name)).order_by(c.name).with_for_update()
    rows = (connection.execute(locked)).mappings()
    return {row["name"]: from_row(PlayerStats, row) for row in rows}


def _new_player(seat: SeatResult, game: FinishedGame) -> PlayerStats:
    return PlayerStats(
        name=seat.name, house_bot=seat.house_bot, rating=START, first_seen=game.started, last_seen=game.finished
    )


def _add_result(player: PlayerStats, result: SeatResult, game: FinishedGame) -> PlayerStats:
    count = ("firsts", "seconds", "thirds")[result.rank - 1]
    return player.model_copy(
        update={
            "games": player.games + 1,
            count: getattr(player, count) + 1,
            "points": player.points + (result.points - result.penalty),
            "faults": player.faults + result.faults,
            "last_seen": max(player.last_seen, game.finished),
        }
    )


def _with_rating(player: PlayerStats, rating: Rating) -> PlayerStats:
    return player.model_copy(update={"rated_games": player.rated_games + 1, "rating": rating})


def _rating_point(player: PlayerStats, game: FinishedGame) -> RatingPoint:
    return RatingPoint(number=player.rated_games, game_id=game.id, finished=game.finished, rating=player.rating)
