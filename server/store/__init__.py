"""The store: finished games, players, ratings, rooms and tokens in SQLite or PostgreSQL.

Start with `models`: one pydantic class a table, sent as it is by the HTTP API. `tables` derives the columns from the
models and converts between rows and models; `store.Store` has one method for each thing that can be read or written.

- `database`: URLs, engines, migration at start-up, errors; `connections`: transactions
- `saving`, `ratings`: what is written when a game ends; `pruning`: what is deleted when it is old
- `lists`, `cursors`: queries, keyset pagination, statistics

A new stored field is added to its model; ``python -m server.migrations "what changes"`` then writes the migration.
"""

from server.store.database import StoreError
from server.store.models import (
    FinishedGame,
    Opponent,
    Page,
    Play,
    PlayerStatistics,
    PlayerStats,
    Rating,
    RatingPoint,
    SeatResult,
    SeatScore,
    StoredGame,
    StoredRoom,
    StoredToken,
    StoredTournament,
)
from server.store.pruning import Keep
from server.store.store import Store

__all__ = [
    "FinishedGame",
    "Keep",
    "Opponent",
    "Page",
    "Play",
    "PlayerStatistics",
    "PlayerStats",
    "Rating",
    "RatingPoint",
    "SeatResult",
    "SeatScore",
    "Store",
    "StoreError",
    "StoredGame",
    "StoredRoom",
    "StoredToken",
    "StoredTournament",
]
