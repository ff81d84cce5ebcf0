"""A game is uncounted where any of its counts of play is missing, and the index of such games says so."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

COUNTS = (
    "rounds", "wins", "tsumos", "win_points", "win_turns", "deal_ins", "deal_in_points", "riichis", "calls", "draws",
    "exhaustive_draws", "draws_tenpai", "nukidora",
)  # fmt: skip


def upgrade() -> None:
    """From version 0006."""
    uncounted = sa.text(" OR ".join(f"{name} IS NULL" for name in COUNTS))
    op.drop_index("ix_seats_uncounted", "seats")
    op.create_index("ix_seats_uncounted_13", "seats", ["game_id"], sqlite_where=uncounted, postgresql_where=uncounted)


def downgrade() -> None:
    """To version 0006."""
    uncounted = sa.text("rounds IS NULL")
    op.drop_index("ix_seats_uncounted_13", "seats")
    op.create_index("ix_seats_uncounted", "seats", ["game_id"], sqlite_where=uncounted, postgresql_where=uncounted)
