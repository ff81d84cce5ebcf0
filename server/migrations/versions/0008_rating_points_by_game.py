"""An index of the rating points of a game, without which a game was deleted only after a look at all rating points."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """From version 0007."""
    op.create_index("ix_ratings_game_id", "ratings", ["game_id"])


def downgrade() -> None:
    """To version 0007."""
    op.drop_index("ix_ratings_game_id", "ratings")
