"""What each seat did in the rounds of a game. Games stored before are counted while the server runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

COUNTS = (
    "rounds", "wins", "tsumos", "win_points", "win_turns", "deal_ins", "deal_in_points", "riichis", "calls", "draws",
    "exhaustive_draws", "draws_tenpai", "nukidora",
)  # fmt: skip


def upgrade() -> None:
    """From version 0002. No row is rewritten, so that a large database opens quickly."""
    uncounted = sa.text("rounds IS NULL")
    with op.batch_alter_table("seats") as seats:
        for name in COUNTS:
            seats.add_column(sa.Column(name, sa.Integer(), nullable=True))
    op.create_index("ix_seats_uncounted", "seats", ["game_id"], sqlite_where=uncounted, postgresql_where=uncounted)


def downgrade() -> None:
    """To version 0002."""
    op.drop_index("ix_seats_uncounted", "seats")
    with op.batch_alter_table("seats") as seats:
        for name in COUNTS:
            seats.drop_column(name)
