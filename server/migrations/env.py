"""Run by Alembic for every command: compares and migrates on the connection that it was given."""

from __future__ import annotations

from alembic import context

from server.store.tables import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,  # SQLite alters a table by copying it
    user_module_prefix="",  # scripts import our types by name
)
with context.begin_transaction():
    context.run_migrations()
