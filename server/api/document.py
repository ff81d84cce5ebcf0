"""The OpenAPI document of the API."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from engine.seeds import MAX_SEED
from server.api.common import Service

# Whether tokens are needed, and the bots that evaluate -> the document, which takes a while to make
_documents: dict[tuple[bool, tuple[str, ...]], dict[str, Any]] = {}


class Application(FastAPI):
    """An application whose document says what this server does, which depends on its settings."""

    def openapi(self) -> dict[str, Any]:
        """The document; FastAPI serves it at /openapi.json. Tokens are optional where the server needs none."""
        service: Service = self.state.service
        lobby = service.lobby
        key = (lobby.settings.tokens_needed, tuple(lobby.house_bots.evaluating()))
        if key not in _documents:
            _documents[key] = self._document(*key)
        return _documents[key]

    def _document(self, tokens_needed: bool, bots: tuple[str, ...]) -> dict[str, Any]:
        document = super().openapi()
        seed, _ = document["components"]["schemas"]["NewRoomSettings"]["properties"]["seed"]["anyOf"]
        seed["maximum"] = MAX_SEED  # FastAPI has made a float of it, which is not exact
        for parameter in document["paths"]["/api/reviews"]["post"]["parameters"]:
            if parameter["name"] == "bot":
                parameter["schema"]["items"]["enum"] = list(bots)
        for path in document["paths"].values():
            for operation in path.values():
                if "security" in operation and not tokens_needed:
                    operation["security"].append({})
        return document
