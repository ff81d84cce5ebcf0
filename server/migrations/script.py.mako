"""${message}."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from server.store.tables import Text, Time

revision = "${up_revision}"
down_revision = "${down_revision}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """From the version before."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """To the version before."""
    ${downgrades if downgrades else "pass"}
