"""Tournaments: list, create, cancel; standings, schedule, result."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, Strict, StringConstraints

from engine.common.error_text import error_text, line_of
from engine.mjai.connection import MAX_NAME, ROOM_NAME, ROOM_TEXT
from engine.seeds import MAX_SEED
from server.api.common import (
    Cursor,
    Limit,
    LobbyHere,
    Page,
    QueryTurn,
    QueryTurnHere,
    Route,
    client_address,
    problems,
    read_cursor,
    respond,
)
from server.api.errors import in_body, not_found
from server.api.games import Time
from server.api.records import JSON_OBJECT, Download
from server.api.rooms import Bearer, HouseBot, RoomSettingsInfo, WithSettings
from server.lobby import Lobby
from server.store import StoredTournament
from server.store.cursors import Order, count, one_more
from server.tournaments.document import entry
from server.tournaments.plan import MAX_ENTRANTS, MAX_GAMES, MAX_WALLS, SETTABLE, Plan, game_id
from server.tournaments.tournament import Tournament
from server.tournaments.tournaments import stored_of

LATEST_START = timedelta(days=30)  # from now
CLOCK_TOLERANCE = timedelta(minutes=1)  # of whoever says when it starts
router = APIRouter(prefix="/api/tournaments", tags=["tournaments"], route_class=Route)
EntrantName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME)]
GameStatus = Literal["due", "playing", "finished"]
Count = Annotated[int, Strict(), Field(ge=0)]


class NewTournament(WithSettings):
    """A request to create a tournament."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "cup", "entrants": ["wahaha", "akochan"], "house_bots": ["rule"], "walls": 10}]
        },
    )

    name: Annotated[str, StringConstraints(pattern=rf"^{ROOM_NAME}$")] = Field(
        description=f"{ROOM_TEXT}; also of the room that entrants join"
    )
    entrants: tuple[EntrantName, ...] = Field((), max_length=MAX_ENTRANTS, description="names of bots that connect")
    house_bots: tuple[HouseBot, ...] = Field((), max_length=MAX_ENTRANTS, description="of the server, by their names")
    places: Annotated[Count, Field(le=MAX_ENTRANTS)] = Field(
        0, description="entrants in all, if others than those named may enter: whoever joins the room first"
    )
    starts: Time | None = Field(
        None,
        description="when it begins at the latest; earlier, when all entrants are there",
    )
    walls: Annotated[Count, Field(le=MAX_WALLS)] = Field(
        0, description="walls that every three entrants play, in three games each"
    )
    games: Annotated[Count, Field(le=MAX_GAMES)] = Field(
        0, description="instead of `walls`: about how many games in all, in which every two meet equally often"
    )
    seed: Annotated[int, Strict(), Field(ge=0, le=MAX_SEED)] | None = Field(
        None, description="of the walls, shown when the tournament is over; null: random"
    )


class TournamentInfo(BaseModel):
    """A tournament in the list."""

    name: str
    status: Literal["open", "running", "finished", "cancelled"] = Field(description="open: entrants are waited for")
    created: datetime
    starts: datetime | None = Field(description="when it begins at the latest")
    rules: str
    length: str
    rated: bool
    entrants: int
    games: int = Field(description="of the schedule; 0 before it has begun")
    played: int = Field(description="finished games")


class Estimate(BaseModel):
    """A mean, and the half-width of its 95 % confidence interval; all games on a wall are one observation."""

    mean: float
    interval: float | None = Field(description="null for fewer than two walls")


class Entrant(BaseModel):
    """An entrant, and its standing; the standing is null before its first game, and where `failed`."""

    name: str
    house_bot: bool
    here: bool = Field(description="waits for a game, or plays")
    failed: bool = Field(False, description="a house bot has played every game for it: those games do not count")
    taken_over: int = Field(0, description="games that a house bot has played, or finished, for it")
    games: int = 0
    rating: Estimate | None = Field(None, description="points as on the ladder; the mean of all entrants is 0")
    placement: Estimate | None = Field(None, description="mean placement")
    first: float | None = Field(None, description="share of games finished first")
    second: float | None = None
    third: float | None = None


class Pair(BaseModel):
    """Two entrants, compared in the games that both have played."""

    bot: str
    against: str
    games: int
    ahead: Estimate = Field(description="share of these in which `bot` finished ahead of `against`")


class TournamentDetails(TournamentInfo):
    """A tournament with its standings."""

    played: int = Field(description="finished games: those that the standings are made from")
    over: bool = Field(description="nothing changes any more, and the result is there")
    places: int = Field(description="entrants in all, if others than those named may enter")
    settings: RoomSettingsInfo
    standings: list[Entrant] = Field(description="best first")
    pairs: list[Pair]


class ScheduledGame(BaseModel):
    """A game of the schedule."""

    number: int
    wall: int
    seats: tuple[str, str, str] = Field(description="names on seats 0 to 2")
    game: str = Field(description="id of the game, once it is played")
    status: GameStatus
    rank: list[int] | None = Field(None, description="of the seats, 1 to 3")
    score: list[int] | None = None
    taken_over: list[bool] | None = Field(None, description="a house bot played the seat at the end of the game")


