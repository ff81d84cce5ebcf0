"""Writing a game, once, with everything that follows from it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from server.store.ratings import START, rate
from server.store.results import FinishedGame, Rating, Standing
from server.store.tables import GameRow, PlayerRow, RatingRow, RecordRow, SeatRow

INSERT: dict[str, Any] = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}  # those that know ON CONFLICT
GAME = ("id", "room", "rules", "length", "started", "finished", "rounds", "decisions")  # fields that are columns
STANDING = ("name", "house", "score", "rank", "points", "penalty", "faults", "taken_over")


async def insert_game(session: AsyncSession, game: FinishedGame) -> bool:
    """Write a game, its record, its players' counts and their ratings; False, and nothing written, where it is there.

    Of transactions that do so at the same time each waits for those that share a game or a player with it.
    """
    insert = INSERT[session.get_bind().dialect.name]
    names = [standing.name for standing in game.seats]
    rated = len(set(names)) == len(names)
    values = {column: getattr(game, column) for column in GAME} | {"rated": rated}
    if await session.scalar(insert(GameRow).values(values).on_conflict_do_nothing().returning(GameRow.id)) is None:
        return False
    players = await _lock_players(session, game)
    for seat, standing in enumerate(game.seats):
        values = {column: getattr(standing, column) for column in STANDING}
        session.add(SeatRow(game_id=game.id, seat=seat, finished=game.finished, **values))
        _count(players[standing.name], standing, game)
    session.add(RecordRow(game_id=game.id, data=game.record))
    if rated:
        seated = [players[name] for name in names]
        before = [Rating(player.mu, player.sigma, player.ordinal) for player in seated]
        after = rate(before, [standing.rank for standing in game.seats])
        session.add_all(_rerate(player, rating, game.id) for player, rating in zip(seated, after, strict=True))
    return True


async def _lock_players(session: AsyncSession, game: FinishedGame) -> dict[str, PlayerRow]:
    """The game's players, new ones with empty counts. Nobody else changes them until the transaction ends."""
    by_name = {standing.name: standing for standing in game.seats}
    zeros = dict.fromkeys(("games", "rated_games", "firsts", "seconds", "thirds", "points", "faults"), 0)
    start = {"mu": START.mu, "sigma": START.sigma, "ordinal": START.ordinal}
    seen = {"first_seen": game.started, "last_seen": game.finished}
    # Both statements go through the names in the same order, whoever plays: no two transactions wait for each other.
    new = [{"name": name, "house": by_name[name].house} | zeros | start | seen for name in sorted(by_name)]
    insert = INSERT[session.get_bind().dialect.name]
    await session.execute(insert(PlayerRow).values(new).on_conflict_do_nothing())
    locked = select(PlayerRow).where(PlayerRow.name.in_(by_name)).order_by(PlayerRow.name).with_for_update()
    return {player.name: player for player in await session.scalars(locked)}


def _count(player: PlayerRow, standing: Standing, game: FinishedGame) -> None:
    place = ("firsts", "seconds", "thirds")[standing.rank - 1]
    setattr(player, place, getattr(player, place) + 1)
    player.games += 1
    player.points += standing.points - standing.penalty
    player.faults += standing.faults
    player.last_seen = max(player.last_seen, game.finished)


def _rerate(player: PlayerRow, rating: Rating, game_id: str) -> RatingRow:
    values = {"mu": rating.mu, "sigma": rating.sigma, "ordinal": rating.ordinal}
    player.rated_games += 1
    for column, value in values.items():
        setattr(player, column, value)
    return RatingRow(name=player.name, number=player.rated_games, game_id=game_id, **values)
