"""Indexes of the players by rating and by number of games, without which each page of them was sorted anew."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

RATING = "(CASE WHEN rated_games > 0 THEN -ordinal ELSE 1000000.0 END)"


def upgrade() -> None:
    """From version 0009."""
    op.create_index("ix_players_rating", "players", [sa.text(RATING), "name"])
    op.create_index("ix_players_games", "players", [sa.text("(-games)"), "name"])


def downgrade() -> None:
    """To version 0009."""
    op.drop_index("ix_players_games", "players")
    op.drop_index("ix_players_rating", "players")
