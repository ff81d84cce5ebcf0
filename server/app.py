"""The web application: the HTTP API and the pages. `server.websocket_routes` has the WebSockets on the same port."""

from __future__ import annotations

from fastapi import FastAPI

from server import api
from server.api.common import Service, problems
from server.api.document import Application
from server.api.errors import handle_errors
from server.api.guard import Guard
from server.api.origins import Origins
from server.docs_page import docs_routes
from server.lobby import Lobby
from server.pages import missing_page, page_routes
from server.puzzles import Puzzles
from server.review_work import review
from server.reviews import DoReview, Reviews
from server.used_time import LeastUsedFirst
from server.websocket_routes import WebSockets

DESCRIPTION = """\
Games of three-player riichi mahjong between mjai bots: rooms, results, records, ratings.

Two addresses are WebSockets and not listed below. Bots play at `/mjai/{room}`. Spectators listen at
`/api/games/{game_id}/events`: canonical mjai messages, one a frame, from the start of the game to `end_game`. With
`?hands=open` (the default) a round is sent, all hands open, once it is finished and the room's `spectator_delay` has
passed; with `?hands=closed` every event at once, and all concealed tiles are `?`.

Times are ISO 8601 in UTC. Lists come in pages: send `next_cursor` as `cursor` to get the next one. The body of
an error is `{"detail": "one line"}`. A plus sign in a query is written `%2B`.
"""


def make_app(lobby: Lobby, do_review: DoReview = review) -> FastAPI:
    """The application of a server; `do_review`: see `Reviews`."""
    app = Application(
        title="nukidora",
        summary="Three-player mjai server",
        description=DESCRIPTION,
        docs_url=None,  # see `server.docs_page`
        redoc_url=None,
    )
    reviews, reading = Reviews(lobby.store.record, lobby.limits, do_review), LeastUsedFirst(lobby.limits.clock)
    puzzle_records = lobby.settings.puzzle_records
    puzzles = Puzzles(lobby.store, reviews.worker, lobby.house_bots, lobby.limits, puzzle_records)
    app.state.service = Service(lobby, reviews, puzzles, reading)
    origins = Origins(lobby.settings.host, lobby.settings.tokens_needed)
    app.state.websockets = WebSockets(lobby, origins)  # for `server.connection.websocket`
    app.add_middleware(Guard, access=lobby.access, origins=origins)
    handle_errors(app)
    for router in api.ROUTERS:
        app.include_router(router, responses=problems(413, 429))  # of `Guard`
    app.router.routes += [*page_routes(), *docs_routes()]
    app.exception_handler(404)(missing_page)
    return app
