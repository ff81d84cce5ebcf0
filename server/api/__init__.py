"""The HTTP API: everything under /api, and what operators ask for beside it."""

from server.api import games, operations, players, rooms, sittings

ROUTERS = (rooms.router, sittings.router, games.router, players.router, operations.router)
