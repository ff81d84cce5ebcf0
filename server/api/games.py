"""Games, being played or finished: lists and single games."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from engine.common.error_text import error_text
from server.api.common import (
    Cursor,
    Limit,
    LobbyHere,
    Page,
    QueryTurnHere,
    Route,
    problems,
    read_cursor,
    respond,
    stored_page,
)
from server.api.errors import not_found
from server.broadcast import Broadcast
from server.limits import LIMITS
from server.lobby import Lobby
from server.store import SeatScore, StoredGame
from server.store.cursors import Order, one_more, time
from server.store.models import Casual, GameInfo, ThreeSeats

router = APIRouter(prefix="/api/games", tags=["games"], route_class=Route)
DATE_AND_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:", re.ASCII)


class PlayingGame(GameInfo):
    """A game being played, as everybody at the table sees it."""

    casual: Casual
    rounds: int = Field(description="finished rounds")
    seats: ThreeSeats[SeatScore]
    spectator_delay: float = Field(description="seconds before all hands of a finished round are shown")
    status: Literal["playing"] = "playing"


NEWEST_FIRST: Order[PlayingGame] = Order("playing", lambda game: (game.started, game.id), (time, str))


def date_and_time(text: object) -> object:
    """Let only ISO dates with a time through to pydantic, which would read a number as seconds since 1970."""
    if isinstance(text, str) and not DATE_AND_TIME.match(text):
        raise PydanticCustomError("datetime", "no date and time")
    return text


def in_utc(time: datetime) -> datetime:
    """The same time in UTC. Raises ValueError if it is outside the calendar."""
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(error_text("time_outside", "it is outside the calendar")) from error


def with_plus_signs(room: str | None) -> str | None:
    """The name of a room, in which a plus sign of the query was not encoded; room names have no spaces."""
    return room and room.replace(" ", "+")


Time = Annotated[AwareDatetime, BeforeValidator(date_and_time), AfterValidator(in_utc)]
RoomFilter = Annotated[
    str | None, AfterValidator(with_plus_signs), Query(description="of this room", examples=["default"])
]
RulesFilter = Annotated[str | None, Query(description="with these rules", examples=["tenhou"])]


def live_broadcast(lobby: Lobby, game_id: str) -> Broadcast | None:
    """The broadcast of a game that is being played; None if there is no such game."""
    broadcast = lobby.broadcasts.get(game_id)
    return None if broadcast is None or broadcast.over else broadcast


def playing_game(broadcast: Broadcast) -> PlayingGame:
    """A game being played, as the API sends it."""
    game, start = broadcast.game, broadcast.game.start
    first, second, third = (
        SeatScore(name=player.name, house_bot=bool(player.house), score=score)
        for player, score in zip(start.players, game.engine.scores, strict=True)
    )
    return PlayingGame(
        id=start.id,
        room=start.room,
        rules=start.settings.rules,
        length=start.settings.length,
        started=start.started,
        casual=game.casual,
        rounds=game.history.rounds,
        seats=(first, second, third),
        spectator_delay=start.settings.spectator_delay,
    )


@router.get(
    "",
    summary="Games being played or finished, newest first",
    description="Reading page after page, every game in the list at the first page is returned exactly once. Those of "
    "rules, and a player's of a room, are looked for among the latest "
    f"{LIMITS.most_searched:,} from the cursor on.",
    responses=problems(422, 503),
)
async def list_games(
    lobby: LobbyHere,
    turn: QueryTurnHere,
    status: Annotated[
        Literal["playing", "finished"], Query(description="finished games, or games being played")
    ] = "finished",
    player: Annotated[str | None, Query(description="with this player", examples=["wahaha"])] = None,
    room: RoomFilter = None,
    rules: RulesFilter = None,
    since: Annotated[Time | None, Query(description="finished (being played: started) at this time or later")] = None,
    until: Annotated[Time | None, Query(description="finished (being played: started) before this time")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[StoredGame] | Page[PlayingGame]:
    """The games that pass the filters."""
    if status == "finished":
        return await stored_page(turn, partial(lobby.store.games, player, room, rules, since, until), cursor, limit)
    before = read_cursor(NEWEST_FIRST, cursor)
    broadcasts = {
        (start.started, start.id): broadcast
        for broadcast in lobby.broadcasts.values()
        if not broadcast.over
        and player in (None, *(start := broadcast.game.start).names)
        and room in (None, start.room)
        and rules in (None, start.settings.rules)
        and (since is None or since <= start.started)
        and (until is None or start.started < until)
    }
    keys = sorted((key for key in broadcasts if before is None or key < before), reverse=True)
    games = [playing_game(broadcasts[key]) for key in keys[: one_more(limit)]]
    return respond(NEWEST_FIRST.page(games, limit))


@router.get("/{game_id}", summary="One game, being played or finished", responses=problems(404, 422, 503))
async def get_game(lobby: LobbyHere, game_id: str) -> StoredGame | PlayingGame:
    """`status` is `playing` until the game's result is stored, then `finished`."""
    if broadcast := live_broadcast(lobby, game_id):
        return playing_game(broadcast)
    game = await lobby.store.game(game_id)
    if game is None:
        raise not_found("game", game_id)
    return game
