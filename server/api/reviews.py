"""Reviews: what house bots think of every decision of a seat, in a stored game or in a record that is sent."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from engine.common.error_text import coded, error_text
from server.api.common import Service, ServiceHere, UploadRoute, client_address, problems
from server.api.errors import not_found
from server.api.games import live_broadcast
from server.api.rooms import MAX_BOT
from server.api.uploads import RECORD_BODY, GzippedJson, read_body
from server.house_bots import HOUSE_BOTS
from server.reviews import Review, Status

MAX_BOTS = 2  # of one review
MAX_ID = 64  # characters of a game's id in a request
router = APIRouter(prefix="/api/reviews", tags=["reviews"], route_class=UploadRoute)


class ReviewInfo(BaseModel):
    """A review that was asked for."""

    id: str
    status: Status = Field(description="`queued`, `running`, `done` or `failed`")
    done: int = Field(description="evaluated decisions, each counted for each bot; of a player: games")
    decisions: int = Field(description="decisions in all, each counted for each bot, or games; 0 until they are known")
    error: str = Field(description="one line, if it has failed")
    code: str = Field("", description="of that line, and `values`: as of an error")
    values: dict[str, str | float] = Field({}, description="see `code`")
    codes: dict[str, Any] = Field({}, description="see `code`")


def can_review(bot: str) -> str:
    """A house bot that can review. Raises ValueError."""
    if bot not in HOUSE_BOTS.evaluating():
        raise ValueError(f"choose a bot that can review: {', '.join(HOUSE_BOTS.evaluating())}")
    return bot


Bot = Annotated[str, StringConstraints(max_length=MAX_BOT), AfterValidator(can_review)]
Bots = Annotated[list[Bot], Query(min_length=1, max_length=MAX_BOTS, description="house bots, one or two")]


def info(review: Review) -> ReviewInfo:
    """A review as the API sends it."""
    return ReviewInfo(
        id=review.id,
        status=review.status,
        done=review.done,
        decisions=review.decisions,
        error=str(review.error),
        **coded(review.error),
    )


def find(service: Service, review_id: str) -> Review:
    """The review with that id. Raises HTTPException if there is none."""
    found = service.reviews.find(review_id)
    if found is None:
        text = "there is no review {name!r}; it has expired, ask for another one"
        raise HTTPException(404, error_text("no_review", text, name=review_id[:MAX_ID]))
    return found


@router.post(
    "",
    status_code=202,
    response_model_exclude_unset=True,
    summary="Ask for a review",
    responses=problems(403, 404, 409, 411, 422, 503),
    openapi_extra={"requestBody": RECORD_BODY | {"required": False}},
)
async def ask_for_review(
    service: ServiceHere,
    request: Request,
    bot: Bots,
    seat: Annotated[int, Query(ge=0, le=2, description="0 is the first dealer")],
    game: Annotated[str, Query(max_length=MAX_ID, description="id of a finished game; without it, send a record")] = "",
) -> ReviewInfo:
    """Of a finished game of this server, or of a record in the body (see `POST /api/records`), which is not kept.

    Then ask for the state of the review until it is done: reviews wait for each other, and one that nobody asks about
    for 30 seconds is not done. The result is kept for ten minutes.
    """
    bots, address = tuple(dict.fromkeys(bot)), client_address(request)
    has_body = request.headers.get("content-length", "0") != "0"
    if has_body == bool(game):
        raise HTTPException(422, "query: name a game, or send a record as the body, one of the two")
    if not game:
        service.reviews.check(address)
        return info(service.reviews.add(address, bots, seat, record=await read_body(request)))
    if await service.lobby.store.game(game) is None:
        if live_broadcast(service.lobby, game) is not None:
            text = "the game is still being played; it can be reviewed afterwards"
            raise HTTPException(409, error_text("game_playing", text))
        raise not_found("game", game)
    return info(service.reviews.add(address, bots, seat, game))


@router.get(
    "/{review_id}",
    summary="The state of a review",
    response_model_exclude_unset=True,
    responses=problems(404, 422),
)
async def get_review(service: ServiceHere, review_id: str) -> ReviewInfo:
    """How far a review is."""
    return info(find(service, review_id))


@router.get(
    "/{review_id}/result",
    summary="A review that is done",
    response_class=Response,
    responses={200: {"content": {"application/json": {"schema": {"type": "object"}}}}, **problems(404, 409, 422)},
)
async def get_result(service: ServiceHere, request: Request, review_id: str) -> Response:
    """The decisions with the values of all actions, and a summary; docs/web.md has the keys."""
    address = client_address(request)
    found = find(service, review_id)
    if found.status != "done":
        raise HTTPException(409, found.error or f"the review is {found.status}; ask for it again later")
    with ExitStack() as download:  # a result that is sent is in memory even if it is not kept any more
        download.enter_context(service.lobby.access.downloading(address))
        return GzippedJson(found.result, download.pop_all())
