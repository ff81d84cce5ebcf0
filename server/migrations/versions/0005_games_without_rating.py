"""Whether a game was played without rating. SQLite copies the games once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """From version 0004."""
    with op.batch_alter_table("games") as games:  # no game stored so far was casual
        games.add_column(sa.Column("casual", sa.Boolean(), nullable=False, server_default=sa.false()))
    with op.batch_alter_table("games") as games:
        games.alter_column("casual", server_default=None)


def downgrade() -> None:
    """To version 0004. Which games were casual is lost; ratings stay as they are."""
    with op.batch_alter_table("games") as games:
        games.drop_column("casual")
