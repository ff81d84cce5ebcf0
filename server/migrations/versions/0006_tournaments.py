"""Tournaments, and who was absent when a game began. SQLite copies the seats once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from server.store.tables import Text, Time

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """From version 0005."""
    with op.batch_alter_table("seats") as seats:  # nobody was in the games stored so far
        seats.add_column(sa.Column("absent", sa.Boolean(), nullable=False, server_default=sa.false()))
    with op.batch_alter_table("seats") as seats:
        seats.alter_column("absent", server_default=None)
    op.create_table(
        "tournaments",
        sa.Column("name", Text(), nullable=False),
        sa.Column("id", Text(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("status", Text(), nullable=False),
        sa.Column("created", Time(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("played", sa.Integer(), nullable=False),
        sa.Column("result", sa.JSON(none_as_null=True), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_tournaments"),
    )


def downgrade() -> None:
    """To version 0005. Tournaments are lost, their games are not."""
    op.drop_table("tournaments")
    with op.batch_alter_table("seats") as seats:
        seats.drop_column("absent")
