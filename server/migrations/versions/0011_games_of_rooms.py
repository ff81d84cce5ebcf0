"""How many games a room has had since it was opened, which deleting games does not lower: it plays no more than its own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

STORED = "SELECT count(*) FROM games WHERE games.room = rooms.name AND games.started >= rooms.opened"


def upgrade() -> None:
    """From version 0010. Rooms go on after their games that are stored: how many were deleted is not known."""
    with op.batch_alter_table("rooms") as rooms:
        rooms.add_column(sa.Column("games", sa.Integer(), nullable=False, server_default="0"))
    with op.batch_alter_table("rooms") as rooms:
        rooms.alter_column("games", server_default=None)
    op.execute(f"UPDATE rooms SET games = ({STORED})")


def downgrade() -> None:
    """To version 0010, in which the number of stored games tells how many a room has had."""
    with op.batch_alter_table("rooms") as rooms:
        rooms.drop_column("games")
