"""Alembic's environment script: runs every command on the connection that `configuration` was given."""

from __future__ import annotations

from alembic import context

from server.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite alters a table by copying it
    user_module_prefix="",  # migration scripts import Text and Time by name
)
with context.begin_transaction():
    context.run_migrations()
