"""How many games rooms of a name have had, which deleting games does not lower: a room's seed deals no walls again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from server.store.tables import Text

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """From version 0008. Series go on after all games that are stored: whether their rooms had seeds is not known."""
    op.create_table(
        "series",
        sa.Column("room", Text(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("room", name="pk_series"),
    )
    op.execute("INSERT INTO series (room, games) SELECT room, count(*) FROM games GROUP BY room")


def downgrade() -> None:
    """To version 0008, in which the number of stored games tells the number of the next one."""
    op.drop_table("series")
