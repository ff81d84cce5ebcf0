"""Games, players, ratings, rooms and tokens, kept in SQLite or PostgreSQL."""

from server.store.database import StoreError
from server.store.results import (
    FinishedGame,
    Page,
    Rating,
    RatingPoint,
    Standing,
    StoredGame,
    StoredPlayer,
    StoredRoom,
    StoredToken,
    TokenOwner,
)
from server.store.store import Store

__all__ = [
    "FinishedGame",
    "Page",
    "Rating",
    "RatingPoint",
    "Standing",
    "Store",
    "StoreError",
    "StoredGame",
    "StoredPlayer",
    "StoredRoom",
    "StoredToken",
    "TokenOwner",
]
