"""Tokens: who may play under a name, and who may open and close rooms."""

from __future__ import annotations

from engine.common.error_text import ErrorText, error_text
from server.access import AccessError, UnauthorizedError
from server.fairness import Shared
from server.names import imitates_house_bot, look_alike
from server.settings import Settings
from server.store import Store, StoredToken

TOKEN_UNKNOWN = error_text("token_unknown", "the token is unknown or revoked; ask the server's operator for another")


class Tokens:
    """Checks tokens, and the names that they reserve."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store
        self._reserved = Shared(lambda: self._store.token_names())  # hundreds of bots may join at once

    async def authorize_bot(self, name: str, token: str | None) -> None:
        """Check that a bot may play under `name`. A name that has a token is reserved for its owner.

        Raises AccessError.
        """
        if imitates_house_bot(name):
            text = "the name {name!r} is reserved for house bots, or looks like one; choose another"
            raise AccessError(error_text("name_house", text, name=name))
        owner = await self._store.token_owner(token) if token else None
        if token and owner is None:
            raise UnauthorizedError(TOKEN_UNKNOWN)
        if owner is not None and owner.name != name:
            raise AccessError(
                error_text("token_of_other", "the token belongs to {name!r}: join with this name", name=owner.name)
            )
        if owner is None and self._settings.tokens_needed:
            raise UnauthorizedError(
                error_text(
                    "token_needed",
                    'a token is needed: add "token" to the join message, or ?token= to the URL; '
                    "the server's operator makes one with python -m server token add NAME",
                )
            )
        if owner is None:
            for reserved in await self._reserved.get():
                if look_alike(name, reserved):
                    raise AccessError(name_reserved(name, reserved))

    async def authorize_player(self, token: str | None) -> None:
        """Check that the holder of `token`, or everybody, may play, under any name. Raises UnauthorizedError."""
        if token and await self._store.token_owner(token) is None:
            raise UnauthorizedError(TOKEN_UNKNOWN)
        if not token and self._settings.tokens_needed:
            raise UnauthorizedError(
                error_text("token_needed", "a token is needed: send it as Authorization: Bearer TOKEN")
            )

    async def authorize_admin(self, token: str | None) -> StoredToken | None:
        """Check that the holder of `token` may open and close rooms; it may be None if the server needs no tokens.

        Raises UnauthorizedError for a missing or unknown token, AccessError for the token of a bot.
        """
        owner = await self._store.token_owner(token) if token else None
        if token and owner is None:
            raise UnauthorizedError(
                error_text(
                    "token_unknown",
                    "the token is unknown or revoked; create another with python -m server token add NAME --admin",
                )
            )
        if owner is None and self._settings.tokens_needed:
            raise UnauthorizedError(
                error_text("admin_needed", "an admin token is needed: send it as Authorization: Bearer TOKEN")
            )
        if owner is not None and not owner.admin:
            raise AccessError(error_text("not_admin", "the token of {name!r} is not an admin token", name=owner.name))
        return owner


def name_reserved(name: str, reserved: str) -> ErrorText:
    """Why a name may not be used that is, or looks like, one with a token."""
    if name == reserved:
        text = "the name {name!r} is reserved by a token: send it, or choose another name"
        return error_text("name_reserved", text, name=name)
    text = "the name {name!r} looks like {other!r}, which is reserved by a token: send it, or choose another name"
    return error_text("name_looks_reserved", text, name=name, other=reserved)
