"""The WebSocket routes: access checks and the choice of the handler."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from starlette.datastructures import QueryParams
from websockets.http11 import Request

from engine.mjai import connection
from engine.mjai.keys import BOOL, COUNT
from server.access import AccessError, Admission
from server.api.common import short_text
from server.api.origins import Origins
from server.broadcast import Hands
from server.connection.websocket import HandshakeError, WebSocketConnection
from server.fairness import CpuLimiter
from server.lobby import Lobby
from server.ports import ConnectionHandler
from server.spectators import BURST, Spectator

BOTS = re.compile(r"/mjai(?:/(?P<room>.*))?")
SPECTATORS = re.compile(r"/api/games/(?P<game>[^/]+)/events")
HANDS = "hands"
JOIN_KEYS = frozenset(key.name for key in connection.JOIN_KEYS) - {"room"}
NUMBERS = frozenset(key.name for key in connection.JOIN_KEYS if key.kind is COUNT)
FLAGS = frozenset(key.name for key in connection.JOIN_KEYS if key.kind in (BOOL, connection.RESUME))
MAX_DIGITS = 10
BOOLEANS = {"true": True, "false": False}
Handle = Callable[[WebSocketConnection], ConnectionHandler]


class WebSockets:
    """Answers the handshakes of bots and spectators."""

    def __init__(self, lobby: Lobby, origins: Origins) -> None:
        self.fair_queue = lobby.fair_queue
        self.messages_per_second = lobby.settings.messages_per_second
        self.limits = lobby.limits
        self._lobby = lobby
        self._origins = origins
        self._cpu_limiter = CpuLimiter(lobby.limits.spectators_share, BURST)  # of all spectators

    def open(self, request: Request, admission: Admission) -> Handle:
        """Return the handler for the connection that a request opens. Raises HandshakeError, AccessError."""
        try:
            admission.forward(", ".join(request.headers.get_all("X-Forwarded-For")))
        except AccessError:
            self._lobby.metrics.refused.inc()
            raise
        if refusal := self._origins.refusal(request.headers.get("Origin"), request.headers.get("Host", "")):
            raise HandshakeError(403, refusal)
        path, _, query = request.path.partition("?")
        if found := BOTS.fullmatch(path):
            room = unquote(found["room"] or "")
            return self._bot(({"room": room} if room else {}) | join_keys(QueryParams(query)))
        if found := SPECTATORS.fullmatch(path):
            return self._spectator(unquote(found["game"]), hands_of(QueryParams(query)))
        raise HandshakeError(
            404, "no WebSocket here: bots play at /mjai/ROOM, spectators listen at /api/games/ID/events"
        )

    def _bot(self, url_keys: dict[str, Any]) -> Handle:
        return lambda connection: self._lobby.connect(connection, url_keys)

    def _spectator(self, game_id: str, hands: Hands) -> Handle:
        broadcast = self._lobby.broadcasts.get(game_id)
        if broadcast is None:
            text = f"no game with this id is being played; for a finished game see /api/games/{game_id[:80]}"
            raise HandshakeError(404, text)

        def handle(connection: WebSocketConnection) -> Spectator:
            frames = broadcast.stream(hands, connection, self._cpu_limiter)
            left = self._lobby.exhibitions.watch(game_id)
            timeout = self.limits.spectator_timeout
            return Spectator(connection, frames, self._cpu_limiter, self._lobby.metrics, timeout, left)

        return handle


def hands_of(query: QueryParams) -> Hands:
    """Return whether a spectator wants open or closed hands. Raises HandshakeError for an unknown query."""
    for key in query:
        if key != HANDS:
            raise HandshakeError(422, f"query: {short_text(key)} is unknown; known are {HANDS}")
    match query.get(HANDS, "open"):
        case "open" | "closed" as hands:
            return hands
        case other:
            raise HandshakeError(422, f"query: {HANDS} is {short_text(other)}; it should be 'open' or 'closed'")


def join_keys(query: QueryParams) -> dict[str, Any]:
    """Return the keys of the join message in a URL. Values of the wrong type are kept, and refused on parsing."""
    return {key: join_value(key, text) for key, text in query.items() if key in JOIN_KEYS}


def join_value(key: str, text: str) -> Any:
    """Return the value of a key as in a join message."""
    if key in NUMBERS and text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS:
        return int(text)
    return BOOLEANS.get(text, text) if key in FLAGS else text
