"""The queries of the paginated lists (games, players, ratings, opponents), and of a player's statistics."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import JSON, ColumnElement, Integer, Select, and_, case, cast, column, func, or_, select, true, tuple_

from server.limits import Limits
from server.store.cursors import Order, count, time
from server.store.models import Opponent, Play, PlayerStats, RatingPoint, StoredGame
from server.store.tables import BY_GAMES, BY_RATING, UNRATED, games, players, ratings, seats, tournaments

PlayerOrder = Literal["rating", "name", "games"]

NEWEST_FIRST: Order[StoredGame] = Order("games", lambda game: (game.finished, game.id), (time, str))
BY_NUMBER: Order[RatingPoint] = Order("ratings", lambda point: (point.number,), (count,))
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)  # before all games
PLAYER_ORDERS: dict[PlayerOrder, Order[PlayerStats]] = {
    "rating": Order(
        "rating",
        lambda player: (player.rating.ordinal if player.rated_games else UNRATED, player.name),
        (float, str),
    ),
    "games": Order("most games", lambda player: (player.games, player.name), (count, str)),
    "name": Order("name", lambda player: (player.name,), (str,)),
}
MOST_MET: Order[Opponent] = Order("opponents", lambda opponent: (opponent.games, opponent.name), (count, str))
MAX_COUNT = (1 << 31) - 1  # of a database integer
LEAST_FIRST: dict[PlayerOrder, ColumnElement[Any]] = {"rating": BY_RATING, "games": BY_GAMES}


def select_games(
    limits: Limits,
    player: str | None,
    room: str | None,
    rules: str | None,
    since: datetime | None,
    until: datetime | None,
    cursor: str | None,
    n: int,
) -> Select[Any]:
    """The latest `n` games that pass the given filters, without their seats. Raises ValueError for a bad cursor.

    Filters without an index, such as the rules, search the latest `most_searched` games from the cursor on.
    """
    # A player's games are read from an index of the seats. A game in which the player had two seats is listed once.
    finished, game_id = (games.c.finished, games.c.id) if player is None else (seats.c.finished, seats.c.game_id)
    keys = select(finished.label("finished"), game_id.label("id"))
    if player is not None:
        keys = keys.distinct().join(games, games.c.id == seats.c.game_id)
    of_room, of_rules = (room, games.c.room.__eq__), (rules, games.c.rules.__eq__)
    indexed = conditions((
        (player, seats.c.name.__eq__) if player is not None else of_room,
        (until, finished.__lt__),
        (NEWEST_FIRST.read(cursor) if cursor is not None else None, tuple_(finished, game_id).__lt__),
    ))  # fmt: skip
    searched = conditions((of_rules,) if player is None else (of_room, of_rules))
    if searched:
        of_index = select(finished).correlate(None).where(*indexed).order_by(finished.desc(), game_id.desc())
        last = of_index.offset(limits.most_searched - 1).limit(1).scalar_subquery()
        searched.append(finished >= func.coalesce(last, EARLIEST))
    keys = keys.where(*indexed, *searched, *conditions(((since, finished.__ge__),)))
    page = keys.order_by(finished.desc(), game_id.desc()).limit(n).subquery()
    found = select(games).join(page, page.c.id == games.c.id)
    return found.order_by(games.c.finished.desc(), games.c.id.desc())


def select_players(order: PlayerOrder, prefix: str, cursor: str | None) -> list[Select[Any]]:
    """Queries whose rows, one after the other, are the players in that order whose names begin with `prefix`.

    After a cursor, those that are level with its player are one query, all others another: an index leads to the first
    row of each. Raises ValueError for a bad cursor.
    """
    name, value = players.c.name, LEAST_FIRST.get(order)
    found = select(players)
    if prefix:
        found = found.where(name >= prefix, name <= prefix + chr(sys.maxunicode))
    if cursor is None:
        return [found.order_by(name) if value is None else found.order_by(value, name)]
    *keys, last = PLAYER_ORDERS[order].read(cursor)
    after = found.where(name > last).order_by(name)
    if value is None:
        return [after]
    (key,) = keys
    return [after.where(value == -key), found.where(value > -key).order_by(value, name)]


def select_ratings(name: str, step: int, cursor: str | None, n: int) -> Select[Any]:
    """The first `n` ratings of a player whose numbers are multiples of `step`. Raises ValueError for a bad cursor."""
    before: int = BY_NUMBER.read(cursor)[0] if cursor is not None else 0
    first = before - before % step + step
    numbers = [number for number in range(first, first + n * step, step) if number <= MAX_COUNT]
    return select(ratings).where(ratings.c.name == name, ratings.c.number.in_(numbers)).order_by(ratings.c.number)


def latest_seats(
    limits: Limits,
    name: str,
    room: str | None = None,
    rules: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Select[Any]:
    """The seats of a player in the latest `most_seats` games that pass the given filters, and that it has played."""
    times = ((since, seats.c.finished.__ge__), (until, seats.c.finished.__lt__))
    found = select(seats).where(seats.c.name == name, ~seats.c.absent, *conditions(times))
    found = found.order_by(seats.c.finished.desc(), seats.c.game_id.desc())
    filters = conditions(((room, games.c.room.__eq__), (rules, games.c.rules.__eq__)))
    if not filters:
        return found.limit(limits.most_seats)
    searched = found.limit(limits.most_searched).subquery()
    found = select(searched).join(games, games.c.id == searched.c.game_id).where(*filters)
    return found.order_by(searched.c.finished.desc(), searched.c.game_id.desc()).limit(limits.most_seats)


def conditions(conditions: Iterable[tuple[Any, Callable[[Any], ColumnElement[bool]]]]) -> list[ColumnElement[bool]]:
    """The conditions on values that are not None."""
    return [condition(value) for value, condition in conditions if value is not None]


def select_statistics(found: Select[Any]) -> Select[Any]:
    """One row: the columns of `PlayerStatistics`, but its name, over the seats that `found` selects."""
    c = found.subquery().c
    columns: dict[str, ColumnElement[int]] = {
        "games": func.count(),
        "firsts": number_where(c.rank == 1),
        "seconds": number_where(c.rank == 2),
        "thirds": number_where(c.rank == 3),
        "busts": number_where(c.score < 0),
        "score": total(c.score),
        **{name: total(c[name]) for name in Play.model_fields},
    }
    found_columns: list[ColumnElement[Any]] = [value.label(name) for name, value in columns.items()]
    return select(*found_columns)


def number_where(condition: ColumnElement[bool]) -> ColumnElement[int]:
    """The number of rows with a condition."""
    return func.count(case((condition, 1)))


def total(value: ColumnElement[int]) -> ColumnElement[int]:
    """The sum of a column, 0 of nothing."""
    return func.coalesce(func.sum(value), 0)


def select_opponents(limits: Limits, name: str, cursor: str | None, n: int) -> Select[Any]:
    """The first `n` opponents of a player, those with most games first. Raises ValueError for a bad cursor."""
    own, others = latest_seats(limits, name).subquery(), seats.alias()
    number = func.count()
    found = (
        select(
            others.c.name,
            others.c.house_bot,
            number.label("games"),
            number_where(own.c.rank < others.c.rank).label("better"),
            func.sum(own.c.rank - others.c.rank).label("rank_difference"),
        )
        .join(others, (others.c.game_id == own.c.game_id) & (others.c.name != name) & ~others.c.absent)
        .group_by(others.c.name, others.c.house_bot)
        .order_by(number.desc(), others.c.name)
        .limit(n)
    )
    if cursor is None:
        return found
    games_before, name_before = MOST_MET.read(cursor)
    return found.having(or_(number < games_before, and_(number == games_before, others.c.name > name_before)))


# The result of a tournament may have 1.5 MB, of which the database cuts out what a page shows: to parse all of it would
# halt the event loop, even in a thread.


def select_tournament_standings(name: str) -> Select[Any]:
    """One row: the entrants and the pairs in the result of a tournament; of one without a result, they are NULL."""
    result = tournaments.c.result
    return select(result["bots"].label("bots"), result["pairs"].label("pairs")).where(tournaments.c.name == name)


def select_tournament_schedule(backend: str, name: str, after: int, n: int) -> Select[Any]:
    """The first `n` games after that number in the result of a tournament."""
    result = tournaments.c.result
    number: ColumnElement[int]
    if backend == "sqlite":
        game = func.json_each(result, "$.schedule").table_valued(column("value", JSON))
        number = func.json_extract(game.c.value, "$.number", type_=Integer)
    else:
        game = func.json_array_elements(result["schedule"]).table_valued(column("value", JSON))
        number = cast(game.c.value.op("->>")("number"), Integer)
    found = select(game.c.value).select_from(tournaments).join(game, true())
    return found.where(tournaments.c.name == name, number > after).order_by(number).limit(n)
