"""What each seat started its game with. SQLite copies the seats once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """From version 0003."""
    with op.batch_alter_table("seats") as seats:  # all games stored so far started with even scores
        seats.add_column(sa.Column("start_score", sa.Integer(), nullable=False, server_default="35000"))
    with op.batch_alter_table("seats") as seats:
        seats.alter_column("start_score", server_default=None)


def downgrade() -> None:
    """To version 0003. Starting scores are lost: after another upgrade, all games are taken to have begun evenly."""
    with op.batch_alter_table("seats") as seats:
        seats.drop_column("start_score")
