"""The HTTP API: the routes under /api, and /healthz and /metrics for operators.

A router for each resource: `server_info`, `rooms`, `tournaments`, `games` (being played or finished) with `exhibitions`
and `records`, `players`, `operations`, `puzzle`, and for what is done with files and positions that clients send,
`uploads`, `reviews` and `positions`. Start with `players`, the shortest of them. `common` has what routes share,
`errors` turns exceptions into responses, `guard` is the middleware that limits requests and bodies and checks
`origins`.

A new endpoint is a function in its resource's module and a row of the table in docs/api.md.
"""

from server.api import (
    exhibitions,
    games,
    operations,
    players,
    positions,
    puzzle,
    records,
    reviews,
    rooms,
    server_info,
    tournaments,
    uploads,
)

ROUTERS = (
    server_info.router, rooms.router, tournaments.router, games.router, exhibitions.router, records.router,
    players.router, uploads.router, reviews.router, positions.router, puzzle.router,
    operations.router,
)  # fmt: skip
