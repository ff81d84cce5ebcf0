"""Tournaments, and games that do not count for ratings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from server.store.tables import Text, Time

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """From version 0004."""
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
    with op.batch_alter_table("games") as games:  # all games stored so far counted
        games.add_column(sa.Column("unrated", sa.Boolean(), nullable=False, server_default=sa.false()))
    with op.batch_alter_table("games") as games:
        games.alter_column("unrated", server_default=None)


def downgrade() -> None:
    """To version 0004. Tournaments are lost, their games are not."""
    with op.batch_alter_table("games") as games:
        games.drop_column("unrated")
    op.drop_table("tournaments")