BY_NAME: Order[TournamentInfo] = Order("tournaments", lambda it: (it.name,), (str,))
BY_NUMBER: Order[ScheduledGame] = Order("schedule", lambda it: (it.number,), (count,))


def info_of(stored: StoredTournament) -> dict[str, Any]:
    """What the list tells of a tournament."""
    plan = Plan.model_validate(stored.plan)
    return stored.model_dump(include={"name", "status", "created", "games", "played"}) | {
        "starts": plan.starts,
        "rules": stored.settings["rules"],
        "length": stored.settings["length"],
        "rated": stored.settings["rated"],
        "entrants": len(plan.players or [*plan.entrants, *plan.house]),
    }


def find(lobby: Lobby, name: str) -> StoredTournament:
    """The tournament with that name, as it is now. Raises HTTPException if there is none."""
    if (tournament := lobby.tournaments.current.get(name)) is not None:
        return stored_of(tournament)
    if name not in lobby.tournaments.over:
        raise not_found("tournament", name)
    return lobby.tournaments.over[name]


@router.get("", summary="Tournaments, by name", responses=problems(422))
async def list_tournaments(lobby: LobbyHere, cursor: Cursor = None, limit: Limit = 50) -> Page[TournamentInfo]:
    """Those that are not over, and those that are, until they are deleted."""
    (after,) = read_cursor(BY_NAME, cursor) or ("",)
    found = sorted(name for name in {*lobby.tournaments.current, *lobby.tournaments.over} if name > after)
    infos = [TournamentInfo(**info_of(find(lobby, name))) for name in found[: one_more(limit)]]
    return respond(BY_NAME.page(infos, limit))


@router.get("/{name}", summary="A tournament and its standings", responses=problems(404, 422, 503))
async def get_tournament(lobby: LobbyHere, turn: QueryTurnHere, name: str) -> TournamentDetails:
    """While it goes on, the standings are those of the games so far, some seconds old at most."""
    stored, document = await standings_in(lobby, turn, name)
    tournament = lobby.tournaments.current.get(name)
    plan = Plan.model_validate(stored.plan)
    here = set(tournament.here) if tournament else set()
    names = tournament.entrants if tournament else plan.players or (*plan.entrants, *plan.house)
    rows = {row["bot"]: row for row in document["bots"]}
    standings = [
        Entrant(**{"name": bot, "house_bot": bot in plan.house, "here": bot in here} | rows.get(bot, {}))
        for bot in names
    ]
    standings.sort(key=lambda entrant: -entrant.rating.mean if entrant.rating else float("inf"))
    return TournamentDetails(
        **info_of(stored) | {"entrants": len(names)},
        over=tournament is None,
        places=plan.places,
        settings=settings_info(stored.settings),
        standings=standings,
        pairs=[Pair(**{key: pair[key] for key in Pair.model_fields}) for pair in document["pairs"]],
    )


async def standings_in(lobby: Lobby, turn: QueryTurn, name: str) -> tuple[StoredTournament, dict[str, Any]]:
    """A tournament and the `bots` and `pairs` of its document, both of the same games: of those so far, or as stored.

    Raises HTTPException if there is no tournament with that name.
    """
    if (tournament := lobby.tournaments.current.get(name)) is not None:
        document = await lobby.tournaments.standings_of(tournament)
        if lobby.tournaments.current.get(name) is tournament:  # else it has ended meanwhile
            return stored_of(tournament).model_copy(update={"played": document["games"]}), document
    stored = find(lobby, name)
    async with turn():
        return stored, await lobby.store.tournament_standings(name)


def settings_info(stored: Mapping[str, Any]) -> RoomSettingsInfo:
    """Stored settings, in which JSON has made lists of tuples."""
    values: dict[str, Any] = {key: tuple(it) if isinstance(it, list) else it for key, it in stored.items()}
    return RoomSettingsInfo(**values | {"seed": None})


