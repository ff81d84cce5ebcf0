"""A row to write at each check, and seats whose bots could not come back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from server.store.tables import Text, Time

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """From version 0001."""
    op.create_table(
        "checks",
        sa.Column("name", Text(), nullable=False),
        sa.Column("written", Time(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_checks"),
    )
    with op.batch_alter_table("seats") as seats:  # of the games stored so far, none lost its end
        seats.add_column(sa.Column("cut_off", sa.Boolean(), nullable=False, server_default=sa.false()))
    with op.batch_alter_table("seats") as seats:
        seats.alter_column("cut_off", server_default=None)


def downgrade() -> None:
    """To version 0001."""
    with op.batch_alter_table("seats") as seats:
        seats.drop_column("cut_off")
    op.drop_table("checks")