@router.get("/{name}/games", summary="The schedule of a tournament", responses=problems(404, 422, 503))
async def list_schedule(
    lobby: LobbyHere,
    turn: QueryTurnHere,
    name: str,
    status: Annotated[Literal["all", "due", "playing", "finished"], Query(description="of the games")] = "all",
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[ScheduledGame]:
    """All games in the order in which they are due; of a tournament that is over, those that were played."""
    find(lobby, name)
    (after,) = read_cursor(BY_NUMBER, cursor) or (-1,)
    rows: Iterable[dict[str, Any]] = ()
    if (tournament := lobby.tournaments.current.get(name)) is not None:
        rows = islice(scheduled(tournament, after, status), one_more(limit))
    elif status in ("all", "finished"):
        async with turn():
            rows = await lobby.store.tournament_schedule(name, after, one_more(limit))
    return respond(BY_NUMBER.page([ScheduledGame(**row) for row in rows], limit))


def scheduled(tournament: Tournament, after: int, wanted: str) -> Iterator[dict[str, Any]]:
    """The games of the schedule after one of that number, as they are now: all, or those with a status.

    Of others no id is made: there may be thousands, and the games wait meanwhile.
    """
    playing = {due.number for due in tournament.in_play.values()}
    for due in tournament.schedule[after + 1 :]:
        result = tournament.results.get(due.number)
        status = "finished" if result else "playing" if due.number in playing else "due"
        if wanted in ("all", status):
            yield entry(due, game_id(tournament.id, due.number), status, result)


@router.get(
    "/{name}/result",
    summary="The result of a tournament that is over",
    response_class=Response,
    responses={
        200: {"description": "The result", "content": {"application/json": {"schema": JSON_OBJECT}}},
        **problems(404, 409, 422, 429, 503),
    },
)
async def get_result(lobby: LobbyHere, request: Request, name: str) -> Response:
    """The standings and all games, in the format of `python -m arena league --json`; see docs/api.md.

    It counts as the download of a record.
    """
    stored = find(lobby, name)
    if name in lobby.tournaments.current:
        text = "tournament {name} is {status}: its result is there when it is over"
        raise HTTPException(409, error_text("tournament_not_over", text, name=name, status=stored.status))
    with ExitStack() as counted:
        counted.enter_context(lobby.access.downloading(client_address(request)))
        data = await lobby.store.tournament_result(name)
        if data is None:  # it could not go on after a restart
            text = "tournament {name} could not go on after a restart of the server: it has no result"
            raise HTTPException(409, error_text("tournament_stopped", text, name=name))
        return Download(data.encode(), "application/json", {}, counted.pop_all())


@router.post("", summary="Create a tournament", status_code=201, responses=problems(401, 403, 409, 411, 413, 422, 503))
async def create_tournament(
    lobby: LobbyHere, turn: QueryTurnHere, new: NewTournament, given: Bearer, response: Response
) -> TournamentDetails:
    """For admins. It begins when all entrants have joined the room of its name, or at `starts`."""
    await lobby.tokens.authorize_admin(given.credentials if given else None)
    check_name_free(lobby, new.name)
    plan = Plan(
        **new.model_dump(include={"entrants", "house_bots", "places", "starts", "walls", "games"}),
        seed=secrets.randbits(64) if new.seed is None else new.seed,
    )
    try:
        await asyncio.to_thread(plan.check)  # it may make a schedule
        check_settings(new.given)
        check_start(plan.starts)
        await check_tokens(lobby, plan)
    except ValueError as error:
        raise HTTPException(422, in_body(line_of(error))) from error
    check_name_free(lobby, new.name)  # it may have been taken meanwhile
    await lobby.tournaments.create(new.name, replace(lobby.settings.room, **new.given), plan)
    response.headers["Location"] = f"/api/tournaments/{new.name}"
    return await get_tournament(lobby, turn, new.name)


def check_name_free(lobby: Lobby, name: str) -> None:
    """Raise HTTPException for the name of a room or tournament that is there."""
    if name in lobby.rooms or lobby.tournaments.taken(name):
        text = "a room or tournament {name} is there already: choose another name"
        raise HTTPException(409, error_text("name_taken", text, name=name))


def check_settings(given: Mapping[str, Any]) -> None:
    """Raise ValueError for settings that a tournament does not have."""
    for name in sorted(given):
        if name not in SETTABLE:
            text = "settings.{setting} follows from the schedule; a tournament sets {others}"
            raise ValueError(error_text("setting_scheduled", text, setting=name, others=", ".join(SETTABLE)))


def check_start(starts: datetime | None) -> None:
    """Raise ValueError for a time that is over, or too far away."""
    if starts is None:
        return
    if starts < (now := datetime.now(UTC)) - CLOCK_TOLERANCE:
        text = "starts is {time}, which is over: choose a later time, or leave it out"
        raise ValueError(error_text("starts_past", text, time=starts.isoformat()))
    if starts > now + LATEST_START:
        raise ValueError(error_text("starts_late", "starts is more than {n} days away", n=LATEST_START.days))


async def check_tokens(lobby: Lobby, plan: Plan) -> None:
    """Raise ValueError for an entrant who could never join, since there is no token of its name."""
    if lobby.settings.tokens_needed:
        known = set(await lobby.store.token_names())
        for index, name in enumerate(plan.entrants):
            if name not in known:
                text = "entrants.{index} is {name!r}, which has no token: python -m server token add makes one"
                raise ValueError(error_text("entrant_token", text, index=index, name=name))


@router.delete(
    "/{name}",
    summary="Cancel or delete a tournament",
    status_code=204,
    responses=problems(401, 403, 404, 411, 413, 422, 503),
)
async def cancel_tournament(lobby: LobbyHere, name: str, given: Bearer) -> None:
    """One that is not over is cancelled: games being played are finished and count. One that is over is deleted.

    Its games stay. For admins.
    """
    await lobby.tokens.authorize_admin(given.credentials if given else None)
    find(lobby, name)
    if (tournament := lobby.tournaments.current.get(name)) is not None:
        await lobby.tournaments.cancel(tournament)
    else:
        await lobby.tournaments.delete(name)
